//! Lines of JSON.

use hblite::bytes::to_string_binary;
use serde_json::Value as Json;

/// A JSON object on a line, its fields in the order in which they were added. The first one,
/// `kind`, says what it is.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// Without the brace at the end.
    text: String,
}

impl Object {
    pub(crate) fn new(kind: &str) -> Self {
        Self { text: "{".to_owned() }.with("kind", kind)
    }

    /// An object within another one.
    pub(crate) fn nested() -> Self {
        Self { text: "{".to_owned() }
    }

    pub(crate) fn with(self, name: &str, value: impl Into<Json>) -> Self {
        let value = value.into().to_string();
        self.with_json(name, &value)
    }

    pub(crate) fn with_objects(self, name: &str, objects: impl IntoIterator<Item = Self>) -> Self {
        let objects: Vec<String> = objects.into_iter().map(Self::finish).collect();
        self.with_json(name, &format!("[{}]", objects.join(",")))
    }

    fn with_json(mut self, name: &str, json: &str) -> Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&Json::from(name).to_string());
        self.text.push(':');
        self.text.push_str(json);
        self
    }

    pub(crate) fn finish(self) -> String {
        self.text + "}"
    }
}

/// Bytes as text that can be read back: printable ASCII as itself, every other byte and the
/// backslash as `\xHH`. Exports write them the same way.
pub(crate) fn exact_text(bytes: &[u8]) -> String {
    let parts = bytes.split(|byte| *byte == b'\\').map(to_string_binary);
    parts.collect::<Vec<_>>().join("\\x5C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_texts_can_be_read_back() {
        let inner = Object::nested().with("z", 1).with("a", "\"\n");
        let object = Object::new("row").with("stale", true).with_objects("cells", [inner]);
        assert_eq!(object.finish(), r#"{"kind":"row","stale":true,"cells":[{"z":1,"a":"\"\n"}]}"#);
        for bytes in [&b"a\\x41\x00\xff"[..], b"\\", b"", "é".as_bytes()] {
            assert_eq!(hblite::bytes::from_string_binary(&exact_text(bytes)), bytes);
        }
    }
}
