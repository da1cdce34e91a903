//! The token that allows changes: a secret of one run, which only those who see the output or the
//! port file of the program know.

use std::fmt;

/// Random bytes of a token.
const LENGTH: usize = 16;

/// A secret of 128 bits, written as hexadecimal digits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one, from the system's source of randomness.
    ///
    /// # Errors
    /// `Io` if the system has no randomness.
    pub fn random() -> hblite::Result<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| {
            let error = std::io::Error::other(error.to_string());
            hblite::Error::io_of("no randomness for the console's token", error)
        })?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is this token. Takes the same time for every text of the same length.
    pub(crate) fn is(&self, text: &str) -> bool {
        let (mine, other) = (self.0.as_bytes(), text.as_bytes());
        let differences = mine.iter().zip(other).fold(0, |all, (mine, other)| all | (mine ^ other));
        mine.len() == other.len() && differences == 0
    }
}

/// Reveals nothing of the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_only_the_same_text_is_one() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.text().len(), 2 * LENGTH);
        assert!(one.is(one.text()) && !one.is(other.text()));
        assert!(!one.is("") && !one.is(&one.text()[1..]) && !one.is(&format!("{}0", one.text())));
        assert_eq!(format!("{one:?}"), "Token");
    }
}
