//! Results of procedures, and procedures by name.

use hblite_model::{FlushRequest, TableName};
use hblite_wire::RemoteException;
use hblite_wire::pb;

use super::Method;
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

/// `GetProcedureResultResponse.State`.
const NOT_FOUND: i32 = 0;
const FINISHED: i32 = 2;
/// How long a client waits for a procedure by name before it polls, in milliseconds.
const EXPECTED_TIMEOUT_MS: i64 = 60_000;
/// How the shell of HBase 2.4 and Java before 2.6 flush a table.
const FLUSH_TABLE: &str = "flush-table-proc";
/// How a client requests a roll of the logs of all servers; part of backups.
const LOG_ROLL: &str = "rolllog-proc";

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "getProcedureResult" => result,
        "AbortProcedure" => {
            |_, call| call.answer(&pb::AbortProcedureResponse { is_procedure_aborted: false })
        }
        "ExecProcedure" | "ExecProcedureWithRet" => execute,
        "IsProcedureDone" => is_done,
        "GetLogEntries" => log_entries,
        // No procedure is ever in progress.
        "GetProcedures" | "GetLocks" => |_, call| call.answer_empty(),
        _ => return None,
    })
}

/// Decisions of the balancer, which are not recorded.
fn log_entries(_: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::LogRequest = call.parameter()?;
    let package = "org.apache.hadoop.hbase.shaded.protobuf.generated.MasterProtos$";
    let class = match request.log_class_name.contains("Rejection") {
        true => "BalancerRejectionsResponse",
        false => "BalancerDecisionsResponse",
    };
    call.answer(&pb::LogEntry {
        log_class_name: format!("{package}{class}"),
        log_message: bytes::Bytes::new(),
    })
}

fn result(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetProcedureResultRequest = call.parameter()?;
    let Some(outcome) = cluster.procedures.outcome(request.proc_id) else {
        let response = pb::GetProcedureResultResponse { state: NOT_FOUND, ..Default::default() };
        return call.answer(&response);
    };
    let time = u64::try_from(outcome.time_ms).ok();
    let (result, exception) = match outcome.result {
        Ok(result) => (Some(result), None),
        Err(exception) => (None, Some(exception.to_foreign())),
    };
    call.answer(&pb::GetProcedureResultResponse {
        state: FINISHED,
        submitted_time: time,
        last_update: time,
        result: result.filter(|result| !result.is_empty()).map(Into::into),
        exception,
    })
}

fn execute(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::ProcedureRequest = call.parameter()?;
    let Some(procedure) = request.procedure else {
        return Err(RemoteException::do_not_retry("a request without a procedure"));
    };
    match procedure.signature.as_str() {
        FLUSH_TABLE => {
            let table: TableName = procedure.instance.unwrap_or_default().parse()?;
            let is_family = |pair: &&pb::NameStringPair| pair.name == "family";
            match procedure.configuration.iter().find(is_family) {
                Some(family) => {
                    let request = FlushRequest::table(table).with_family(family.value.as_bytes());
                    cluster.engine.flush(request)?;
                }
                None => cluster.engine.flush(FlushRequest::table(table))?,
            }
        }
        LOG_ROLL => {}
        other => return Err(not_registered(other)),
    }
    call.answer(&pb::ExecProcedureResponse {
        expected_timeout: Some(EXPECTED_TIMEOUT_MS),
        return_data: None,
    })
}

fn not_registered(signature: &str) -> RemoteException {
    RemoteException::do_not_retry(format!("The procedure is not registered: {signature}"))
}

fn is_done(_: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::ProcedureRequest = call.parameter()?;
    let signature = request.procedure.as_ref().map(|procedure| procedure.signature.as_str());
    if !matches!(signature, Some(FLUSH_TABLE | LOG_ROLL)) {
        return Err(not_registered(signature.unwrap_or_default()));
    }
    call.answer(&pb::IsProcedureDoneResponse { done: Some(true), snapshot: request.procedure })
}
