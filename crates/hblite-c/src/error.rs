//! Codes and messages of errors, and the frame around every function.

use std::any::Any;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hblite::{ErrorKind, Exception};

/// What a function returns. The numbers stay the same in all versions.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// It did what it says.
    Ok = 0,
    /// The request is wrong: it can never succeed unchanged.
    InvalidArgument = 1,
    /// The table, family, snapshot or namespace does not exist.
    NotFound = 2,
    /// The table or snapshot already exists.
    AlreadyExists = 3,
    /// The table is in a state that forbids this.
    WrongState = 4,
    /// The region moved, split or closed: try again.
    NotServing = 5,
    /// Too much at once: try again later.
    Busy = 6,
    /// Stored bytes are damaged; the message names file and offset.
    Corrupt = 7,
    /// The operating system or the network failed.
    Io = 8,
    /// The store is open elsewhere: close it there, or open it read-only.
    Locked = 9,
    /// The store is closed, or refuses writes after a failed sync: open it again.
    Closed = 10,
    /// hblite does not support this.
    Unsupported = 11,
    /// The handle is NULL, was freed, or is of another kind.
    InvalidHandle = 12,
    /// The process forked after the handle was made: open a store after the fork.
    Forked = 13,
    /// A defect of hblite.
    Internal = 14,
}

/// Why a function failed. It is the caller's, usually a local variable; a function that fails sets
/// it, and one that succeeds does not touch it. Every function accepts NULL in its place.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    /// What the function returned.
    pub code: Code,
    /// The class that HBase throws in this case, such as
    /// "org.apache.hadoop.hbase.TableNotFoundException"; empty if HBase has no such case.
    pub class_name: [c_char; 128],
    /// What went wrong, for people, in UTF-8. The end of a long message is cut off.
    pub message: [c_char; 1024],
}

/// Text that ends with a NUL, cut between two characters if it does not fit.
fn fixed<const SIZE: usize>(text: &str) -> [c_char; SIZE] {
    let mut end = text.len().min(SIZE - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut fixed = [0; SIZE];
    for (place, byte) in fixed.iter_mut().zip(&text.as_bytes()[..end]) {
        *place = c_char::from_ne_bytes([*byte]);
    }
    fixed
}

/// Why a function fails.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    class_name: &'static str,
    message: String,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, class_name: "", message: message.into() }
    }

    /// What HBase would refuse too.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        let class_name = Exception::IllegalArgument.class_name();
        Self { code: Code::InvalidArgument, class_name, message: message.into() }
    }

    fn panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::new(Code::Internal, format!("hblite failed: {}", text.unwrap_or_default()))
    }
}

impl From<hblite::Error> for Failure {
    fn from(error: hblite::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::InvalidArgument => Code::InvalidArgument,
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::AlreadyExists => Code::AlreadyExists,
            ErrorKind::WrongState => Code::WrongState,
            ErrorKind::NotServing => Code::NotServing,
            ErrorKind::Busy => Code::Busy,
            ErrorKind::Corrupt => Code::Corrupt,
            ErrorKind::Locked => Code::Locked,
            ErrorKind::Closed => Code::Closed,
            ErrorKind::Unsupported => Code::Unsupported,
            // Also for kinds that do not exist yet.
            _ => Code::Io,
        };
        let class_name = error.exception().class_name();
        Self { code, class_name, message: error.message().to_owned() }
    }
}

/// The value of an enumeration that has this number.
///
/// # Errors
/// If it has no such number.
pub(crate) fn chosen<T: Copy>(all: &[T], number: i32, name: &str) -> Result<T, Failure> {
    let value = usize::try_from(number).ok().and_then(|index| all.get(index));
    value.copied().ok_or_else(|| Failure::argument(format!("{number} is not a {name}")))
}

/// Runs a function, and tells C why it failed.
pub(crate) fn run(
    error: Option<&mut MaybeUninit<Error>>,
    function: impl FnOnce() -> Result<(), Failure>,
) -> Code {
    let result = catch_unwind(AssertUnwindSafe(function));
    let failure = match result {
        Ok(Ok(())) => return Code::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::panic(panic.as_ref()),
    };
    if let Some(error) = error {
        error.write(Error {
            code: failure.code,
            class_name: fixed(failure.class_name),
            message: fixed(&failure.message),
        });
    }
    failure.code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(chars: &[c_char]) -> String {
        let bytes = chars.iter().map(|char| char.to_ne_bytes()[0]);
        String::from_utf8(bytes.take_while(|byte| *byte != 0).collect()).expect("UTF-8")
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        assert_eq!(text(&fixed::<5>("ab")), "ab");
        assert_eq!(text(&fixed::<5>("abcdef")), "abcd");
        assert_eq!(text(&fixed::<5>("abcé")), "abc");
    }

    #[test]
    fn a_panic_is_an_error() {
        let failure = Failure::panic(&"a bug");
        assert_eq!((failure.code, &*failure.message), (Code::Internal, "hblite failed: a bug"));
        assert_eq!(run(None, || panic!("planted")), Code::Internal);
    }

    #[test]
    fn class_names_fit() {
        let longest = Exception::ALL.iter().map(|exception| exception.class_name().len()).max();
        assert!(longest.is_some_and(|longest| longest < 128), "{longest:?}");
    }
}
