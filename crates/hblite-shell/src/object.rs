//! Lines of JSON.

use serde_json::Value as Json;

/// A JSON object on a line, as [`Format::Json`](crate::Format::Json) prints it, its fields in the
/// order in which they were added. The first one, `kind`, says what it is.
#[derive(Debug, Clone)]
pub struct Object {
    /// Without the brace at the end.
    text: String,
}

impl Object {
    /// An object of this kind.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self { text: "{".to_owned() }.with("kind", kind)
    }

    /// An object within another one.
    pub(crate) fn nested() -> Self {
        Self { text: "{".to_owned() }
    }

    /// Adds a field.
    #[must_use]
    pub fn with(self, name: &str, value: impl Into<Json>) -> Self {
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

    /// The line, without its end.
    pub fn finish(self) -> String {
        self.text + "}"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order() {
        let inner = Object::nested().with("z", 1).with("a", "\"\n");
        let object = Object::new("row").with("stale", true).with_objects("cells", [inner]);
        assert_eq!(object.finish(), r#"{"kind":"row","stale":true,"cells":[{"z":1,"a":"\"\n"}]}"#);
    }
}
