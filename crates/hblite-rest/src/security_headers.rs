//! Headers of every response that tell browsers what they may do with it.

use hblite_model::{Error, Result, setters};
use hyper::HeaderMap;
use hyper::header::{
    CONTENT_SECURITY_POLICY, HeaderValue, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS, X_XSS_PROTECTION,
};

/// The headers whose values HBase takes from its settings; an empty value omits the header.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SecurityHeaders {
    /// `X-Frame-Options`. Default `DENY` (`hbase.http.filter.xframeoptions.mode`).
    pub frame_options: String,
    /// `Strict-Transport-Security`. Default none (`hbase.http.filter.hsts.value`).
    pub transport_security: String,
    /// `Content-Security-Policy`. Default none (`hbase.http.filter.csp.value`).
    pub content_policy: String,
}

impl Default for SecurityHeaders {
    fn default() -> Self {
        Self {
            frame_options: "DENY".to_owned(),
            transport_security: String::new(),
            content_policy: String::new(),
        }
    }
}

setters! { SecurityHeaders:
    with_frame_options sets frame_options: impl Into<String>;
    with_transport_security sets transport_security: impl Into<String>;
    with_content_policy sets content_policy: impl Into<String>;
}

impl SecurityHeaders {
    /// The headers as every response has them.
    ///
    /// # Errors
    /// `IllegalArgument` for a value that a header cannot have.
    pub(crate) fn to_map(&self) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(X_XSS_PROTECTION, HeaderValue::from_static("1; mode=block"));
        let chosen = [
            (X_FRAME_OPTIONS, &self.frame_options),
            (STRICT_TRANSPORT_SECURITY, &self.transport_security),
            (CONTENT_SECURITY_POLICY, &self.content_policy),
        ];
        for (name, value) in chosen {
            if value.is_empty() {
                continue;
            }
            let invalid =
                |_| Error::illegal_argument(format!("{name} cannot have this value: {value}"));
            let value = HeaderValue::from_str(value).map_err(invalid)?;
            headers.insert(name, value);
        }
        Ok(headers)
    }
}
