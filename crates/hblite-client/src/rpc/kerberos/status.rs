//! Values of the Kerberos library: flags, errors, and what a user can do about each error.

use super::super::sasl::Failure;
use crate::kerberos_settings::KerberosSettings;

/// The first code of Kerberos (`ERROR_TABLE_BASE_krb5`).
const FIRST: i32 = -1_765_328_384;
const CLIENT_UNKNOWN: i32 = FIRST + 6;
const SERVER_UNKNOWN: i32 = FIRST + 7;
const PREAUTHENTICATION_FAILED: i32 = FIRST + 24;
const TICKET_EXPIRED: i32 = FIRST + 32;
const CLOCK_SKEW: i32 = FIRST + 37;
const CACHE_NOT_FOUND: i32 = FIRST + 141;
const REALM_UNKNOWN: i32 = FIRST + 154;
const KDC_UNREACHABLE: i32 = FIRST + 156;
const KEY_NOT_FOUND: i32 = FIRST + 181;
const CACHE_FILE_MISSING: i32 = FIRST + 195;
const REALM_NOT_RESOLVED: i32 = FIRST + 220;

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GssError {
    /// The routine error of GSSAPI, such as [`GssError::FAILURE`].
    pub(super) routine: u32,
    /// The code of Kerberos.
    pub(super) code: i32,
    /// What the library says about both.
    pub(super) text: String,
}

impl GssError {
    /// `GSS_S_FAILURE`: the code of Kerberos says more.
    pub(super) const FAILURE: u32 = 13;
    /// `GSS_S_NO_CRED`.
    const NO_CREDENTIALS: u32 = 7;
    /// `GSS_S_CREDENTIALS_EXPIRED`.
    const CREDENTIALS_EXPIRED: u32 = 11;

    /// An error that the library does not report as one.
    pub(super) fn of_text(text: &str) -> Self {
        Self { routine: 0, code: 0, text: text.to_owned() }
    }
}

/// Flags of a context (RFC 2744, section 5.19).
pub(super) mod flag {
    pub(in super::super) const MUTUAL: u32 = 2;
    pub(in super::super) const REPLAY: u32 = 4;
    pub(in super::super) const SEQUENCE: u32 = 8;
    pub(in super::super) const CONFIDENTIALITY: u32 = 16;
    pub(in super::super) const INTEGRITY: u32 = 32;
}

/// Who authenticates to whom, for messages.
#[derive(Debug, Clone)]
pub(super) struct Parties {
    /// The principal of the server.
    pub(super) server: String,
    /// The setting that names it.
    server_setting: &'static str,
    /// The principal of the client, if it is known.
    pub(super) client: Option<String>,
    /// The file that its key comes from, if it is not a ticket cache.
    keytab: Option<String>,
}

impl Parties {
    pub(super) fn new(
        server: String,
        server_setting: &'static str,
        settings: &KerberosSettings,
    ) -> Self {
        let client = settings.client_principal.clone();
        let keytab = settings.keytab.as_ref().map(|file| file.display().to_string());
        Self { server, server_setting, client, keytab }
    }

    /// " of PRINCIPAL", or nothing.
    fn of_client(&self) -> String {
        self.client.as_ref().map(|client| format!(" of {client}")).unwrap_or_default()
    }

    /// Why there is no ticket or context, and what to do.
    pub(super) fn explain(&self, error: &GssError) -> Failure {
        let Self { server, server_setting, keytab, .. } = self;
        let (text, of_client) = (&error.text, self.of_client());
        let advice = match (error.code, error.routine) {
            (KDC_UNREACHABLE | REALM_NOT_RESOLVED, _) => {
                return Failure::Interrupted(format!("no KDC answers: {text}"));
            }
            (CLOCK_SKEW, _) => {
                "the clocks of this machine and of the KDC differ by more than Kerberos allows, \
                 usually 5 minutes; correct the clock"
                    .to_owned()
            }
            (SERVER_UNKNOWN, _) => format!(
                "the KDC does not know the server as {server}; {server_setting} must be the \
                 server's principal"
            ),
            (REALM_UNKNOWN, _) => "krb5.conf does not have the realm".to_owned(),
            (TICKET_EXPIRED, _) | (_, GssError::CREDENTIALS_EXPIRED) => {
                format!("the ticket{of_client} has expired; run kinit, or set {KEYTAB_SETTINGS}")
            }
            (CLIENT_UNKNOWN | PREAUTHENTICATION_FAILED | KEY_NOT_FOUND, _)
            | (CACHE_NOT_FOUND | CACHE_FILE_MISSING, _)
            | (_, GssError::NO_CREDENTIALS) => match keytab {
                Some(keytab) => format!(
                    "there is no ticket{of_client}; hbase.client.keytab.file, {keytab}, must have \
                     the current key of hbase.client.keytab.principal (klist -k lists the keys)"
                ),
                None => format!(
                    "there is no ticket{of_client} in the ticket cache; run kinit, or set \
                     {KEYTAB_SETTINGS}"
                ),
            },
            _ => format!("Kerberos fails for the server {server}"),
        };
        Failure::Refused(format!("{advice} ({text})"))
    }

    /// The error for an exception with which the server ends the exchange.
    pub(super) fn refused_by_server(&self, class: &str, message: &str) -> String {
        let Self { server, server_setting, .. } = self;
        let of_client = self.of_client();
        format!(
            "the server refuses the ticket{of_client} for {server} ({class}: {message}); the log \
             of the server has the reason: usually {server_setting} is not its principal, its \
             keytab is outdated, or the clocks differ by more than 5 minutes"
        )
    }
}

const KEYTAB_SETTINGS: &str = "hbase.client.keytab.file and hbase.client.keytab.principal";

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(routine: u32, code: i32, has_keytab: bool) -> Failure {
        let mut settings = KerberosSettings::new("hbase/h@R");
        if has_keytab {
            settings = settings.with_keytab("/k", "c@R");
        }
        let parties = Parties::new("hbase/h@R".to_owned(), "hbase.x", &settings);
        parties.explain(&GssError { routine, code, text: "text".to_owned() })
    }

    #[test]
    fn errors_say_what_to_do() {
        for (routine, code, has_keytab, advice) in [
            (13, CLOCK_SKEW, false, "correct the clock"),
            (13, SERVER_UNKNOWN, false, "hbase.x"),
            (13, CLIENT_UNKNOWN, true, "klist -k"),
            (13, CACHE_FILE_MISSING, false, "kinit"),
            (GssError::NO_CREDENTIALS, 0, false, "kinit"),
            (GssError::NO_CREDENTIALS, 0, true, "/k"),
            (GssError::CREDENTIALS_EXPIRED, 0, false, "has expired"),
            (13, TICKET_EXPIRED, false, "has expired"),
            (13, 1, false, "hbase/h@R"),
        ] {
            let Failure::Refused(why) = explained(routine, code, has_keytab) else {
                panic!("{routine} {code} can be tried again");
            };
            assert!(why.contains(advice) && why.ends_with("(text)"), "{why}");
        }
    }

    #[test]
    fn a_kdc_that_does_not_answer_is_asked_again() {
        let failure = explained(13, KDC_UNREACHABLE, true);
        assert!(matches!(failure, Failure::Interrupted(why) if why.contains("no KDC answers")));
    }
}
