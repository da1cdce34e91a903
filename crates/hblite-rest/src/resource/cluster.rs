//! `/version`, `/version/cluster` and `/status/cluster`: the gateway and the store.

use std::collections::BTreeMap;

use crate::failure::Answer;
use crate::gateway::Gateway;
use crate::media::Format;
use crate::model;
use crate::model::cluster_status::{ClusterStatus, Server};
use crate::model::version::{ClusterVersion, Version};
use crate::request::Request;

pub(crate) fn get_version(request: &Request) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    Ok(model::answer(&Version, format).without_caching())
}

pub(crate) fn get_cluster_version(request: &Request) -> Answer {
    let format = Format::accepted(request, &[Format::Text, Format::Xml, Format::Json])?;
    Ok(model::answer(&ClusterVersion, format).without_caching())
}

pub(crate) fn get_status(gateway: &Gateway, request: &Request) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let status = gateway.admin().status()?;
    let mut regions = status.regions;
    regions.sort_by_cached_key(|region| region.region.region_name());
    let mut servers: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for region in regions {
        servers.entry(gateway.location_of(&region.region)?).or_default().push(region);
    }
    let memory_max_bytes = status.memory_max_bytes / servers.len().max(1) as u64;
    let servers = servers
        .into_iter()
        .map(|(name, regions)| Server { name, regions, memory_max_bytes })
        .collect();
    let status = ClusterStatus { start_code: status.opened_at_ms, servers };
    Ok(model::answer(&status, format).without_caching())
}
