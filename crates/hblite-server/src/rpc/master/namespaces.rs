//! Namespaces.

use hblite_model::TableName;
use hblite_wire::{RemoteException, convert, pb};

use super::{Method, nonce, procedure};
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "CreateNamespace" => |c, call| change(c, call, true),
        "ModifyNamespace" => |c, call| change(c, call, false),
        "DeleteNamespace" => delete,
        "GetNamespaceDescriptor" => describe,
        "ListNamespaces" => list,
        "ListNamespaceDescriptors" => list_descriptors,
        "ListTableNamesByNamespace" => list_tables,
        "ListTableDescriptorsByNamespace" => describe_tables,
        _ => return None,
    })
}

fn change(cluster: &Cluster, call: &Call<'_>, is_new: bool) -> Answer {
    let request: pb::NamespaceRequest = call.parameter()?;
    let namespace = convert::namespace_from(&request.namespace_descriptor);
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || match is_new {
        true => cluster.engine.procedures().create_namespace(&namespace),
        false => cluster.engine.procedures().modify_namespace(&namespace),
    })
}

fn delete(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::NamespaceNameRequest = call.parameter()?;
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().drop_namespace(&request.namespace_name)
    })
}

fn describe(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::NamespaceNameRequest = call.parameter()?;
    let namespace = cluster.engine.catalog().namespace(&request.namespace_name)?;
    let namespace_descriptor = convert::namespace(&namespace);
    call.answer(&pb::GetNamespaceDescriptorResponse { namespace_descriptor })
}

fn list(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let namespaces = cluster.engine.catalog().namespaces();
    let namespace_name = namespaces.into_iter().map(|namespace| namespace.name).collect();
    call.answer(&pb::ListNamespacesResponse { namespace_name })
}

fn list_descriptors(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let namespaces = cluster.engine.catalog().namespaces();
    let namespace_descriptor = namespaces.iter().map(convert::namespace).collect();
    call.answer(&pb::ListNamespaceDescriptorsResponse { namespace_descriptor })
}

fn tables_of(cluster: &Cluster, call: &Call<'_>) -> Result<Vec<TableName>, RemoteException> {
    let request: pb::NamespaceNameRequest = call.parameter()?;
    Ok(cluster.engine.catalog().namespace_tables(&request.namespace_name)?)
}

fn list_tables(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let table_names = tables_of(cluster, call)?.iter().map(convert::table_name).collect();
    call.answer(&pb::TableNamesResponse { table_names })
}

fn describe_tables(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let tables = tables_of(cluster, call)?;
    // A namespace that was just dropped is left out.
    let tables = tables.iter().filter_map(|table| cluster.engine.catalog().descriptor(table).ok());
    let table_schema = tables.map(|table| convert::table_schema(&table)).collect();
    call.answer(&pb::TableDescriptorsResponse { table_schema })
}
