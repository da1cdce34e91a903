//! Names of tables and namespaces, with HBase's rules (`TableName`, `NamespaceDescriptor`).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Exception, Result};
use crate::protobuf;

/// The namespace of table names without one.
pub const DEFAULT_NAMESPACE: &str = "default";
/// The namespace of the catalog.
pub const SYSTEM_NAMESPACE: &str = "hbase";

/// The name of a table: `namespace:qualifier`, or `qualifier` in the default namespace.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::TableName;
/// let name: TableName = "my_ns:my_table".parse()?;
/// assert_eq!((name.namespace(), name.qualifier()), ("my_ns", "my_table"));
/// assert_eq!("default:t".parse::<TableName>()?.to_string(), "t");
/// # Ok::<(), hblite_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    namespace: String,
    qualifier: String,
}

impl TableName {
    /// A table in a namespace.
    ///
    /// # Errors
    /// `IllegalArgument` with HBase's message if either name is not legal.
    pub fn new(namespace: &str, qualifier: &str) -> Result<Self> {
        check_namespace_name(namespace)?;
        check_table_qualifier(qualifier)?;
        Ok(Self { namespace: namespace.to_owned(), qualifier: qualifier.to_owned() })
    }

    /// Parses HBase's protobuf `TableName` (1 namespace, 2 qualifier).
    ///
    /// # Errors
    /// `Io` if the bytes are not a message, `IllegalArgument` if the name is not legal.
    pub fn from_protobuf(message: &[u8]) -> Result<Self> {
        let (mut namespace, mut qualifier) = (String::new(), String::new());
        protobuf::read_message(message, |field, value| {
            match field {
                1 => namespace = value.as_text(),
                2 => qualifier = value.as_text(),
                _ => {}
            }
            Ok(())
        })?;
        Self::new(&namespace, &qualifier)
    }

    /// The catalog: `hbase:meta`.
    pub fn meta() -> Self {
        Self { namespace: SYSTEM_NAMESPACE.to_owned(), qualifier: "meta".to_owned() }
    }

    /// The table of namespaces: `hbase:namespace`.
    pub fn namespace_table() -> Self {
        Self { namespace: SYSTEM_NAMESPACE.to_owned(), qualifier: "namespace".to_owned() }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The part after the namespace.
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// Whether this is hbase:meta.
    pub fn is_meta(&self) -> bool {
        self.namespace == SYSTEM_NAMESPACE && self.qualifier == "meta"
    }

    /// Whether the table belongs to the catalog.
    pub fn is_system(&self) -> bool {
        self.namespace == SYSTEM_NAMESPACE
    }
}

/// `namespace:qualifier`, without the namespace if it is the default one.
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace != DEFAULT_NAMESPACE {
            write!(f, "{}:", self.namespace)?;
        }
        f.write_str(&self.qualifier)
    }
}

impl From<&TableName> for TableName {
    fn from(name: &TableName) -> Self {
        name.clone()
    }
}

impl FromStr for TableName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name.split_once(':') {
            Some((namespace, qualifier)) => Self::new(namespace, qualifier),
            None => Self::new(DEFAULT_NAMESPACE, name),
        }
    }
}

/// A namespace and its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceDescriptor {
    /// The name.
    pub name: String,
    /// Arbitrary properties.
    pub properties: BTreeMap<String, String>,
}

impl NamespaceDescriptor {
    /// A namespace without properties. Its name is checked when it is created.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), properties: BTreeMap::new() }
    }

    /// Sets a property.
    #[must_use]
    pub fn with_property(mut self, key: &str, value: &str) -> Self {
        self.properties.insert(key.to_owned(), value.to_owned());
        self
    }
}

/// As `NamespaceDescriptor.toString`.
impl fmt::Display for NamespaceDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{NAME => '{}'", self.name)?;
        for (key, value) in &self.properties {
            write!(f, ", {key} => '{value}'")?;
        }
        f.write_str("}")
    }
}

/// Checks the name of a namespace: letters and digits of any language and `_`.
///
/// # Errors
/// `IllegalArgument` with HBase's message.
pub fn check_namespace_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::illegal_argument("Namespace name must not be empty"));
    }
    for (at, character) in name.chars().enumerate() {
        if !(character.is_alphanumeric() || character == '_') {
            return Err(Error::illegal_argument(format!(
                "Illegal character <{character}> at {at}. Namespaces may only contain \
                 'alphanumeric characters' from any language and digits: {name}"
            )));
        }
    }
    Ok(())
}

/// Checks the name of a snapshot: the rules are those of tables.
///
/// # Errors
/// `IllegalArgument` with HBase's message.
pub fn check_snapshot_name(name: &str) -> Result<()> {
    check_table_qualifier(name).map_err(|error| {
        let message = error.message().replace("User-space table", "Snapshot");
        Error::illegal_argument(message)
    })
}

fn check_table_qualifier(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::illegal_argument("Table qualifier must not be empty"));
    }
    if name == "zookeeper" {
        return Err(Error::illegal_argument("Tables may not be named 'zookeeper'"));
    }
    for (at, character) in name.chars().enumerate() {
        if at == 0 && matches!(character, '.' | '-') {
            return Err(Error::illegal_argument(format!(
                "Illegal first character <{}> at 0. User-space table qualifiers can only start \
                 with 'alphanumeric characters' from any language: {name}",
                character as u32
            )));
        }
        if !(character.is_alphanumeric() || matches!(character, '_' | '-' | '.')) {
            return Err(Error::illegal_argument(format!(
                "Illegal character code:{}, <{character}> at {at}. User-space table qualifiers \
                 may only contain 'alphanumeric characters' and digits: {name}",
                character as u32
            )));
        }
    }
    Ok(())
}

/// The error for a namespace that does not exist.
pub fn namespace_not_found(name: &str) -> Error {
    Error::new(Exception::NamespaceNotFound, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_names_get_hbases_messages() {
        let message =
            |name: &str| name.parse::<TableName>().map_err(|e| e.message().to_owned()).err();
        assert_eq!(message("a.b-c_1"), None);
        assert_eq!(message("表"), None);
        assert_eq!(message(":a").as_deref(), Some("Namespace name must not be empty"));
        assert_eq!(message("a:").as_deref(), Some("Table qualifier must not be empty"));
        assert_eq!(
            message("a:b:c").as_deref(),
            Some(
                "Illegal character code:58, <:> at 1. User-space table qualifiers may only \
                 contain 'alphanumeric characters' and digits: b:c"
            )
        );
        assert_eq!(
            message("-a").as_deref(),
            Some(
                "Illegal first character <45> at 0. User-space table qualifiers can only start \
                 with 'alphanumeric characters' from any language: -a"
            )
        );
    }
}
