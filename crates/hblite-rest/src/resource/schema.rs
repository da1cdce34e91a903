//! `/TABLE/schema`: a table's settings. PUT replaces them or creates the table, POST adds and
//! alters families, DELETE drops the table.

use hblite::{Admin, Exception, TableName};
use hblite_wire::memory::table_request_bytes;
use hyper::{Method, StatusCode};

use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::media::Format;
use crate::model;
use crate::model::FromBody as _;
use crate::model::table_schema::TableSchema;
use crate::request::Request;
use crate::response::Response;

/// The attribute that selects how store files are tracked.
const FILE_TRACKER: &str = "hbase.store.file-tracker.impl";

pub(crate) fn answer(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    match request.method {
        Method::PUT | Method::POST => update(gateway, request, table),
        Method::DELETE => delete(gateway, table),
        _ => get(gateway, request, table),
    }
}

fn get(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    let format = Format::accepted(request, Format::DESCRIPTIONS)?;
    let schema = TableSchema::of(&gateway.table(table)?.descriptor()?);
    Ok(model::answer(&schema, format).without_caching())
}

fn update(gateway: &Gateway, request: &Request, table: &str) -> Answer {
    let schema = TableSchema::read_needed(request)?;
    if !request.memory.try_take(table_request_bytes(schema.columns.len(), 0)) {
        return Err(Failure::out_of_memory());
    }
    let admin = gateway.admin();
    let name: TableName = table.parse()?;
    let exists = admin.table_exists(&name)?;
    gateway.check_writable()?;
    if request.method == Method::PUT || !exists {
        replace(&admin, &schema, name, exists)?;
        return Ok(Response::created(&request.url()));
    }
    alter_families(&admin, &schema, &name)?;
    Ok(Response::ok())
}

fn replace(
    admin: &Admin,
    schema: &TableSchema,
    name: TableName,
    exists: bool,
) -> Result<(), Failure> {
    let mut table = schema.descriptor(name)?;
    if exists {
        // It is set when a table is created, and not kept when its settings are replaced.
        if schema.attribute(FILE_TRACKER).is_none() {
            table.remove_attribute(FILE_TRACKER);
        }
        admin.disable_table(table.name())?;
        admin.modify_table(&table)?;
        return Ok(admin.enable_table(table.name())?);
    }
    match admin.create_table(&table) {
        Err(error) if error.exception() == Exception::TableExists => {
            Err(Failure::text(StatusCode::NOT_MODIFIED, "Not modified\r\n"))
        }
        created => Ok(created?),
    }
}

/// As in HBase, the table is disabled during the change, and enabled again even if a family is
/// refused.
fn alter_families(admin: &Admin, schema: &TableSchema, name: &TableName) -> Result<(), Failure> {
    let table = admin.describe_table(name)?;
    let families: Vec<_> =
        schema.columns.iter().map(|column| column.descriptor()).collect::<Result<_, _>>()?;
    admin.disable_table(name)?;
    let altered = families.iter().try_for_each(|family| match table.has_family(family.name()) {
        true => admin.modify_family(name, family),
        false => admin.add_family(name, family),
    });
    admin.enable_table(name)?;
    altered.map_err(|_| Failure::text(StatusCode::SERVICE_UNAVAILABLE, "Unavailable\r\n"))
}

fn delete(gateway: &Gateway, table: &str) -> Answer {
    gateway.check_writable()?;
    let admin = gateway.admin();
    match admin.disable_table(table) {
        Err(error) if error.exception() == Exception::TableNotEnabled => {}
        disabled => disabled?,
    }
    admin.delete_table(table)?;
    Ok(Response::ok())
}
