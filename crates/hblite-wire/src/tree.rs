//! Messages as trees: every field by its number and, if the protocol's files have it, by its name.
//!
//! A tree keeps what it does not know: encoding returns a message with the same fields. So a
//! message can be shown, compared and changed without a type for it.
//!
//! Parsing copies no bytes, and allocates a fixed amount for each field present. Threads:
//! any.

use bytes::{BufMut, Bytes, BytesMut};
use hblite_model::protobuf::read_varint;
use prost::encoding::encode_varint;

use crate::shape::{Kind, Number, SHAPES, Shape, shape_of};

/// The package of HBase's messages.
const PACKAGE: &str = "hbase.pb.";
/// How deep nested messages are parsed; deeper ones stay bytes.
const DEPTH_MAX: usize = 32;

/// A parsed message.
#[derive(Debug, Clone)]
pub struct Tree {
    shape: Option<&'static Shape>,
    /// The fields in the order of the message.
    pub fields: Vec<TreeField>,
}

/// A field of a message; a repeated field has one for each element.
#[derive(Debug, Clone)]
pub struct TreeField {
    /// Its number.
    pub number: u32,
    /// Its content.
    pub value: Value,
}

/// The content of a field.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number of variable length: any integer but a fixed one, a boolean, an enumeration.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// Bytes, text, packed numbers, or a message that is not known.
    Bytes(Bytes),
    /// A message.
    Message(Tree),
}

/// How to read a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// As bytes.
    Bytes,
    /// As UTF-8.
    Text,
    /// As a number without a sign, or one of unknown kind.
    Unsigned,
    /// As a number with a sign.
    Signed,
    /// As true or false.
    Bool,
    /// As a floating point number.
    Float,
    /// As a message.
    Message,
}

impl Tree {
    /// Parses a message of this type, such as `GetRequest`. If the protocol's files do not have the
    /// type, its fields have no names. `None` if the bytes are not a message.
    pub fn parse(message_type: &str, message: Bytes) -> Option<Self> {
        Self::parse_shape(shape_of(&format!("{PACKAGE}{message_type}")), message, 0)
    }

    fn parse_shape(shape: Option<&'static Shape>, message: Bytes, depth: usize) -> Option<Self> {
        let mut rest: &[u8] = &message;
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let key = read_varint(&mut rest)?;
            let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0)?;
            let value = match key & 7 {
                0 => Value::Varint(read_varint(&mut rest)?),
                1 => Value::Fixed64(u64::from_le_bytes(*take(&mut rest)?)),
                5 => Value::Fixed32(u32::from_le_bytes(*take(&mut rest)?)),
                2 => {
                    let length = usize::try_from(read_varint(&mut rest)?).ok()?;
                    let (content, after) = rest.split_at_checked(length)?;
                    rest = after;
                    let content = message.slice_ref(content);
                    let kind = shape.and_then(|shape| shape.field(number)).map(|field| field.kind);
                    match kind {
                        Some(Kind::Message(index)) if depth < DEPTH_MAX => {
                            let shape = Some(&SHAPES[usize::from(index)]);
                            Value::Message(Self::parse_shape(shape, content, depth + 1)?)
                        }
                        _ => Value::Bytes(content),
                    }
                }
                // Groups, which HBase does not use.
                _ => return None,
            };
            fields.push(TreeField { number, value });
        }
        Some(Self { shape, fields })
    }

    /// The message as bytes.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::new();
        self.encode_to(&mut out);
        out.freeze()
    }

    fn encode_to(&self, out: &mut BytesMut) {
        for field in &self.fields {
            let key = |wire: u64| (u64::from(field.number) << 3) | wire;
            match &field.value {
                Value::Varint(number) => {
                    encode_varint(key(0), out);
                    encode_varint(*number, out);
                }
                Value::Fixed64(number) => {
                    encode_varint(key(1), out);
                    out.put_u64_le(*number);
                }
                Value::Fixed32(number) => {
                    encode_varint(key(5), out);
                    out.put_u32_le(*number);
                }
                Value::Bytes(bytes) => {
                    encode_varint(key(2), out);
                    encode_varint(bytes.len() as u64, out);
                    out.put_slice(bytes);
                }
                Value::Message(tree) => {
                    let bytes = tree.encode();
                    encode_varint(key(2), out);
                    encode_varint(bytes.len() as u64, out);
                    out.put_slice(&bytes);
                }
            }
        }
    }

    /// The message's type, without its package; empty if it is unknown.
    pub fn message_type(&self) -> &'static str {
        self.shape.map_or("", |shape| shape.name.strip_prefix(PACKAGE).unwrap_or(shape.name))
    }

    /// The name of the field with this number; `None` if the protocol's files do not have it.
    pub fn field_name(&self, number: u32) -> Option<&'static str> {
        Some(self.shape?.field(number)?.name)
    }

    /// Whether the field with this number may occur more than once.
    pub fn is_repeated(&self, number: u32) -> bool {
        self.shape
            .and_then(|shape| shape.field(number))
            .is_some_and(|field| field.element_bytes > 0)
    }

    /// Whether the field with this number is a number of 64 bits.
    pub fn is_wide(&self, number: u32) -> bool {
        self.shape.and_then(|shape| shape.field(number)).is_some_and(|field| field.is_wide)
    }

    /// How to read the field with this number.
    pub fn reading(&self, number: u32) -> Option<Reading> {
        Some(match self.shape?.field(number)?.kind {
            Kind::Bytes => Reading::Bytes,
            Kind::String => Reading::Text,
            Kind::Numbers(Number::Unsigned) => Reading::Unsigned,
            Kind::Numbers(Number::Signed) => Reading::Signed,
            Kind::Numbers(Number::Bool) => Reading::Bool,
            Kind::Numbers(Number::Float) => Reading::Float,
            Kind::Message(_) => Reading::Message,
        })
    }

    /// The first value of the field with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let number = self.shape?.fields.iter().find(|field| field.name == name)?.number;
        self.fields.iter().find(|field| field.number == number).map(|field| &field.value)
    }

    /// The number in the field with this name.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Varint(number) => Some(*number),
            _ => None,
        }
    }

    /// The bytes in the field with this name.
    pub fn bytes(&self, name: &str) -> Option<&Bytes> {
        match self.get(name)? {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The message in the field with this name.
    pub fn message(&self, name: &str) -> Option<&Self> {
        match self.get(name)? {
            Value::Message(tree) => Some(tree),
            _ => None,
        }
    }

    /// Calls `visit` with this message and with every one in it.
    pub fn for_each(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        for field in &self.fields {
            if let Value::Message(tree) = &field.value {
                tree.for_each(visit);
            }
        }
    }

    /// Calls `change` with this message and with every one in it.
    pub fn for_each_mut(&mut self, change: &mut impl FnMut(&mut Self)) {
        change(self);
        for field in &mut self.fields {
            if let Value::Message(tree) = &mut field.value {
                tree.for_each_mut(change);
            }
        }
    }

    /// Replaces each value of the field with this name by what `change` returns; `None` keeps it.
    pub fn replace(&mut self, name: &str, mut change: impl FnMut(&Value) -> Option<Value>) {
        let Some(shape) = self.shape else { return };
        let Some(number) = shape.fields.iter().find(|field| field.name == name) else { return };
        for field in self.fields.iter_mut().filter(|field| field.number == number.number) {
            if let Some(value) = change(&field.value) {
                field.value = value;
            }
        }
    }
}

fn take<'m, const N: usize>(rest: &mut &'m [u8]) -> Option<&'m [u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(taken)
}

/// The types of the parameter and of the answer of a method of a service.
pub fn messages_of(service: &str, method: &str) -> (String, String) {
    let answer = |request: &str, response: &str| (request.to_owned(), response.to_owned());
    match (service, method) {
        ("MasterService", "DeleteTable" | "EnableTable" | "DisableTable") => {
            answer("TableRequest", "ProcedureResponse")
        }
        ("MasterService", "AddColumn" | "ModifyColumn") => {
            answer("ColumnRequest", "ProcedureResponse")
        }
        ("MasterService", "CreateNamespace" | "ModifyNamespace") => {
            answer("NamespaceRequest", "ProcedureResponse")
        }
        ("MasterService", "DeleteNamespace") => answer("NamespaceNameRequest", "ProcedureResponse"),
        ("MasterService", "SplitRegion") => answer("SplitTableRegionRequest", "ProcedureResponse"),
        ("MasterService", "AssignRegion" | "UnassignRegion" | "OfflineRegion") => {
            answer("RegionRequest", "Empty")
        }
        (
            "MasterService",
            "CreateTable"
            | "TruncateTable"
            | "ModifyTable"
            | "DeleteColumn"
            | "FlushTable"
            | "MergeTableRegions"
            | "TruncateRegion"
            | "RestoreSnapshot"
            | "ModifyTableStoreFileTracker"
            | "ModifyColumnStoreFileTracker",
        ) => (format!("{method}Request"), "ProcedureResponse".to_owned()),
        ("MasterService", "GetTableDescriptors" | "ListTableDescriptorsByState") => {
            answer("GetTableDescriptorsRequest", "TableDescriptorsResponse")
        }
        ("MasterService", "GetTableNames") => answer("GetTableNamesRequest", "TableNamesResponse"),
        ("MasterService", "ListTableNamesByState") => {
            answer("TablesByStateRequest", "TableNamesResponse")
        }
        ("MasterService", "ListTableDescriptorsByNamespace") => {
            answer("NamespaceNameRequest", "TableDescriptorsResponse")
        }
        ("MasterService", "ListTableNamesByNamespace") => {
            answer("NamespaceNameRequest", "TableNamesResponse")
        }
        ("MasterService", "GetNamespaceDescriptor") => {
            answer("NamespaceNameRequest", "GetNamespaceDescriptorResponse")
        }
        ("MasterService", "GetCompletedSnapshots") => answer("Empty", "SnapshotListResponse"),
        ("MasterService", "ExecProcedure" | "ExecProcedureWithRet") => {
            answer("ProcedureRequest", "ExecProcedureResponse")
        }
        ("MasterService", "IsProcedureDone") => {
            answer("ProcedureRequest", "IsProcedureDoneResponse")
        }
        (_, "ExecService" | "ExecMasterService") => {
            answer("CoprocessorServiceRequest", "CoprocessorServiceResponse")
        }
        _ => (format!("{method}Request"), format!("{method}Response")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;
    use crate::pb;

    fn request() -> pb::GetRequest {
        pb::GetRequest {
            region: pb::RegionSpecifier { r#type: 1, value: Bytes::from_static(b"t,,1.e.") },
            get: pb::Get {
                row: Bytes::from_static(b"r"),
                max_versions: Some(3),
                existence_only: Some(true),
                ..pb::Get::default()
            },
        }
    }

    #[test]
    fn fields_have_names_and_readings() {
        let tree = Tree::parse("GetRequest", request().encode_to_vec().into()).unwrap();
        let get = tree.message("get").unwrap();
        assert_eq!((tree.message_type(), get.message_type()), ("GetRequest", "Get"));
        assert_eq!(
            (get.bytes("row").unwrap().as_ref(), get.number("max_versions")),
            (&b"r"[..], Some(3))
        );
        assert_eq!(
            (get.field_name(10), get.reading(10)),
            (Some("existence_only"), Some(Reading::Bool))
        );
        assert!(get.is_repeated(2) && !get.is_repeated(1));
        assert_eq!(tree.encode(), request().encode_to_vec());
    }

    #[test]
    fn a_value_is_replaced() {
        let mut tree = Tree::parse("GetRequest", request().encode_to_vec().into()).unwrap();
        tree.for_each_mut(&mut |message| {
            if message.message_type() == "RegionSpecifier" {
                let value = Value::Bytes(Bytes::from_static(b"a longer name than before"));
                message.replace("value", |_| Some(value.clone()));
            }
        });
        let mut expected = request();
        expected.region.value = Bytes::from_static(b"a longer name than before");
        assert_eq!(pb::GetRequest::decode(tree.encode()).unwrap(), expected);
    }

    #[test]
    fn methods_have_messages_of_the_protocol() {
        for (service, method) in [
            ("ClientService", "Get"),
            ("ClientService", "Multi"),
            ("ClientService", "ExecService"),
            ("MasterService", "CreateTable"),
            ("MasterService", "DisableTable"),
            ("MasterService", "GetProcedureResult"),
            ("AdminService", "GetRegionInfo"),
            ("ClientMetaService", "GetMetaRegionLocations"),
        ] {
            let (request, response) = messages_of(service, method);
            for name in [request, response] {
                assert!(shape_of(&format!("{PACKAGE}{name}")).is_some(), "{method}: {name}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_tree_or_refused(bytes: Vec<u8>, flip in any::<(usize, u8)>()) {
            let mut message = request().encode_to_vec();
            let at = flip.0 % message.len();
            message[at] = flip.1;
            for (name, bytes) in [("MultiRequest", bytes), ("GetRequest", message)] {
                if let Some(tree) = Tree::parse(name, bytes.into()) {
                    let encoded = tree.encode();
                    let again = Tree::parse(name, encoded.clone()).unwrap();
                    prop_assert_eq!(again.encode(), encoded);
                }
            }
        }
    }
}
