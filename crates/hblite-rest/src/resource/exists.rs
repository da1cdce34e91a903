//! `/TABLE/exists`: whether a table exists.

use crate::failure::{Answer, Failure, is_runtime_exception};
use crate::gateway::Gateway;
use crate::media::Format;
use crate::request::Request;
use crate::response::Response;

pub(crate) fn get(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    Format::accepted(request, Format::ALL)?;
    match gateway.admin().table_exists(table) {
        Ok(true) => Ok(Response::ok().without_caching()),
        Ok(false) => Ok(Response::not_found()),
        Err(error) if is_runtime_exception(&error) => Err(Failure::UNEXPECTED),
        Err(error) => Err(error.into()),
    }
}
