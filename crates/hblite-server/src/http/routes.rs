//! Which request does what.

use std::sync::Arc;

use hblite_wire::site::{RequestHead, Site};
use hyper::header::{ACCEPT, ALLOW, HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, Method, StatusCode};
use percent_encoding::percent_decode_str;

use super::listener::Answers;
use super::message::{Answer, Refused, Request, Response, body, document, redirect, with_type};
use super::{Admin, control, gateways, metrics, pages, rows, state, status};

const TEXT: &str = "text/plain; charset=utf-8";
const HELP: &str = "\
hblite: GET /health, /status, /rows, /hot, /metrics, /faults, /console/, /checkpoints, /forks, \
/clock, /gateways; POST /faults, /regions/NAME/{move,split,assign,unassign}, \
/servers/NUMBER/{crash,restart}, /checkpoints, /checkpoints/NAME/rewind, /forks, /clock, \
/gateways/NAME; DELETE /faults, /faults/ID, /checkpoints/NAME, /forks, /forks/ID\n";

impl Answers for Admin {
    async fn answer(self: Arc<Self>, request: Request) -> Response {
        self.route(request).await.unwrap_or_else(Response::from)
    }
}

impl Admin {
    async fn route(&self, request: Request) -> Result<Response, Refused> {
        self.check_site(&request)?;
        let path = request.uri().path();
        if pages::has(path)
            && let Some(pages) = self.pages.get()
        {
            return pages::answer(Arc::clone(pages), request).await;
        }
        let decoded: Result<Vec<_>, _> =
            path.split('/').skip(1).map(|step| percent_decode_str(step).decode_utf8()).collect();
        let decoded = decoded.map_err(|_| Refused::bad("the path is not UTF-8"))?;
        let steps: Vec<&str> = decoded.iter().map(|step| &**step).collect();
        let allowed = methods(&steps).ok_or_else(|| Refused::not_found("no such path; see /"))?;
        if !allowed.split(", ").any(|method| method == request.method().as_str()) {
            let refused = Refused::new(StatusCode::METHOD_NOT_ALLOWED, format!("use {allowed}"));
            let mut response = Response::from(refused);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
            return Ok(response);
        }
        match steps[..] {
            [""] if wants_html(request.headers()) && self.pages.get().is_some() => {
                Ok(redirect("/console/"))
            }
            [""] => Ok(with_type(TEXT, HELP)),
            ["health"] => Ok(with_type(TEXT, "ok\n")),
            ["metrics"] => Ok(metrics::metrics(self)),
            _ => self.document(&request, &steps).await.map(|value| document(&value)),
        }
    }

    /// The answer of a path that exists to a method that it has.
    async fn document(&self, request: &Request, steps: &[&str]) -> Answer {
        let (admin, method) = (self.clone(), request.method());
        let (is_post, is_delete) = (method == Method::POST, method == Method::DELETE);
        match *steps {
            ["status"] => Ok(status::status(self)),
            ["rows"] => rows::rows(self, request.uri().query()),
            ["faults"] if is_post => control::set(self, body(request)?),
            ["faults"] if is_delete => Ok(control::clear_all(self)),
            ["faults"] => Ok(control::list(self)),
            ["faults", id] => control::clear(self, number(id)?),
            ["regions", name, action] => control::region(admin, name, action, body(request)?).await,
            ["servers", server, action] => {
                control::server(admin, number(server)?, action, body(request)?).await
            }
            ["checkpoints"] if is_post => state::checkpoint(admin, body(request)?).await,
            ["checkpoints"] => state::checkpoints(self),
            ["checkpoints", name] => state::delete_checkpoint(admin, name).await,
            ["checkpoints", name, _] => state::rewind(admin, name).await,
            ["forks"] if is_post => state::fork(admin, body(request)?).await,
            ["forks"] if is_delete => state::close_forks(admin).await,
            ["forks"] => Ok(state::forks(self)),
            ["forks", id] => state::close_fork(admin, number(id)?).await,
            ["clock"] if is_post => state::set_clock(admin, body(request)?).await,
            ["clock"] => state::clock(self),
            ["gateways", name] => gateways::set(self, name, body(request)?),
            _ => Ok(gateways::list(self)),
        }
    }

    /// Refuses requests that pages of other web sites may have sent.
    fn check_site(&self, request: &Request) -> Result<(), Refused> {
        let site = Site::named(self.cluster.shared().options.advertise.as_deref());
        site.check(&who(request)).map_err(|refusal| {
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
            Refused::new(status, refusal.to_string())
        })
    }
}

/// The methods of a path, if it exists.
fn methods(steps: &[&str]) -> Option<&'static str> {
    Some(match steps {
        ["" | "health" | "status" | "rows" | "metrics" | "gateways"] => "GET, HEAD",
        ["faults" | "forks"] => "GET, HEAD, POST, DELETE",
        ["checkpoints" | "clock"] => "GET, HEAD, POST",
        ["faults" | "checkpoints" | "forks", _] => "DELETE",
        ["gateways", _] | ["regions" | "servers", _, _] | ["checkpoints", _, "rewind"] => "POST",
        _ => return None,
    })
}

/// The parts of a request that name a host.
fn who(request: &Request) -> RequestHead<'_> {
    let named = |name| request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect();
    RequestHead {
        authority: request.uri().authority().map(|authority| authority.as_str().as_bytes()),
        hosts: named(HOST),
        origins: named(ORIGIN),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Refused> {
    text.parse().map_err(|_| Refused::bad(format!("{text:?} is not a number")))
}

/// Whether the request is from a browser that will show a page, not from a script.
fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}
