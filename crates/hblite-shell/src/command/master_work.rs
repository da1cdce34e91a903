//! What the master does and has locked, and the calls that region servers logged. A store does its
//! work in the calls that request it, and logs none.

use hblite::{LoggedCall, ResourceLock, ServerLog, ServerLogRequest};
use serde_json::Value as Json;

use super::server_names::{find_servers, servers_in};
use super::{Arguments, CommandResult, Context, Failure, not_of, small_integer};
use crate::format::ruby_time;
use crate::value::{Hash, Value};

commands! {
    "list_procedures" 0 0, "Lists changes of tables and regions, in progress or done lately." ""
        |context, _| {
            context.out.row(" PID Name State Submitted Last_Update Parameters")?;
            let procedures = context.connection.admin().list_procedures()?;
            for one in &procedures {
                let time = |ms: i64| ruby_time(ms, (context.options.utc_offset_seconds)(ms));
                let (submitted, updated) = (time(one.submitted_ms), time(one.updated_ms));
                context.out.row(&format!(
                    " {} {} {} {submitted} {updated} {}",
                    one.id, one.class, one.state, one.parameters
                ))?;
            }
            context.out.footer(procedures.len() as u64)?;
            Ok(Value::Nil)
        };
    "list_locks" 0 0, "Lists what changes of tables and regions have locked." "" list_locks;
    "get_slowlog_responses" 1 2, "Prints slow calls of servers."
        " '*'\n  hbase> get_slowlog_responses ['SERVER_NAME'], {'TABLE_NAME' => 't1', 'LIMIT' => 5}"
        |context, arguments| logged_calls(context, &arguments, ServerLog::Slow);
    "get_largelog_responses" 1 2, "Prints large calls of servers."
        " '*'\n  hbase> get_largelog_responses '*', {'USER' => 'u1', 'FILTER_BY_OP' => 'AND'}"
        |context, arguments| logged_calls(context, &arguments, ServerLog::Large);
}

fn list_locks(context: &mut Context<'_>, _: Arguments) -> CommandResult {
    let locks = context.connection.admin().list_locks()?;
    for one in &locks {
        context.out.line(&format!("{}({})", one.kind, one.name))?;
        context.out.line(&match &one.lock {
            ResourceLock::Exclusive(owner) => format!("Lock type: EXCLUSIVE, procedure: {owner}"),
            ResourceLock::Shared(count) => format!("Lock type: SHARED, count: {count}"),
        })?;
        if !one.waiting.is_empty() {
            context.out.header(&["Waiting procedures"])?;
            one.waiting.iter().try_for_each(|waiting| context.out.row(waiting))?;
            context.out.footer(one.waiting.len() as u64)?;
        }
        context.out.line("")?;
    }
    let names = locks.into_iter().map(|one| Value::from(format!("{}({})", one.kind, one.name)));
    Ok(Value::Array(names.collect()))
}

fn logged_calls(context: &mut Context<'_>, arguments: &Arguments, log: ServerLog) -> CommandResult {
    let wanted = arguments.get(0).unwrap_or(&Value::Nil);
    let Some(wanted_names) = servers_in(wanted) else {
        return Err(not_of(wanted, "Array/String"));
    };
    let filter = match arguments.get(1) {
        None => Hash::default(),
        Some(Value::Hash(filter)) => filter.clone(),
        Some(_) => return Err(Failure::refused("Filter parameters are not Hash")),
    };
    let is_all = matches!(wanted, Value::String(text) if text == b"*");
    let servers = if is_all { Vec::new() } else { find_servers(context, &wanted_names)? };
    let text = |key: &str| filter.get(key).map(Value::to_text).filter(|text| !text.is_empty());
    let matches_all = match text("FILTER_BY_OP").as_deref() {
        None | Some("OR") => false,
        Some("AND") => true,
        Some(_) => return Err(Failure::refused("FILTER_BY_OP should be either OR / AND")),
    };
    let limit = filter.get("LIMIT").map(|limit| small_integer(limit, "LIMIT")).transpose()?;
    let request = ServerLogRequest {
        log,
        limit: u32::try_from(limit.unwrap_or(10)).unwrap_or(0),
        region: text("REGION_NAME"),
        table: text("TABLE_NAME"),
        client: text("CLIENT_IP"),
        user: text("USER"),
        matches_all,
    };
    let calls = match is_all || !servers.is_empty() {
        true => context.connection.admin().logged_calls(&servers, &request)?,
        false => Vec::new(),
    };
    let name = if log == ServerLog::Slow { "SlowLog" } else { "LargeLog" };
    context.out.line(&format!("Retrieved {name} Responses from RegionServers"))?;
    calls.iter().try_for_each(|call| context.out.line(&call_text(call)))?;
    Ok(Value::Nil)
}

/// A call as JSON, as HBase's client prints it.
fn call_text(call: &LoggedCall) -> String {
    let mut fields: Vec<(&str, Json)> = vec![
        ("startTime", call.started_ms.into()),
        ("processingTime", call.processing_ms.into()),
        ("queueTime", call.queue_ms.into()),
        ("responseSize", call.response_bytes.into()),
        ("blockBytesScanned", call.block_bytes.into()),
        ("fsReadTime", call.file_read_ms.into()),
        ("clientAddress", call.client.as_str().into()),
        ("serverClass", call.server_class.as_str().into()),
        ("methodName", call.method.as_str().into()),
        ("callDetails", call.call.as_str().into()),
    ];
    fields.extend(call.parameters.as_deref().map(|parameters| ("param", parameters.into())));
    fields.push(("userName", call.user.as_str().into()));
    for (key, count) in [
        ("multiGetsCount", call.gets),
        ("multiMutationsCount", call.mutations),
        ("multiServiceCalls", call.service_calls),
    ] {
        if count != 0 {
            fields.push((key, count.into()));
        }
    }
    let lines: Vec<String> =
        fields.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    let text = format!("{{\n{}\n}}", lines.join(",\n"));
    // Gson escapes what browsers would read as markup.
    ['<', '>', '&', '=', '\'']
        .into_iter()
        .fold(text, |text, sign| text.replace(sign, &format!("\\u{:04x}", u32::from(sign))))
}
