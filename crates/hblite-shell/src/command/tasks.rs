//! The tasks of region servers. A store runs its tasks in the calls that request them, or in the
//! background, unlisted.

use hblite::ServerTask;

use super::server_names::find_servers;
use super::{Arguments, CommandResult, Context, Failure, MANY};
use crate::format::ruby_time;
use crate::value::Value;

commands! {
    "processlist" 0 MANY, "Lists tasks of servers: all, general, handler, rpc or operation."
        "\n  hbase> processlist 'all'\n  hbase> processlist 'general', 'host1', 'host2,16020'"
        process_list;
}

const KINDS: [&str; 5] = ["all", "general", "handler", "rpc", "operation"];
/// The titles of the columns, and their greatest widths.
const COLUMNS: [(&str, usize); 5] =
    [("Host", 15), ("Start Time", 19), ("State", 8), ("Description", 32), ("Status", 36)];
/// What is added to the longest status for the width of its column.
const SINCE: usize = 27;
/// What the names of tasks that wait for calls, and answer them, begin with.
const HANDLER: &str = "RpcServer.";

fn process_list(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let first = arguments.get(0).map(Value::to_text);
    let kind = first.filter(|first| KINDS.contains(&first.as_str()));
    let hosts = arguments.rest(usize::from(kind.is_some()));
    let hosts: Vec<String> = hosts.into_iter().map(Value::to_text).collect();
    let kind = kind.unwrap_or_else(|| "general".to_owned());
    let names = if hosts.is_empty() { None } else { Some(find_servers(context, &hosts)?) };
    let (mut tasks, servers) = (Vec::new(), context.connection.admin().server_statuses()?);
    if let Some(names) = &names
        && !names.iter().all(|name| servers.iter().any(|server| server.name == *name))
    {
        let message = "undefined method `getInfoServerPort' for nil:NilClass";
        return Err(Failure::refused(message));
    }
    for server in servers {
        if names.as_ref().is_none_or(|names| names.contains(&server.name)) {
            let host = server.name.split(',').next().unwrap_or_default().to_owned();
            let of_kind = server.tasks.into_iter().filter(|task| is_of(&kind, task));
            tasks.extend(of_kind.rev().map(|task| (host.clone(), task)));
        }
    }
    let now = context.connection.now_millis();
    let offset = context.options.utc_offset_seconds;
    let time = |ms: i64| {
        let text = ruby_time(ms, offset(ms));
        text.rsplit_once(' ').map_or(text.clone(), |(time, _)| time.to_owned())
    };
    context.out.line(&format!("{} tasks as of: {}", tasks.len(), time(now)))?;
    if tasks.is_empty() {
        context.out.line(&format!("No {kind} tasks currently running."))?;
        return Ok(Value::Nil);
    }
    let longest = |text: fn(&ServerTask) -> &String| {
        tasks.iter().map(|(_, task)| text(task).chars().count()).max().unwrap_or(0)
    };
    let mut widths = COLUMNS.map(|(_, width)| width);
    widths[3] = widths[3].min(longest(|task| &task.description));
    widths[4] = widths[4].min(longest(|task| &task.status) + SINCE);
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect();
    let line = |cells: [&str; 5]| -> String {
        let cells = cells.iter().zip(widths).map(|(text, width)| fitted(text, width));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut lines = vec![line(COLUMNS.map(|(title, _)| title))];
    for (host, task) in &tasks {
        let seconds = now.saturating_sub(task.since_ms) / 1000;
        let status = format!("{} (since {seconds} seconds ago)", task.status);
        let started = time(task.started_ms);
        lines.push(line([host, &started, &task.state, &task.description, &status]));
    }
    for line in lines {
        context.out.line(&format!("{rule}+"))?;
        context.out.line(&line)?;
    }
    context.out.line(&format!("{rule}+"))?;
    Ok(Value::Nil)
}

fn is_of(kind: &str, task: &ServerTask) -> bool {
    let is_handler = task.description.starts_with(HANDLER);
    match kind {
        "all" => true,
        "general" => !is_handler,
        "handler" => is_handler,
        // What a call does is not known, so each counts as an operation.
        _ => is_handler && task.state == "RUNNING",
    }
}

/// A text in a column: filled with blanks, or cut.
fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    let cut: String = text.chars().take(width.saturating_sub(3)).collect();
    cut + &"."[..].repeat(width.min(3))
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!([fitted("abc", 5), fitted("abcdef", 5)], ["abc  ", "ab..."]);
        assert_eq!([fitted("abcdef", 2), fitted("é", 1)], ["..", "é"]);
    }
}
