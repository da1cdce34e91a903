//! The library has the native methods that the Java class declares, and no others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PREFIX: &str = "Java_hblite_embedded_Native_";

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The library, which is built in the directory of the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let name =
        format!("{}hblite_jni{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    test.parent().expect("the directory of the tests").join(name)
}

#[test]
fn the_library_exports_the_methods_of_the_java_class() {
    let class = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../kits/java/hblite-embedded/src/main/java/hblite/embedded/Native.java");
    let source = String::from_utf8(read(&class)).expect("Java source is text");
    let declared: BTreeSet<String> = source
        .lines()
        .filter(|line| line.trim_start().starts_with("static native "))
        .filter_map(|line| line.split('(').next()?.split(' ').next_back())
        .map(|method| format!("{PREFIX}{method}"))
        .collect();

    let bytes = read(&library());
    let exported: BTreeSet<String> = bytes
        .split(|&byte| byte == 0)
        .filter(|name| name.starts_with(PREFIX.as_bytes()))
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    assert!(!declared.is_empty());
    assert_eq!(declared, exported);
}
