//! Compiles the messages in `proto/`, without any tool outside Cargo.

use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let mut files: Vec<_> = fs::read_dir("proto")?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let descriptors = protox::compile(&files, ["proto"])?;
    // Bytes lie in the frame that they came in.
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}
