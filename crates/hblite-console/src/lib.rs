//! The console: a store or a cluster in the browser.
//!
//! One page of plain JavaScript modules and CSS, embedded in the program, and a small JSON API for
//! it. Nothing is loaded from the network. [`Console`] answers requests and opens no port:
//! `hblite_server` has one for it.
//!
//! - `console` routes requests; `guard` decides which are answered, `assets` has the page's files
//! - `api` answers the page's requests: overview, tables, rows, heat map, advice, commands
//! - `state` holds what requests share
//! - `recorder` keeps two days of requests per region and sampled keys (`history`, `window`),
//!   which `thinning` joins with age and `kept` writes to a file
//! - `written_keys` samples the keys that are written to a cluster
//! - `heat` makes a heat map of them, by what the sample supports (`shares`); `findings` names what
//!   is hot
//! - `source` is the store, the server or the cluster that the console shows
//!
//! Threads: requests may come from any, concurrently. The recorder has a thread of its own, and a
//! second one while it samples keys of a cluster.

#![forbid(unsafe_code)]

mod api;
mod assets;
mod console;
mod findings;
mod guard;
mod heat;
mod history;
mod kept;
mod recorder;
mod shares;
mod source;
mod state;
mod thinning;
mod token;
mod window;
mod written_keys;

pub use console::{Console, ConsoleOptions};
pub use source::Target;
pub use token::Token;
