//! Generates the types of hblite-wire's messages from its `proto/`, with no tool outside Cargo.
//!
//! ```text
//! cargo run --manifest-path tools/messages/Cargo.toml              compares with generated/
//! cargo run --manifest-path tools/messages/Cargo.toml -- --update  writes it
//! ```
//!
//! The files are part of the repository, so that nobody else builds a compiler of protocol buffers.

mod shapes;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The parts of an action: most are absent, and a batch has thousands of actions in a vector.
const BOXED: [&str; 3] =
    [".hbase.pb.Action.mutation", ".hbase.pb.Action.get", ".hbase.pb.Action.service_call"];

fn main() -> Result<(), Box<dyn Error>> {
    let is_update = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [option] if option == "--update" => true,
        _ => return Err("usage: hblite-messages [--update]".into()),
    };
    for (path, text) in generated()? {
        if is_update {
            fs::write(path, text)?;
        } else if fs::read_to_string(&path)? != text {
            let path = path.display();
            return Err(format!("{path} is not what proto/ says: --update writes it").into());
        }
    }
    Ok(())
}

/// The files of hblite-wire's `generated/`, with their text.
fn generated() -> Result<[(PathBuf, String); 2], Box<dyn Error>> {
    let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/hblite-wire");
    let proto = wire.join("proto");
    let mut files: Vec<_> = fs::read_dir(&proto)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, Box<dyn Error>>>()?;
    files.sort();
    let descriptors = protox::compile(&files, [&proto])?;
    let shapes = shapes::table(&descriptors);
    // Bytes stay in the frame in which they arrived.
    let mut config = prost_build::Config::new();
    BOXED.iter().for_each(|field| _ = config.boxed(field));
    config.bytes(["."]).enable_type_names();
    let package = prost_build::Module::from_protobuf_package_name("hbase.pb");
    let modules = descriptors.file.into_iter().map(|file| (package.clone(), file)).collect();
    let messages = config.generate(modules)?.remove(&package).ok_or("no message")?;
    let generated = wire.join("generated");
    Ok([(generated.join("messages.rs"), messages), (generated.join("shapes.rs"), shapes)])
}
