//! `/namespaces`: namespaces, their properties and their tables.

use hblite::NamespaceDescriptor;
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;

use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::media::Format;
use crate::model;
use crate::model::FromBody as _;
use crate::model::namespace::{NamespaceModel, Properties};
use crate::model::table_list::{Namespaces, TableList};
use crate::request::Request;
use crate::response::Response;

pub(crate) fn list(gateway: &Gateway, request: &Request) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let namespaces = gateway.admin().list_namespaces().map_err(|_| Failure::UNEXPECTED)?;
    let names = namespaces.into_iter().map(|namespace| namespace.name).collect();
    Ok(model::answer(&Namespaces(names), format))
}

pub(crate) fn get(gateway: &Gateway, request: &Request, name: &str) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let namespace = gateway.admin().describe_namespace(name).map_err(|_| Failure::UNEXPECTED)?;
    Ok(model::answer(&NamespaceModel(namespace), format))
}

pub(crate) fn get_tables(gateway: &Gateway, request: &Request, name: &str) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let tables = gateway.admin().list_namespace_tables(name).map_err(|_| Failure::UNEXPECTED)?;
    let names = tables.iter().map(|table| table.qualifier().to_owned()).collect();
    Ok(model::answer(&TableList(names), format))
}

/// Creates a namespace.
pub(crate) fn create(gateway: &Gateway, request: &Request, name: &str) -> Answer {
    let namespace = described(request, name)?;
    gateway.check_writable()?;
    if exists(gateway, name)? {
        let message = format!(
            "Namespace '{name}' already exists.  Use REST PUT to alter the existing namespace."
        );
        return Ok(Response::text(StatusCode::FORBIDDEN, message));
    }
    gateway.admin().create_namespace(&namespace)?;
    Ok(Response::created(&request.url()))
}

/// Replaces the properties of a namespace.
pub(crate) fn alter(gateway: &Gateway, request: &Request, name: &str) -> Answer {
    let namespace = described(request, name)?;
    gateway.check_writable()?;
    if !exists(gateway, name)? {
        let message =
            format!("Namespace '{name}' does not exist. Use REST POST to create the namespace.");
        return Ok(Response::text(StatusCode::FORBIDDEN, message));
    }
    gateway.admin().modify_namespace(&namespace)?;
    Ok(Response::text(StatusCode::OK, request.url()))
}

pub(crate) fn delete(gateway: &Gateway, name: &str) -> Answer {
    gateway.check_writable()?;
    if !exists(gateway, name)? {
        let message = format!("Namespace '{name}' does not exists.  Cannot drop namespace.");
        return Ok(Response::text(StatusCode::NOT_FOUND, message));
    }
    gateway.admin().delete_namespace(name)?;
    Ok(Response::ok())
}

fn exists(gateway: &Gateway, name: &str) -> hblite::Result<bool> {
    let namespaces = gateway.admin().list_namespaces()?;
    Ok(namespaces.iter().any(|namespace| namespace.name == name))
}

/// The namespace of a body; without a body it has no properties.
fn described(request: &Request, name: &str) -> Result<NamespaceDescriptor, Failure> {
    let has_none = request.body.is_empty() && request.header(CONTENT_TYPE).is_none();
    let properties = match has_none {
        true => Properties::default(),
        false => Properties::read(request)?.unwrap_or_default(),
    };
    let mut namespace = NamespaceDescriptor::new(name);
    namespace.properties = properties.properties.unwrap_or_default();
    Ok(namespace)
}
