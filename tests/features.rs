//! Goal: without default features, Rust alone builds hblite and its command.
//! Method: ask cargo for the packages of such a build. A package that compiles C has a build
//! script, which depends on one of a few packages that call a C compiler.

use std::process::Command;

/// Packages that build scripts use to compile, find or bind C code.
const C_BUILDERS: &[&str] = &["cc", "cmake", "bindgen", "pkg-config", "vcpkg", "autotools"];

/// The names of the packages in a build of `package`.
fn packages(package: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--locked", "--edges", "normal,build", "--prefix", "none"])
        .args(["--package", package, "--format", "{p}"])
        .args(arguments)
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree: {errors}");
    let tree = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn c_builders(package: &str, arguments: &[&str]) -> Vec<String> {
    let mut found = packages(package, arguments);
    assert!(found.len() > 10, "the packages of {package} were found");
    found.retain(|name| C_BUILDERS.contains(&name.as_str()));
    found.dedup();
    found
}

#[test]
fn without_default_features_rust_alone_builds_it() {
    for package in ["hblite", "hblite-cli"] {
        let found = c_builders(package, &["--no-default-features"]);
        assert!(found.is_empty(), "{package} needs a C compiler because of {found:?}");
    }
}

#[test]
fn kerberos_needs_no_c_compiler() {
    let arguments = ["--no-default-features", "--features", "kerberos"];
    for package in ["hblite", "hblite-cli"] {
        assert!(packages(package, &arguments).iter().any(|name| name == "libloading"));
        let found = c_builders(package, &arguments);
        assert!(found.is_empty(), "{package} needs a C compiler because of {found:?}");
    }
    assert!(packages("hblite-cli", &[]).iter().all(|name| name != "libloading"));
}

#[test]
fn only_the_feature_cluster_brings_sockets() {
    let has_tokio = |arguments: &[&str]| {
        packages("hblite", arguments).iter().any(|name| name == "tokio" || name == "hblite-client")
    };
    assert!(!has_tokio(&[]), "a program that embeds a store needs neither");
    assert!(has_tokio(&["--features", "cluster"]));
}

#[test]
fn zstd_is_the_only_c_code() {
    let found = packages("hblite-cli", &[]);
    let systems = found.iter().filter(|name| name.ends_with("-sys"));
    // linux-raw-sys is constants of Linux, written in Rust.
    let mut systems: Vec<&str> =
        systems.map(String::as_str).filter(|name| *name != "linux-raw-sys").collect();
    systems.sort_unstable();
    systems.dedup();
    assert_eq!(systems, ["zstd-sys"]);
}
