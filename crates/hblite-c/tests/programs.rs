//! Goal: C programs that use the library, rightly and wrongly, get what the header says.
//! Method: `tests/c/` has the programs. Each is built with the address and undefined-behavior
//! sanitizers, if the C compiler has them, and run with the shared library of this build.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

const SANITIZERS: &[&str] =
    &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

fn crate_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The directory of the tests, in which the library is built.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    test.parent().expect("the directory of the tests").to_path_buf()
}

/// Builds a program. Returns what the compiler said if it failed.
fn build(source: &Path, program: &Path, sanitizers: &[&str]) -> Result<(), String> {
    let output = Command::new("cc")
        .args(["-std=c11", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .args(["-D_POSIX_C_SOURCE=200809L", "-pthread"])
        .args(sanitizers)
        .arg("-I")
        .arg(crate_file("include"))
        .arg(source)
        .arg("-L")
        .arg(libraries())
        .arg(format!("-Wl,-rpath,{}", libraries().display()))
        .args(["-lhblite_c", "-o"])
        .arg(program)
        .output()
        .expect("a C compiler runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(message) }
}

/// The sanitizers, if a program that is built with them runs.
fn sanitizers(work: &Path) -> &'static [&'static str] {
    let (source, program) = (work.join("empty.c"), work.join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let is_built = build(&source, &program, SANITIZERS).is_ok();
    if is_built && Command::new(&program).status().is_ok_and(|status| status.success()) {
        return SANITIZERS;
    }
    println!("SKIPPED: the C compiler has no sanitizers: memory was not watched");
    &[]
}

fn run(name: &str, arguments: &[&str]) {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("SKIPPED: there is no C compiler: {name}.c was not run");
        return;
    }
    let work = tempfile::tempdir().expect("a directory");
    let sanitizers = sanitizers(work.path());
    let program = work.path().join(name);
    let built = build(&crate_file(&format!("tests/c/{name}.c")), &program, sanitizers);
    assert_eq!(built, Ok(()), "{name}.c");
    let output = Command::new(&program)
        .args(arguments)
        .current_dir(work.path())
        .output()
        .expect("the program starts");
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{printed}\n{errors}", output.status);
    assert!(printed.ends_with(": ok\n"), "{name}: {printed}");
    assert!(errors.is_empty(), "{name}: {errors}");
}

#[test]
fn every_function_does_what_the_header_says() {
    run("round_trip", &["data"]);
}

#[test]
fn misuse_is_an_error() {
    run("misuse", &[]);
}

#[test]
fn threads_share_handles_and_forks_do_not() {
    run("threads", &[]);
}
