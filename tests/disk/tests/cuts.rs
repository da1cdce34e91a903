//! A few power cuts with each `cargo test`; the program does more (its `--help`).

use std::process::Command;

#[test]
fn a_store_survives_power_cuts_of_its_disk() {
    let output = Command::new(env!("CARGO_BIN_EXE_hblite-disk"))
        .args(["--cuts", "5", "--seed", "2", "--skip-without-fuse"])
        .output()
        .expect("the program starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    println!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}
