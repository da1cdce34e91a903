//! A service as a table of methods, and the answer to one message.
//!
//! ```text
//! thrift_service! { Handler stack_trace {
//!     "getRow" => reads::get_row(1 table: Vec<u8>, 2 row: Vec<u8>) -> List<TRowResult>;
//! } }
//! ```
//!

use crate::fault::{Answer, ApplicationException, Fault, IoError, IoFailure, PlainError, kind};
use crate::protocol::error::Result;
use crate::protocol::reader::Reader;
use crate::protocol::wire::Wire;
use crate::protocol::writer::Writer;
use crate::protocol::{MessageHead, MessageType};

/// The answer to a call, to be written.
pub(crate) enum Reply {
    /// The method returned this; the writer puts it into field 0 of the result.
    Value(Box<dyn FnOnce(&mut Writer)>),
    Fault(Fault),
    /// Thrift's own exception: an unknown method, or arguments that cannot be read.
    Refused(ApplicationException),
}

impl Reply {
    pub(crate) fn of<T: Wire + 'static>(answer: Answer<T>) -> Self {
        match answer {
            Ok(value) => Self::Value(Box::new(move |writer| value.write_field(writer, 0))),
            Err(fault) => Self::Fault(fault),
        }
    }

    /// Some arguments that are required were missing.
    pub(crate) fn missing(message: &str) -> Self {
        let message = message.to_owned();
        Self::Refused(ApplicationException { message, kind: kind::PROTOCOL_ERROR })
    }
}

/// A service of HBase, for one connection.
pub(crate) trait Service {
    /// Reads the arguments of a method, calls it, and returns its answer; `None` if there is no
    /// such method, and nothing was read.
    fn call(&self, method: &str, reader: &mut Reader<'_>) -> Result<Option<Reply>>;

    /// The message of an `IOException`.
    fn io_message(&self, failure: &IoFailure) -> String;
}

/// Answers one message; nothing is written for a one-way call.
pub(crate) fn answer(
    service: &dyn Service,
    reader: &mut Reader<'_>,
    writer: &mut Writer,
) -> Result<()> {
    let mut head = reader.message_head()?;
    if !matches!(head.kind, MessageType::Call | MessageType::OneWay) {
        reader.skip(crate::protocol::types::STRUCT)?;
        let message = "This should not have happened!?".to_owned();
        let refusal = ApplicationException { message, kind: kind::INVALID_MESSAGE_TYPE };
        write_reply(service, writer, &mut head, Reply::Refused(refusal));
        return Ok(());
    }
    let is_one_way = head.kind == MessageType::OneWay;
    let reply = match service.call(&head.name, reader)? {
        Some(reply) => reply,
        None => {
            reader.skip(crate::protocol::types::STRUCT)?;
            let message = format!("Invalid method name: '{}'", head.name);
            Reply::Refused(ApplicationException { message, kind: kind::UNKNOWN_METHOD })
        }
    };
    if !is_one_way {
        write_reply(service, writer, &mut head, reply);
    }
    Ok(())
}

fn write_reply(service: &dyn Service, writer: &mut Writer, head: &mut MessageHead, reply: Reply) {
    let refusal = match &reply {
        Reply::Refused(refusal) => Some(refusal.clone()),
        Reply::Fault(Fault::Internal) => {
            let message = format!("Internal error processing {}", head.name);
            Some(ApplicationException { message, kind: kind::INTERNAL_ERROR })
        }
        Reply::Fault(Fault::Missing(field)) => {
            let message = format!("Required field '{field}' was not present!");
            Some(ApplicationException { message, kind: kind::PROTOCOL_ERROR })
        }
        _ => None,
    };
    head.kind = if refusal.is_some() { MessageType::Exception } else { MessageType::Reply };
    writer.message_head(head);
    if let Some(refusal) = refusal {
        refusal.write(writer);
        return;
    }
    writer.struct_begin();
    match reply {
        Reply::Value(write) => write(writer),
        Reply::Fault(fault) => write_fault(service, writer, fault),
        Reply::Refused(_) => {}
    }
    writer.struct_end();
}

/// Both services have their exceptions in the same fields: `IOError` in 1, `IllegalArgument` in 2
/// and, where a method declares it, `AlreadyExists` in 3.
fn write_fault(service: &dyn Service, writer: &mut Writer, fault: Fault) {
    match fault {
        Fault::Io(failure) => {
            let message = service.io_message(&failure);
            IoError { message, can_retry: failure.can_retry }.write_field(writer, 1);
        }
        Fault::IllegalArgument(message) => PlainError { message }.write_field(writer, 2),
        Fault::AlreadyExists(message) => PlainError { message }.write_field(writer, 3),
        Fault::Internal | Fault::Missing(_) => {}
    }
}

/// Defines how the methods of a service are called; see the head of this file.
macro_rules! thrift_service {
    ($handler:ident $io_message:ident {$(
        $name:literal => $module:ident::$method:ident(
            $($id:literal $([$need:ident])? $field:ident: $type:ty),*
        ) -> $result:ty;
    )*}) => {
        impl $crate::service::Service for $handler {
            fn io_message(&self, failure: &$crate::fault::IoFailure) -> String {
                failure.$io_message()
            }

            fn call(
                &self,
                method: &str,
                reader: &mut $crate::protocol::reader::Reader<'_>,
            ) -> $crate::protocol::error::Result<Option<$crate::service::Reply>> {
                match method {
                    $($name => {
                        $crate::protocol::wire::thrift_struct! {
                            Arguments { $($id $([$need])? $field: $type,)* }
                        }
                        let arguments: Arguments = $crate::protocol::wire::Wire::read(reader)?;
                        if let Some(message) = reader.missing() {
                            return Ok(Some($crate::service::Reply::missing(message)));
                        }
                        reader.message_is_read()?;
                        let Arguments { $($field),* } = arguments;
                        let answer: $crate::fault::Answer<$result> =
                            $module::$method(&self.0 $(, $field)*);
                        Ok(Some($crate::service::Reply::of(answer)))
                    })*
                    _ => Ok(None),
                }
            }
        }
    };
}

pub(crate) use thrift_service;
