//! Regions: locations, splits, merges, flushes, compactions.

use std::sync::Arc;

use bytes::Bytes;
use hblite_model::{
    CompactRequest, CompactionKind, Error, Exception, FlushRequest, MergeKind, RegionInfo,
    RegionLocation, RequestTarget, Result, Scan, TableName, TableState,
};
use hblite_wire::client_frame::Body;
use hblite_wire::{convert, pb};
use prost::Message;

use super::procedure::Polling;
use super::{Admin, not_found};
use crate::locator::{LocateKind, Location, meta_row};
use crate::retry::Retries;
use crate::rpc::{Answer, Method, Service};
use crate::table::Table;
use crate::url::ServerAddress;

/// `RegionSpecifierType.ENCODED_REGION_NAME`.
const ENCODED_NAME: i32 = 2;
/// This many consecutive reports that nothing is being compacted mean that it is done; the first
/// ones may be from before the server has begun.
const QUIET_ANSWERS: u32 = 4;

impl Admin {
    /// The regions of a table in order of their start keys; none if there is no such table.
    pub async fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        if table.is_meta() {
            return Ok(vec![RegionInfo::meta()]);
        }
        let regions = self.read_meta(&meta_row::regions_of(table)).await?;
        Ok(regions.into_iter().filter(|region| region.table() == table).collect())
    }

    /// Regions that hbase:meta has in a range, without those that were split.
    pub(super) async fn read_meta(&self, scan: &Scan) -> Result<Vec<RegionInfo>> {
        let meta = Table::new(Arc::clone(&self.shared), TableName::meta());
        let mut scanner = meta.scan(scan).await?;
        let mut regions = Vec::new();
        while let Some(row) = scanner.next_row().await? {
            regions.extend(meta_row::region(&row).filter(|region| !region.is_split));
        }
        Ok(regions)
    }

    /// The region that holds a row.
    pub async fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        let location = self.locate(table, row).await?;
        let server = location.server.to_string();
        Ok(RegionLocation { region: location.region.clone(), server })
    }

    pub(super) async fn locate(&self, table: &TableName, row: &[u8]) -> Result<Arc<Location>> {
        let mut retries = Retries::new(&self.shared.rpc);
        loop {
            let (locator, deadline) = (&self.shared.locator, retries.deadline());
            match locator.locate(table, row, LocateKind::Current, deadline).await {
                Ok(location) => return Ok(location),
                Err(error) => {
                    if error.is_not_serving() {
                        locator.check_in_service(table, deadline).await?;
                    }
                    retries.after(error).await?;
                }
            }
        }
    }

    /// The region with this full or encoded name.
    async fn find_region(&self, name: &str) -> Result<RegionInfo> {
        let encoded = RegionInfo::encoded_name_of(name);
        let regions = self.read_meta(&Scan::new().with_family("info")).await?;
        let found = regions.into_iter().find(|region| region.encoded_name() == encoded);
        found.ok_or_else(|| Error::new(Exception::UnknownRegion, name.to_owned()))
    }

    /// Splits the region that holds `split_key` at that key; without a key, splits every region of
    /// the table at a row that its server chooses.
    pub async fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        if let Some(key) = split_key {
            let region = self.locate(table, key).await?.region.clone();
            return self.split(&region, split_key).await;
        }
        self.check_enabled(table).await?;
        for region in self.regions(table).await? {
            self.split(&region, None).await?;
        }
        Ok(())
    }

    /// Splits a region, named by its full or encoded name.
    pub async fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        let region = self.find_region(region).await?;
        self.split(&region, split_key).await
    }

    async fn split(&self, region: &RegionInfo, split_key: Option<&[u8]>) -> Result<()> {
        if split_key == Some(region.start_key()) {
            let message = "should not give a splitkey which equals to startkey!";
            return Err(Error::invalid_argument(Exception::Io, message));
        }
        let (nonce_group, nonce) = self.nonce();
        let request = pb::SplitTableRegionRequest {
            region_info: convert::region_info(region),
            split_row: split_key.map(|key| key.to_vec().into()),
            nonce_group,
            nonce,
        };
        self.change("SplitRegion", &request).await?;
        self.shared.locator.forget(region.table());
        Ok(())
    }

    /// Merges regions, named by their full or encoded names.
    pub async fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()> {
        if regions.len() < 2 {
            let message = format!("Can not merge only {} region", regions.len());
            return Err(Error::illegal_argument(message));
        }
        let known = self.read_meta(&Scan::new().with_family("info")).await?;
        for name in regions.iter().map(|name| RegionInfo::encoded_name_of(name)) {
            if !known.iter().any(|region| region.encoded_name() == name) {
                let message = format!("Can't invoke merge on unknown region {name}");
                return Err(Error::new(Exception::UnknownRegion, message));
            }
        }
        let (nonce_group, nonce) = self.nonce();
        let specifier = |name: &&str| pb::RegionSpecifier {
            r#type: ENCODED_NAME,
            value: RegionInfo::encoded_name_of(name).into_bytes().into(),
        };
        let request = pb::MergeTableRegionsRequest {
            region: regions.iter().map(specifier).collect(),
            forcible: Some(kind == MergeKind::Forced),
            nonce_group,
            nonce,
        };
        self.change("MergeTableRegions", &request).await
    }

    /// Removes all cells of a region, named by its full or encoded name.
    pub async fn truncate_region(&self, region: &str) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let unknown = |error: Error| match error.exception() {
            Exception::UnknownRegion => {
                Error::new(Exception::UnknownRegion, format!("Invalid region: {region}"))
            }
            _ => error,
        };
        let region_info = convert::region_info(&self.find_region(region).await.map_err(unknown)?);
        let request = pb::TruncateRegionRequest { region_info, nonce_group, nonce };
        self.change("TruncateRegion", &request).await
    }

    /// Flushes a table or region, or one family of it: writes its cells in memory to files.
    pub async fn flush(&self, request: &FlushRequest) -> Result<()> {
        for region in self.targets(request.target()).await? {
            let request = pb::FlushRegionRequest {
                region: convert::region_specifier(&region.region_name()),
                family: request.family().map(|family| family.to_vec().into()),
                ..pb::FlushRegionRequest::default()
            };
            let _: pb::FlushRegionResponse =
                self.call_region("FlushRegion", &region, &request).await?;
        }
        Ok(())
    }

    /// Merges files of a table or region, or of one family of it. Returns when the servers report
    /// that no compaction is running any longer.
    pub async fn compact(&self, request: &CompactRequest) -> Result<()> {
        if let Some(region) = request.mob_region() {
            let request = compact_region(request, &region);
            return self.call_server("CompactRegion", &request).await.map(|_: pb::Empty| ());
        }
        if let RequestTarget::Table(table) = request.target()
            && self.table_state(table).await? == TableState::Disabled
        {
            // Nothing is in service, so there is nothing to compact.
            return Ok(());
        }
        let regions = self.targets(request.target()).await?;
        for region in &regions {
            let request = compact_region(request, region);
            let _: pb::Empty = self.call_region("CompactRegion", region, &request).await?;
        }
        for region in &regions {
            self.wait_for_compaction(region).await?;
        }
        Ok(())
    }

    async fn wait_for_compaction(&self, region: &RegionInfo) -> Result<()> {
        let request = pb::GetRegionInfoRequest {
            region: convert::region_specifier(&region.region_name()),
            compaction_state: Some(true),
            best_split_row: None,
        };
        let mut polling = Polling::new(self.shared.settings.operation_timeout);
        let mut quiet = 0;
        loop {
            let answer: pb::GetRegionInfoResponse =
                self.call_region("GetRegionInfo", region, &request).await?;
            quiet = if answer.compaction_state.unwrap_or(0) == 0 { quiet + 1 } else { 0 };
            if quiet >= QUIET_ANSWERS {
                return Ok(());
            }
            polling.next(&format!("the compaction of {}", region.region_name_as_string())).await?;
        }
    }

    async fn targets(&self, target: &RequestTarget) -> Result<Vec<RegionInfo>> {
        match target {
            RequestTarget::Region(name) => Ok(vec![self.find_region(name).await?]),
            RequestTarget::Table(table) => {
                self.check_enabled(table).await?;
                let regions = self.regions(table).await?;
                if regions.is_empty() { Err(not_found(table)) } else { Ok(regions) }
            }
        }
    }

    /// Calls a method of the server that has a region.
    pub(super) async fn call_region<M: Message + Default>(
        &self,
        name: &'static str,
        region: &RegionInfo,
        request: &dyn Body,
    ) -> Result<M> {
        let (server, answer) = self.call_server_of(name, region, request).await?;
        Ok(answer.decode(&server)?.message)
    }

    /// Returns the server that answered, too.
    async fn call_server_of(
        &self,
        name: &'static str,
        region: &RegionInfo,
        request: &dyn Body,
    ) -> Result<(ServerAddress, Answer<Bytes>)> {
        let (method, table) = (Method::new(Service::Admin, name), region.table());
        let mut retries = Retries::new(&self.shared.rpc);
        loop {
            let location = self.locate(table, region.start_key()).await?;
            let limit = retries.limit();
            let (rpc, server) = (&self.shared.rpc, &location.server);
            let error = match rpc.call_undecoded(server, method, request, b"", limit).await {
                Ok(answer) => return Ok((server.clone(), answer)),
                Err(error) => error,
            };
            self.shared.locator.learn(&location, &error).await;
            if error.is_not_serving() {
                self.shared.locator.check_in_service(table, limit.deadline).await?;
            }
            retries.after(error).await?;
        }
    }
}

fn compact_region(request: &CompactRequest, region: &RegionInfo) -> pb::CompactRegionRequest {
    pb::CompactRegionRequest {
        region: convert::region_specifier(&region.region_name()),
        major: Some(request.kind() == CompactionKind::Major),
        family: request.family().map(|family| family.to_vec().into()),
    }
}
