//! What the master does and has locked, and the calls that region servers logged.

use hblite_model::{
    BalancerLog, BalancerRecord, Error, LockedResource, LoggedCall, ProcedureStatus, ResourceLock,
    Result, ServerLog, ServerLogRequest,
};
use hblite_wire::pb;
use hblite_wire::ruby::{any_to_ruby, to_ruby};
use prost::Message;

use super::Admin;
use super::operations::address;

/// HBase's names of the states of a procedure and of the kinds of what is locked, in the order of
/// their numbers, which begin with 1.
const STATES: [&str; 7] =
    ["INITIALIZING", "RUNNABLE", "WAITING", "WAITING_TIMEOUT", "ROLLEDBACK", "SUCCESS", "FAILED"];
const KINDS: [&str; 5] = ["SERVER", "NAMESPACE", "TABLE", "REGION", "PEER"];
/// `LockType.EXCLUSIVE`.
const EXCLUSIVE: i32 = 1;
/// The classes of the request for logged calls, and of its answer.
const LOG_REQUEST: &str = "org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos$\
                           SlowLogResponseRequest";
const MASTER_MESSAGES: &str = "org.apache.hadoop.hbase.shaded.protobuf.generated.MasterProtos$";
const LOG_ANSWER: &str = "SlowLogResponses";

impl Admin {
    /// The procedures that the master knows, ended ones for a while.
    pub async fn list_procedures(&self) -> Result<Vec<ProcedureStatus>> {
        let answer: pb::GetProceduresResponse = self.call("GetProcedures", &pb::Empty {}).await?;
        Ok(answer.procedure.iter().map(status).collect())
    }

    /// What procedures have locked.
    pub async fn list_locks(&self) -> Result<Vec<LockedResource>> {
        let answer: pb::GetLocksResponse = self.call("GetLocks", &pb::Empty {}).await?;
        let resource = |one: pb::LockedResource| LockedResource {
            kind: named(&KINDS, one.resource_type),
            name: one.resource_name.unwrap_or_default(),
            lock: match one.lock_type {
                EXCLUSIVE => ResourceLock::Exclusive(
                    one.exclusive_lock_owner_procedure.as_ref().map(shown).unwrap_or_default(),
                ),
                _ => ResourceLock::Shared(one.shared_lock_count.unwrap_or(0).into()),
            },
            waiting: one.waiting_procedures.iter().map(shown).collect(),
        };
        Ok(answer.lock.into_iter().map(resource).collect())
    }

    /// The latest runs of the balancer, if the master keeps a log of them.
    pub async fn balancer_log(&self, log: BalancerLog, limit: u32) -> Result<Vec<BalancerRecord>> {
        let name = match log {
            BalancerLog::Decisions => "BalancerDecisions",
            BalancerLog::Rejections => "BalancerRejections",
        };
        let wanted = pb::BalancerLogRequest { limit: Some(limit) };
        let request = pb::LogRequest {
            log_class_name: format!("{MASTER_MESSAGES}{name}Request"),
            log_message: wanted.encode_to_vec().into(),
        };
        let answer: pb::LogEntry = self.call("GetLogEntries", &request).await?;
        let unreadable =
            |error: prost::DecodeError| Error::do_not_retry(format!("the log {name}: {error}"));
        Ok(match log {
            BalancerLog::Decisions => {
                let entries = pb::BalancerDecisionsResponse::decode(answer.log_message);
                let record = |one: pb::BalancerDecision| BalancerRecord::Decision {
                    costs_before: one.initial_function_costs,
                    costs_after: one.final_function_costs,
                    cost_before: one.init_total_cost,
                    cost_after: one.computed_total_cost,
                    steps: one.computed_steps,
                    moves: one.region_plans,
                };
                let entries = entries.map_err(unreadable)?.balancer_decision;
                entries.into_iter().map(record).collect()
            }
            BalancerLog::Rejections => {
                let entries = pb::BalancerRejectionsResponse::decode(answer.log_message);
                let record = |one: pb::BalancerRejection| BalancerRecord::Rejection {
                    reason: one.reason,
                    costs: one.cost_func_info,
                };
                let entries = entries.map_err(unreadable)?.balancer_rejection;
                entries.into_iter().map(record).collect()
            }
        })
    }

    /// The latest calls in a log of region servers, `host,port,start code`; of all if none is
    /// named.
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is not `host,port,start code`.
    pub async fn logged_calls(
        &self,
        servers: &[String],
        request: &ServerLogRequest,
    ) -> Result<Vec<LoggedCall>> {
        let wanted = pb::SlowLogResponseRequest {
            region_name: request.region.clone(),
            table_name: request.table.clone(),
            client_address: request.client.clone(),
            user_name: request.user.clone(),
            limit: Some(request.limit),
            filter_by_operator: Some(i32::from(!request.matches_all)),
            log_type: Some(i32::from(request.log == ServerLog::Large)),
        };
        let message = pb::LogRequest {
            log_class_name: LOG_REQUEST.to_owned(),
            log_message: wanted.encode_to_vec().into(),
        };
        let names = match servers {
            [] => self.servers().await?.live,
            servers => servers.to_vec(),
        };
        let mut calls = Vec::new();
        for name in names {
            let answer: pb::LogEntry =
                self.call_region_server(&address(&name)?, "GetLogEntries", &message).await?;
            let unreadable =
                |why: &str| Error::do_not_retry(format!("{name} answers with a log that is {why}"));
            if !answer.log_class_name.contains(LOG_ANSWER) {
                return Err(unreadable(&answer.log_class_name));
            }
            let logged = pb::SlowLogResponses::decode(answer.log_message)
                .map_err(|error| unreadable(&error.to_string()))?;
            calls.extend(logged.slow_log_payloads.into_iter().map(call));
        }
        Ok(calls)
    }
}

fn named(names: &[&str], number: i32) -> String {
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let name = at.and_then(|at| names.get(at));
    name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

fn status(procedure: &pb::Procedure) -> ProcedureStatus {
    let millis = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let parameters: Vec<String> = procedure.state_message.iter().map(any_to_ruby).collect();
    ProcedureStatus {
        id: procedure.proc_id,
        class: procedure.class_name.clone(),
        state: named(&STATES, procedure.state),
        submitted_ms: millis(procedure.submitted_time),
        updated_ms: millis(procedure.last_update),
        parameters: format!("[{}]", parameters.join(", ")),
    }
}

/// A procedure, as one that waits for a lock or has it.
fn shown(procedure: &pb::Procedure) -> String {
    to_ruby("Procedure", procedure.encode_to_vec().into())
}

fn call(payload: pb::SlowLogPayload) -> LoggedCall {
    let mut call = LoggedCall::default();
    call.started_ms = payload.start_time;
    call.processing_ms = payload.processing_time;
    call.queue_ms = payload.queue_time;
    call.response_bytes = payload.response_size;
    call.block_bytes = payload.block_bytes_scanned.unwrap_or(0);
    call.file_read_ms = payload.fs_read_time.unwrap_or(0);
    call.gets = payload.multi_gets.unwrap_or(0);
    call.mutations = payload.multi_mutations.unwrap_or(0);
    call.service_calls = payload.multi_service_calls.unwrap_or(0);
    call.client = payload.client_address;
    call.server_class = payload.server_class;
    call.method = payload.method_name;
    call.call = payload.call_details;
    call.parameters = payload.param;
    call.user = payload.user_name;
    call.region = payload.region_name;
    call
}
