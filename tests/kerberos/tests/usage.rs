//! The program without arguments. `tools/conformance/kerberos` runs it on a cluster.

use std::process::Command;

#[test]
fn a_program_without_arguments_says_what_it_takes() {
    let output = Command::new(env!("CARGO_BIN_EXE_hblite-kerberos")).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.starts_with("usage: hblite-kerberos URL TABLE"), "{printed}");
}
