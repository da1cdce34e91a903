//! Reads `hbase-site.xml`, with the part of XML that it uses, as names and values.
//!
//! ```text
//! <configuration>
//!   <property><name>hbase.zookeeper.quorum</name><value>zk1,zk2</value></property>
//! </configuration>
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use hblite_model::{Error, Result};

/// Maximum size of the file.
const FILE_SIZE_MAX: u64 = 16 << 20;

/// The properties of `hbase-site.xml` in the directory that `HBASE_CONF_DIR` names; none without
/// it.
///
/// # Errors
/// As [`read`].
pub(crate) fn of_environment() -> Result<BTreeMap<String, String>> {
    match std::env::var_os("HBASE_CONF_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => read(&Path::new(&dir).join("hbase-site.xml")),
        None => Ok(BTreeMap::new()),
    }
}

/// The properties of a file.
///
/// # Errors
/// `Io` if it cannot be read, `IllegalArgument` if it is not a configuration.
pub(crate) fn read(file: &Path) -> Result<BTreeMap<String, String>> {
    let failed = |error| Error::io("reading the configuration", file, error);
    let size = std::fs::metadata(file).map_err(failed)?.len();
    if size > FILE_SIZE_MAX {
        let message = format!("{}: {size} bytes are too many for a configuration", file.display());
        return Err(Error::illegal_argument(message));
    }
    let text = std::fs::read_to_string(file).map_err(failed)?;
    parse(&text).map_err(|why| Error::illegal_argument(format!("{}: {why}", file.display())))
}

fn parse(text: &str) -> std::result::Result<BTreeMap<String, String>, String> {
    let text = without_comments(text)?;
    if !text.contains("<configuration") {
        return Err("it has no <configuration>".to_owned());
    }
    let mut properties = BTreeMap::new();
    for (number, rest) in text.split("<property>").skip(1).enumerate() {
        let number = number + 1;
        let Some((property, _)) = rest.split_once("</property>") else {
            return Err(format!("property {number} is not closed"));
        };
        let name = element(property, "name");
        let name = name.ok_or_else(|| format!("property {number} has no <name>"))?;
        // HBase treats a property without a value as not set.
        if let Some(value) = element(property, "value") {
            properties.insert(name.trim().to_owned(), value);
        }
    }
    Ok(properties)
}

fn without_comments(text: &str) -> std::result::Result<String, String> {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = after.split_once("-->").ok_or("a comment is not closed")?.1;
    }
    kept.push_str(rest);
    Ok(kept)
}

fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = rest.split_once(&format!("</{name}>"))?;
    // The ampersand is last, so that its result is not replaced again.
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Some(entities.iter().fold(content.to_owned(), |text, (from, to)| text.replace(from, to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_have_names_and_values() {
        let text = "<?xml version=\"1.0\"?>\n<configuration>\n<!-- <property> -->\n<property>\n\
                    <name> a.b </name><value>1 &amp; 2</value><description>d</description>\n\
                    </property><property><name>c</name></property></configuration>";
        let properties = parse(text).unwrap();
        assert_eq!(properties, BTreeMap::from([("a.b".to_owned(), "1 & 2".to_owned())]));
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for (text, reason) in [
            ("", "<configuration>"),
            ("<configuration><property></property>", "<name>"),
            ("<configuration><property><name>a</name>", "closed"),
            ("<configuration><!-- ", "comment"),
        ] {
            assert!(parse(text).unwrap_err().contains(reason), "{text}");
        }
    }
}
