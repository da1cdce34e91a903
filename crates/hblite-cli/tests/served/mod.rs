//! A running `hblite serve` on free ports, which ends with the test.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

pub(crate) struct Served {
    pub(crate) child: Child,
    /// The ready line.
    pub(crate) ready: Value,
}

impl Drop for Served {
    fn drop(&mut self) {
        // It has already ended, unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `hblite serve` with these arguments; its output is piped.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.arg("serve").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Served {
    /// Starts a server on free ports and waits until it is ready.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let ports = ["--rpc-port", "0", "--zookeeper-port", "0"];
        Self::of(command(&[&ports[..], arguments].concat()).spawn().expect("it starts"))
    }

    /// Waits until a server is ready. One that failed instead has no ready line.
    pub(crate) fn of(mut child: Child) -> Self {
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let ready = serde_json::from_str(&line).unwrap_or(Value::Null);
        Self { child, ready }
    }

    pub(crate) fn port(&self, name: &str) -> u16 {
        let port = self.ready[name].as_u64().and_then(|port| port.try_into().ok());
        port.unwrap_or_else(|| panic!("no {name} in {}", self.ready))
    }

    pub(crate) fn url(&self) -> String {
        format!("hbase+rpc://127.0.0.1:{}", self.port("rpc_port"))
    }

    /// Ends it as an operating system does. Returns the exit status and what it said.
    pub(crate) fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        // One that failed has already ended.
        let _ = Command::new("kill").args([signal, &id]).output().expect("kill");
        let status = self.child.wait().expect("it ends");
        let mut said = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        (status.code(), said)
    }
}
