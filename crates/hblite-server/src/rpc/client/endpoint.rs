//! `ExecService`: coprocessor endpoints. Those that hblite has are built in; a table need not load
//! them.

use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use super::region;
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::CoprocessorServiceRequest = call.parameter()?;
    let region = region(cluster, call, &request.region)?;
    Err(no_such_service(&request.call, &region.info().region_name_as_string()))
}

/// What HBase says of a service that no coprocessor of the region has.
pub(super) fn no_such_service(call: &pb::CoprocessorServiceCall, region: &str) -> RemoteException {
    let service = &call.service_name;
    let message =
        format!("No registered coprocessor service found for {service} in region {region}");
    RemoteException::new(class::UNKNOWN_PROTOCOL, message)
}
