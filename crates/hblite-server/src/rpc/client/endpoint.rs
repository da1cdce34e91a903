//! `ExecService`: coprocessor endpoints. Those that hblite has are built in; a table need not load
//! them.
//!
//! An endpoint gets the region and its request as bytes, and returns the Java class of its answer
//! and the answer as bytes.

mod aggregate;
mod interpreter;

use hblite_engine::RegionHandle;
use hblite_model::{Mutation, Operation};
use hblite_wire::cell_block::CellReader;
use hblite_wire::convert;
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};
use prost::Message as _;

use super::region;
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

/// The Java package of the endpoints' messages.
const PACKAGE: &str = "org.apache.hadoop.hbase.protobuf.generated.";

type EndpointResult = Result<pb::NameBytesPair, RemoteException>;

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::CoprocessorServiceRequest = call.parameter()?;
    let region = region(cluster, call, &request.region)?;
    call.client.counted.note(Operation::Endpoint, region.info().table(), 1);
    let value = execute(call, &region, &request.call)?;
    call.answer(&pb::CoprocessorServiceResponse { region: request.region, value })
}

/// Calls an endpoint of a region.
pub(super) fn execute(
    call: &Call<'_>,
    region: &RegionHandle,
    service_call: &pb::CoprocessorServiceCall,
) -> EndpointResult {
    // Services of HBase's own package are named with or without the package.
    let service =
        service_call.service_name.strip_prefix("hbase.pb.").unwrap_or(&service_call.service_name);
    match (service, service_call.method_name.as_str()) {
        ("MultiRowMutationService", "MutateRows") => {
            mutate_rows(region, call.decode(&service_call.request)?)
        }
        ("AggregateService", method) => {
            match aggregate::answer(call, region, method, &service_call.request) {
                Some(response) => Ok(pb::NameBytesPair {
                    name: format!("{PACKAGE}AggregateProtos$AggregateResponse"),
                    value: Some(aggregate::encoded(&response?)),
                }),
                None => Err(no_such_method(service_call)),
            }
        }
        ("MultiRowMutationService", _) => Err(no_such_method(service_call)),
        _ => Err(no_such_service(service_call, &region.info().region_name_as_string())),
    }
}

/// HBase's error for a service that no coprocessor of the region has.
fn no_such_service(call: &pb::CoprocessorServiceCall, region: &str) -> RemoteException {
    let service = &call.service_name;
    let message =
        format!("No registered coprocessor service found for {service} in region {region}");
    RemoteException::new(class::UNKNOWN_PROTOCOL, message)
}

/// HBase's error for an unknown method of a service.
fn no_such_method(call: &pb::CoprocessorServiceCall) -> RemoteException {
    let (service, method) = (&call.service_name, &call.method_name);
    let message = format!("Unknown method {method} called on service {service}");
    RemoteException::new(class::UNKNOWN_PROTOCOL, message)
}

/// Writes to rows of one region, all or none, perhaps under conditions.
fn mutate_rows(region: &RegionHandle, request: pb::MutateRowsRequest) -> EndpointResult {
    // Its cells are in the messages: an endpoint has no cell block.
    let mutation = |message| convert::mutation(message, &mut CellReader::new(b""));
    let mutations: Vec<Mutation> =
        request.mutation_request.iter().map(mutation).collect::<Result<_, _>>()?;
    let conditions = request.condition.iter().map(convert::condition);
    let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
    let processed = Some(region.mutate_rows_if(&conditions, &mutations)?);
    Ok(pb::NameBytesPair {
        name: format!("{PACKAGE}MultiRowMutationProtos$MutateRowsResponse"),
        value: Some(pb::MutateRowsResponse { processed }.encode_to_vec().into()),
    })
}
