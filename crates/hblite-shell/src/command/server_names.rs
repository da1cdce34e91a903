//! Names of servers in arguments.

use super::{Context, Failure};
use crate::value::Value;

/// Refuses a text that is not `host,port,start code`, in the words of Java's class for names of
/// servers.
pub(super) fn check_server_name(name: &str) -> Result<(), Failure> {
    let commas: Vec<usize> = name.match_indices(',').map(|(at, _)| at).collect();
    let (from, to) = match commas.as_slice() {
        [] => (0, "-1".to_owned()),
        [comma] => (comma + 1, comma.to_string()),
        [first, .., last] => {
            let numbers = [&name[first + 1..*last], &name[last + 1..]];
            let wrong = numbers.into_iter().find(|number| number.parse::<u64>().is_err());
            return wrong.map_or(Ok(()), |wrong| {
                Err(Failure::refused(format!("For input string: \"{wrong}\"")))
            });
        }
    };
    let length = name.chars().count();
    Err(Failure::refused(format!("begin {from}, end {to}, length {length}")))
}

/// The servers that texts mean: full names, and those at work on a host, or on a host and port.
pub(super) fn find_servers(
    context: &Context<'_>,
    wanted: &[String],
) -> Result<Vec<String>, Failure> {
    let live = context.connection.admin().servers()?.live;
    let mut found = Vec::new();
    for text in wanted {
        if check_server_name(text).is_ok() {
            found.push(text.clone());
            continue;
        }
        let (host, port) = match text.split_once(',') {
            Some((host, rest)) => (host, Some(rest.split(',').next().unwrap_or(rest))),
            None => (text.as_str(), None),
        };
        let is_it = |name: &&String| {
            let mut parts = name.split(',');
            parts.next() == Some(host) && port.is_none_or(|port| parts.next() == Some(port))
        };
        found.extend(live.iter().filter(is_it).cloned());
    }
    Ok(found)
}

/// The servers that an argument names, `None` if it is neither a string nor an array.
pub(super) fn servers_in(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(_) => Some(vec![value.to_text()]),
        Value::Array(names) => Some(names.iter().map(Value::to_text).collect()),
        _ => None,
    }
}
