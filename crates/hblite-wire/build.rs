//! Compiles the messages in `proto/`, without any tool outside Cargo, and generates a table of the
//! name and the memory of each of their fields (`src/shape.rs`).

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use protox::prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use protox::prost_reflect::prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorSet,
};

/// The parts of an action: most are absent, and a batch has thousands of actions in a vector.
const BOXED: [&str; 3] =
    [".hbase.pb.Action.mutation", ".hbase.pb.Action.get", ".hbase.pb.Action.service_call"];
/// The maximum size of a box in a struct.
const BOX_BYTES: usize = 8;
/// Bytes that the allocator adds to each allocation.
const ALLOCATION_BYTES: usize = 16;
/// A vector that grows has up to twice the room that it needs.
const GROWTH: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let mut files: Vec<_> = fs::read_dir("proto")?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let descriptors = protox::compile(&files, ["proto"])?;
    let shapes = shapes(&descriptors);
    fs::write(Path::new(&env::var("OUT_DIR")?).join("shapes.rs"), shapes)?;
    // Bytes stay in the frame in which they arrived.
    let mut config = prost_build::Config::new();
    BOXED.iter().for_each(|field| _ = config.boxed(field));
    config.bytes(["."]).enable_type_names().compile_fds(descriptors)?;
    Ok(())
}

/// Messages by their names, which begin with their package.
type Messages<'d> = BTreeMap<String, &'d DescriptorProto>;

fn add<'d>(message: &'d DescriptorProto, scope: &str, all: &mut Messages<'d>) {
    let name = format!("{scope}.{}", message.name());
    message.nested_type.iter().for_each(|nested| add(nested, &name, all));
    all.insert(name, message);
}

/// The table of `src/shape.rs`, in the order of the names.
fn shapes(descriptors: &FileDescriptorSet) -> String {
    let mut messages = Messages::new();
    for file in &descriptors.file {
        file.message_type.iter().for_each(|one| add(one, file.package(), &mut messages));
    }
    let mut table = String::from("pub(crate) static SHAPES: &[Shape] = &[\n");
    for (name, message) in &messages {
        let mut fields = String::new();
        for field in &message.field {
            let kind = match field.r#type() {
                Type::Bytes => "Kind::Bytes".to_owned(),
                Type::String => "Kind::String".to_owned(),
                Type::Message => {
                    let name = field.type_name().trim_start_matches('.');
                    let index = messages.keys().position(|known| known == name);
                    format!("Kind::Message({})", index.expect("the message is compiled"))
                }
                Type::Bool => "Kind::Numbers(Number::Bool)".to_owned(),
                Type::Int32 | Type::Int64 => "Kind::Numbers(Number::Signed)".to_owned(),
                Type::Float | Type::Double => "Kind::Numbers(Number::Float)".to_owned(),
                _ => "Kind::Numbers(Number::Unsigned)".to_owned(),
            };
            let element = match field.label() {
                Label::Repeated => GROWTH * element_bytes(field, &messages, 0),
                _ if is_boxed(name, field) => element_bytes(field, &messages, 0) + ALLOCATION_BYTES,
                _ => 0,
            };
            let is_wide = matches!(field.r#type(), Type::Int64 | Type::Uint64);
            let (number, name) = (field.number(), field.name());
            _ = write!(
                fields,
                "Field {{ number: {number}, name: {name:?}, element_bytes: {element}, \
                 is_wide: {is_wide}, kind: {kind} }}, "
            );
        }
        _ = writeln!(table, "    Shape {{ name: {name:?}, fields: &[{fields}] }},");
    }
    table + "];\n"
}

/// Whether the field of the message with this name is boxed.
fn is_boxed(message: &str, field: &FieldDescriptorProto) -> bool {
    BOXED.contains(&format!(".{message}.{}", field.name()).as_str())
}

/// The maximum size of a value of the field in its struct or vector.
fn element_bytes(field: &FieldDescriptorProto, messages: &Messages<'_>, depth: usize) -> usize {
    assert!(depth < 20, "a message that contains itself is boxed, and not counted");
    match field.r#type() {
        Type::Bytes | Type::String => 32,
        Type::Message => {
            let message = messages[field.type_name().trim_start_matches('.')];
            let name = field.type_name().trim_start_matches('.');
            let sizes = message.field.iter().map(|field| match field.label() {
                Label::Repeated => 24,
                _ if is_boxed(name, field) => BOX_BYTES,
                _ => element_bytes(field, messages, depth + 1),
            });
            sizes.sum::<usize>() + 8
        }
        Type::Int64 | Type::Uint64 | Type::Sint64 | Type::Fixed64 | Type::Sfixed64 => 16,
        Type::Double => 16,
        _ => 8,
    }
}
