//! A browser behind a chromedriver: the commands of WebDriver that the tests use.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) type Done<T = ()> = Result<T, Box<dyn Error>>;

/// What a run in a browser needs from the environment.
pub(crate) struct Wanted {
    pub(crate) driver: PathBuf,
    /// Where screenshots go; `None` for no screenshots.
    pub(crate) screenshots: Option<PathBuf>,
}

impl Wanted {
    /// `None`, and a line that says so, if `HBLITE_CHROMEDRIVER` is not set; `tool` sets it.
    pub(crate) fn from_environment(tool: &str) -> Option<Self> {
        let Some(driver) = std::env::var_os("HBLITE_CHROMEDRIVER") else {
            println!("SKIPPED: HBLITE_CHROMEDRIVER names no chromedriver ({tool})");
            return None;
        };
        let screenshots = std::env::var_os("HBLITE_SCREENSHOTS").map(PathBuf::from);
        Some(Self { driver: driver.into(), screenshots })
    }
}

/// Fails with these words unless something holds.
pub(crate) fn expect(holds: bool, otherwise: &str) -> Done {
    if holds { Ok(()) } else { Err(otherwise.to_owned().into()) }
}

/// A browser, which ends with this value.
pub(crate) struct Browser {
    driver: Child,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver takes its browser along when the session is deleted.
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    /// Fails if the console of the browser has errors or warnings since the last look.
    pub(crate) fn complains_of_nothing(&self, page: &str) -> Done {
        let problems = self.problems()?;
        expect(problems.is_empty(), &format!("{page}: the browser complains: {problems:?}"))
    }

    /// Starts a chromedriver on a free port, and a browser without a window.
    pub(crate) fn start(driver: &Path) -> Done<Self> {
        let mut driver = Command::new(driver).arg("--port=0").stdout(Stdio::piped()).spawn()?;
        let output = driver.stdout.take().ok_or("the driver has no output")?;
        let mut browser = Self { driver, session: String::new() };
        let mut lines = BufReader::new(output).lines();
        let port = loop {
            let line = lines.next().ok_or("the driver does not say its port")??;
            if let Some((_, rest)) = line.split_once("successfully on port ") {
                break rest.trim_end_matches('.').to_owned();
            }
        };
        let options = json!({"args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000",
            "--hide-scrollbars", "--disable-dev-shm-usage", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-first-run",
        ]});
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let base = format!("http://127.0.0.1:{port}/session");
        let answer: Value = ureq::post(&base).send_json(&capabilities)?.body_mut().read_json()?;
        let id = answer["value"]["sessionId"].as_str().ok_or("there is no session")?;
        browser.session = format!("{base}/{id}");
        Ok(browser)
    }

    fn command(&self, name: &str, body: &Value) -> Done<Value> {
        let url = format!("{}/{name}", self.session);
        let request = ureq::post(&url).config().http_status_as_error(false).build();
        let mut answer = request.send_json(body)?;
        let answer: Value = answer.body_mut().with_config().limit(100 << 20).read_json()?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{name}: {error}: {}", answer["value"]["message"]).into()),
            None => Ok(answer["value"].clone()),
        }
    }

    /// A command of Chromium's own protocol.
    pub(crate) fn chromium(&self, name: &str, parameters: &Value) -> Done<Value> {
        self.command("goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    /// The whole page as a PNG file.
    pub(crate) fn screenshot(&self) -> Done<Vec<u8>> {
        let parameters = json!({"captureBeyondViewport": true, "format": "png"});
        let shot = self.chromium("Page.captureScreenshot", &parameters)?;
        Ok(STANDARD.decode(shot["data"].as_str().ok_or("there is no screenshot")?)?)
    }

    /// Opens a page and waits until its heat map is drawn.
    pub(crate) fn open(&self, file: &Path) -> Done {
        self.command("url", &json!({"url": format!("file://{}", file.display())}))?;
        self.wait_for("document.documentElement.dataset.firstMs !== undefined")
    }

    /// Opens any page.
    pub(crate) fn visit(&self, url: &str) -> Done {
        self.command("url", &json!({ "url": url })).map(drop)
    }

    /// Gives the page this many pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) -> Done {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.chromium("Emulation.setDeviceMetricsOverride", &size).map(drop)
    }

    /// What a script returns.
    pub(crate) fn ask(&self, script: &str) -> Done<Value> {
        self.command("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits, for ten seconds, until an expression is true.
    pub(crate) fn wait_for(&self, expression: &str) -> Done {
        let script = format!(
            "const done = arguments[0], until = performance.now() + 10000;
             const look = () => {{
                 if ({expression}) done(true);
                 else if (performance.now() > until) done(false);
                 else requestAnimationFrame(look);
             }};
             look()"
        );
        let held = self.command("execute/async", &json!({"script": script, "args": []}))?;
        if held == json!(true) { Ok(()) } else { Err(format!("never came: {expression}").into()) }
    }

    /// A place in the field of the map, by shares of its width and height.
    pub(crate) fn place(&self, x: &str, y: &str) -> Done<(i64, i64)> {
        let place = self.ask(&format!(
            "canvas.scrollIntoView(); const box = canvas.getBoundingClientRect(), plot = state.plot;
             return [Math.round(box.left + plot.x + plot.width * {x}),
                     Math.round(box.top + plot.y + plot.height * {y})]"
        ))?;
        let number = |index: usize| place[index].as_i64().ok_or("there is no place");
        Ok((number(0)?, number(1)?))
    }

    /// Moves and presses the pointer.
    pub(crate) fn actions(&self, actions: &Value) -> Done {
        let pointer = json!({
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": actions,
        });
        self.command("actions", &json!({"actions": [pointer]}))?;
        Ok(())
    }

    /// What the tip says when the pointer is over a place of the map.
    pub(crate) fn hover(&self, x: &str, y: &str) -> Done<String> {
        let (x, y) = self.place(x, y)?;
        self.actions(&json!([{"type": "pointerMove", "duration": 0, "x": x, "y": y}]))?;
        let tip = self.ask("return tip.hidden ? '' : tip.innerText")?;
        Ok(tip.as_str().unwrap_or_default().to_owned())
    }

    /// Presses a key.
    pub(crate) fn key(&self, key: &str) -> Done {
        let keys = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        let keyboard = json!({"type": "key", "id": "keys", "actions": keys});
        self.command("actions", &json!({"actions": [keyboard]}))?;
        Ok(())
    }

    /// What the browser's console says.
    pub(crate) fn problems(&self) -> Done<Vec<String>> {
        let log = self.command("se/log", &json!({"type": "browser"}))?;
        let entries = log.as_array().cloned().unwrap_or_default();
        Ok(entries.iter().map(|entry| entry["message"].to_string()).collect())
    }
}
