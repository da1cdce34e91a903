//! The admin endpoint of a running `hblite serve`, for the subcommands that control it.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::output::{FAILURE, fail, print};

/// Time limit for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The address of the endpoint.
#[derive(Debug, Args)]
pub(crate) struct Endpoint {
    /// Host and port of the server's admin endpoint.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:16010", global = true)]
    http: String,
    /// The server's port file, instead of --http.
    #[arg(long, value_name = "FILE", global = true)]
    port_file: Option<PathBuf>,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Delete,
}

impl Endpoint {
    /// Sends a request and prints the answer.
    pub(crate) fn print_answer(&self, method: Method, path: &str, body: &Value) -> ExitCode {
        match self.call(method, path, body) {
            Ok(answer) => {
                print(&format!("{answer:#}\n"));
                ExitCode::SUCCESS
            }
            Err(message) => fail(&message, FAILURE),
        }
    }

    /// Sends a request to the server, and returns its answer.
    fn call(&self, method: Method, path: &str, body: &Value) -> Result<Value, String> {
        let address = self.address()?;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .proxy(None)
            .build()
            .into();
        let url = format!("http://{address}{path}");
        let sent = match method {
            Method::Get => agent.get(&url).call(),
            Method::Delete => agent.delete(&url).call(),
            Method::Post => agent.post(&url).send_json(body),
        };
        let mut response =
            sent.map_err(|error| format!("no answer from hblite serve at {address}: {error}"))?;
        let answer = response.body_mut().read_json::<Value>();
        let answer =
            answer.map_err(|error| format!("{address} does not answer as hblite: {error}"))?;
        if response.status().is_success() {
            return Ok(answer);
        }
        Err(answer["error"].as_str().unwrap_or("the server refused").to_owned())
    }

    fn address(&self) -> Result<String, String> {
        let Some(file) = &self.port_file else {
            return Ok(self.http.clone());
        };
        let failed = |what: &str| format!("{}: {what}", file.display());
        let text = fs::read_to_string(file).map_err(|error| failed(&error.to_string()))?;
        let ports: Value =
            serde_json::from_str(&text).map_err(|error| failed(&error.to_string()))?;
        match ports["http_port"].as_u64() {
            Some(port) => Ok(format!("127.0.0.1:{port}")),
            None => Err(failed("the server has no admin endpoint")),
        }
    }
}
