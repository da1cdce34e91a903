//! `/TABLE/regions`: the regions of a table.

use crate::failure::{Answer, Failure, is_runtime_exception};
use crate::gateway::Gateway;
use crate::media::Format;
use crate::model;
use crate::model::table_info::TableInfo;
use crate::request::Request;
use crate::response::Response;

pub(crate) fn get(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let info = match table_info(gateway, table) {
        Ok(Some(info)) => info,
        Ok(None) => return Ok(Response::not_found()),
        Err(error) if is_runtime_exception(&error) => return Err(Failure::UNEXPECTED),
        Err(error) => return Err(error.into()),
    };
    Ok(model::answer(&info, format).without_caching())
}

fn table_info(gateway: &Gateway, name: &str) -> hblite::Result<Option<TableInfo>> {
    let admin = gateway.admin();
    if !admin.table_exists(name)? {
        return Ok(None);
    }
    let mut regions = Vec::new();
    for region in admin.regions(name)? {
        let location = gateway.location_of(&region)?;
        regions.push((region, location));
    }
    let name = gateway.table(name)?.name().to_string();
    Ok(Some(TableInfo { name, regions }))
}
