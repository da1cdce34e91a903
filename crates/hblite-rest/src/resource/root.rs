//! `/`: the names of all tables.

use hblite::SystemTables;

use crate::failure::Answer;
use crate::gateway::Gateway;
use crate::media::Format;
use crate::model;
use crate::model::table_list::TableList;
use crate::request::Request;

pub(crate) fn get(gateway: &Gateway, request: &Request) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let tables = gateway.admin().list_tables(SystemTables::Exclude)?;
    let names = tables.iter().map(|table| table.name().to_string()).collect();
    Ok(model::answer(&TableList(names), format).without_caching())
}
