//! The check that keeps web pages from sending changes with the browser of a user, as HBase's
//! `RestCsrfPreventionFilter` has it: a browser must send a header that pages cannot send.

use hblite_model::filter::{RegexEngine, RegexFlags, RegexString};
use hblite_model::{Result, setters};
use hyper::StatusCode;

use crate::error_page;
use crate::request::Request;
use crate::response::Response;

/// What HBase says to a browser without the header.
const MISSING: &str = "Missing Required Header for CSRF Vulnerability Protection";

/// Which requests need a header of their own (`hbase.rest.csrf.enabled`, `hbase.rest-csrf.*`).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CsrfProtection {
    /// Whether requests are checked. Default false (`hbase.rest.csrf.enabled`).
    pub is_enabled: bool,
    /// The header, which may have any value. Default `X-XSRF-HEADER`
    /// (`hbase.rest-csrf.custom-header`).
    pub header: String,
    /// Methods that need no header, separated by commas. Default `GET,OPTIONS,HEAD,TRACE`
    /// (`hbase.rest-csrf.methods-to-ignore`).
    pub methods_to_ignore: String,
    /// Who is a browser; only browsers need the header.
    pub browsers: BrowserPatterns,
}

impl Default for CsrfProtection {
    fn default() -> Self {
        Self {
            is_enabled: false,
            header: "X-XSRF-HEADER".to_owned(),
            methods_to_ignore: "GET,OPTIONS,HEAD,TRACE".to_owned(),
            browsers: BrowserPatterns::default(),
        }
    }
}

setters! { CsrfProtection:
    with_enabled sets is_enabled: bool;
    with_header sets header: impl Into<String>;
    with_methods_to_ignore sets methods_to_ignore: impl Into<String>;
    with_browsers sets browsers: BrowserPatterns;
}

/// Patterns of the header `User-Agent` of browsers (`hbase.rest-csrf.browser-useragents-regex`).
#[derive(Debug, Clone)]
pub struct BrowserPatterns(Vec<RegexString>);

impl BrowserPatterns {
    /// Java patterns, separated by commas. A browser is what one of them matches as a whole.
    ///
    /// # Errors
    /// `PatternSyntaxException` for a pattern that is not valid or not supported.
    pub fn new(patterns: &str) -> Result<Self> {
        let compile = |pattern: &str| {
            let whole = format!(r"\A(?:{pattern})\z");
            RegexString::new(&whole, RegexFlags::default(), RegexEngine::Java)
        };
        patterns.split(',').map(compile).collect::<Result<_>>().map(Self)
    }

    fn match_agent(&self, agent: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.is_found_in(agent))
    }
}

impl Default for BrowserPatterns {
    fn default() -> Self {
        Self::new("^Mozilla.*,^Opera.*").unwrap_or_else(|_| Self(Vec::new()))
    }
}

impl CsrfProtection {
    /// The answer to a request that lacks the header.
    pub(crate) fn refusal(&self, request: &Request) -> Option<Response> {
        let is_ignored = |method: &str| self.methods_to_ignore.split(',').any(|it| it == method);
        let agent = request.headers.get(hyper::header::USER_AGENT);
        let is_refused = self.is_enabled
            && agent.is_some_and(|agent| self.browsers.match_agent(agent.as_bytes()))
            && !is_ignored(request.method.as_str())
            && !request.headers.contains_key(self.header.as_str());
        is_refused.then(|| error_page::page(request, StatusCode::BAD_REQUEST, Some(MISSING)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_match_a_pattern_as_a_whole() {
        let default = BrowserPatterns::default();
        assert!(default.match_agent(b"Mozilla/5.0 (X11)") && default.match_agent(b"Opera"));
        assert!(!default.match_agent(b"curl/8 Mozilla") && !default.match_agent(b""));
        let own = BrowserPatterns::new("a|b,c").unwrap();
        assert!(own.match_agent(b"b") && own.match_agent(b"c"));
        assert!(!own.match_agent(b"ab") && !own.match_agent(b"a,"));
        assert!(BrowserPatterns::new("(").is_err());
    }
}
