//! From a path to the resource that answers.
//!
//! Paths are matched as they were sent, before `%` is decoded, but without matrix parameters: `;`
//! and what follows it, up to the next slash. The first form that matches decides, even if no
//! resource has it.

use std::borrow::Cow;

use hyper::header::ALLOW;
use hyper::{Method, StatusCode};

use crate::error_page;
use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::java;
use crate::request::Request;
use crate::resource::target::Target;
use crate::resource::{
    cluster, exists, multi_row, namespaces, regions, root, row, scanner, schema, table_scan,
};
use crate::response::Response;

/// The methods of resources, in the order of the header `Allow`.
const GET: &[&str] = &["GET", "OPTIONS"];
const POST_PUT: &[&str] = &["POST", "OPTIONS", "PUT"];
const DELETE_GET: &[&str] = &["DELETE", "GET", "OPTIONS"];
const ALL: &[&str] = &["DELETE", "POST", "GET", "OPTIONS", "PUT"];

/// Answers a request. Never fails: an error is an answer, too.
pub(crate) fn answer(gateway: &Gateway, request: &Request) -> Response {
    if request.method == Method::TRACE {
        return Response::new(StatusCode::FORBIDDEN);
    }
    if let Some(refusal) = gateway.options.csrf.refusal(request) {
        return refusal;
    }
    route(gateway, request).unwrap_or_else(|failure| error_page::answer(request, failure))
}

fn route(gateway: &Gateway, request: &Request) -> Answer {
    let path = without_parameters(&request.path);
    let path = path.strip_prefix('/').unwrap_or(&path);
    if path.is_empty() {
        return allow(request, GET).and_then(|()| root::get(gateway, request));
    }
    let (first, rest) = split(path);
    match (first, rest) {
        ("status", Some(rest)) if is_below("cluster", rest) => {
            end(after("cluster", rest))?;
            allow(request, GET)?;
            cluster::get_status(gateway, request)
        }
        ("version", rest) => version(request, rest),
        ("namespaces", rest) => namespaces(gateway, request, rest),
        (table, Some(rest)) if !table.is_empty() => {
            let table = java::decode_path(table).ok_or(Failure::Page(StatusCode::BAD_REQUEST))?;
            table_resource(gateway, request, &table, rest)
        }
        _ => Err(Failure::NO_RESOURCE),
    }
}

fn version(request: &Request, rest: Option<&str>) -> Answer {
    match rest.map(split) {
        None | Some(("", None)) => {
            allow(request, GET)?;
            cluster::get_version(request)
        }
        Some(("rest", rest)) => version(request, rest),
        Some(("cluster", rest)) => {
            end(rest)?;
            allow(request, GET)?;
            cluster::get_cluster_version(request)
        }
        Some(_) => Err(Failure::NO_RESOURCE),
    }
}

fn namespaces(gateway: &Gateway, request: &Request, rest: Option<&str>) -> Answer {
    let Some((name, rest)) = rest.map(split).filter(|(name, _)| !name.is_empty()) else {
        allow(request, GET)?;
        return namespaces::list(gateway, request);
    };
    let name = java::decode_path(name).ok_or(Failure::Page(StatusCode::BAD_REQUEST))?;
    let is_of_tables = match rest.map(split) {
        None | Some(("", None)) => false,
        Some(("tables", None)) => true,
        Some(_) => return Err(Failure::NO_RESOURCE),
    };
    allow(request, ALL)?;
    // HBase changes the namespace at either path.
    match request.method {
        Method::DELETE => namespaces::delete(gateway, &name),
        Method::PUT => namespaces::alter(gateway, request, &name),
        Method::POST => namespaces::create(gateway, request, &name),
        _ if is_of_tables => namespaces::get_tables(gateway, request, &name),
        _ => namespaces::get(gateway, request, &name),
    }
}

fn table_resource(gateway: &Gateway, request: &Request, table: &str, path: &str) -> Answer {
    let (first, rest) = split(path);
    match first {
        "exists" => {
            end(rest)?;
            allow(request, GET)?;
            exists::get(gateway, request, table)
        }
        "regions" => {
            end(rest)?;
            allow(request, GET)?;
            regions::get(gateway, request, table)
        }
        "schema" => {
            end(rest)?;
            allow(request, ALL)?;
            schema::answer(gateway, request, table)
        }
        "scanner" => match rest.filter(|rest| !rest.is_empty()) {
            None => {
                allow(request, POST_PUT)?;
                scanner::create(gateway, request, table)
            }
            Some(id) => {
                allow(request, DELETE_GET)?;
                scanner::answer(gateway, request, id)
            }
        },
        _ if path.is_empty() => Err(Failure::NO_RESOURCE),
        _ if path.starts_with("multiget") => {
            let path = java::decode_path(path).ok_or(Failure::Page(StatusCode::BAD_REQUEST))?;
            allow(request, GET)?;
            multi_row::get(gateway, request, table, &path)
        }
        _ => rows(gateway, request, table, path),
    }
}

/// Rows by their keys, or by a prefix of them.
fn rows(gateway: &Gateway, request: &Request, table: &str, path: &str) -> Answer {
    let is_row = match path.find('*') {
        None => true,
        // The part before the slash would be a row, and a row has no sub-resources.
        Some(star) if path[..star].rfind('/').is_some_and(|slash| slash > 0) => {
            return Err(Failure::NO_RESOURCE);
        }
        Some(_) => path.rfind("*/").is_some_and(|at| at + 2 < path.len()),
    };
    if is_row {
        let target = Target::locate(request, table, path)?;
        allow(request, ALL)?;
        return row::answer(gateway, &target);
    }
    if !path.ends_with('*') {
        return Err(Failure::NO_RESOURCE);
    }
    let path = java::decode_path(path).ok_or(Failure::Page(StatusCode::BAD_REQUEST))?;
    let resource = table_scan::Resource::locate(gateway, request, table, &path)?;
    allow(request, GET)?;
    resource.answer()
}

fn without_parameters(path: &str) -> Cow<'_, str> {
    if !path.contains(';') {
        return Cow::Borrowed(path);
    }
    let segments = path.split('/').map(|part| part.split(';').next().unwrap_or_default());
    Cow::Owned(segments.collect::<Vec<_>>().join("/"))
}

/// The first segment of a path and what follows its slash.
fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    }
}

fn is_below(name: &str, path: &str) -> bool {
    split(path).0 == name
}

fn after<'a>(name: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'))
}

/// This resource has no sub-resources.
fn end(rest: Option<&str>) -> Result<(), Failure> {
    match rest {
        None | Some("") => Ok(()),
        Some(_) => Err(Failure::NO_RESOURCE),
    }
}

/// Refuses methods that the resource does not have.
fn allow(request: &Request, methods: &'static [&'static str]) -> Result<(), Failure> {
    if request.method == Method::OPTIONS {
        return Err(Failure::Answered(Response::ok().with_header(ALLOW, methods.join(","))));
    }
    let method = if request.is_read() { "GET" } else { request.method.as_str() };
    match methods.contains(&method) {
        true => Ok(()),
        false => Err(Failure::NotAllowed(methods)),
    }
}
