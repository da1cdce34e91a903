//! Creates, alters and drops namespaces.
//!
//! 1. check
//! 2. create: make the directory; if it is left after a crash, it is harmless
//! 3. commit: the row in hbase:namespace
//! 4. publish
//! 5. drop: remove the directory if it is empty; a directory that stays is reused by the next
//!    namespace of the same name

use hblite_model::name::{DEFAULT_NAMESPACE, SYSTEM_NAMESPACE, check_namespace_name};
use hblite_model::{Error, Exception, NamespaceDescriptor, Result};

use super::procedures::begin_procedure;
use super::{Catalog, Procedures};
use crate::files::make_dir;

/// Quotas must be above 0, although hblite does not enforce them.
const QUOTAS: [(&str, &str); 2] =
    [("hbase.namespace.quota.maxregions", "region"), ("hbase.namespace.quota.maxtables", "tables")];

impl Procedures<'_> {
    /// Creates a namespace.
    ///
    /// # Errors
    /// `Io` with the rule that the name breaks, `NamespaceExist`, `Constraint`.
    pub fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        let catalog = self.0;
        // HBase's master detects a bad name, and the client gets its message as a plain
        // IOException.
        check_namespace_name(&namespace.name)
            .map_err(|error| Error::invalid_argument(Exception::Io, error.message()))?;
        let _procedure = begin_procedure(catalog)?;
        if catalog.namespaces.read().contains_key(&namespace.name) {
            let message = format!("Namespace {} already exists", namespace.name);
            return Err(Error::new(Exception::NamespaceExist, message));
        }
        check_quotas(namespace)?;
        let dir = catalog.context.layout.namespace_dir(&namespace.name);
        make_dir(catalog.context.env.fs.as_ref(), &dir)?;
        put_namespace(catalog, namespace)
    }

    /// Replaces the properties of a namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`, `Constraint`.
    pub fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        catalog.namespace(&namespace.name)?;
        check_quotas(namespace)?;
        put_namespace(catalog, namespace)
    }

    /// Deletes a namespace without tables.
    ///
    /// # Errors
    /// `NamespaceNotFound`, `Constraint`.
    pub fn drop_namespace(&self, name: &str) -> Result<()> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        catalog.namespace(name)?;
        let constraint = |message: String| Err(Error::new(Exception::Constraint, message));
        if name == DEFAULT_NAMESPACE || name == SYSTEM_NAMESPACE {
            return constraint(format!("Reserved namespace {name} cannot be removed."));
        }
        let count = catalog.namespace_tables(name)?.len();
        if count > 0 {
            return constraint(format!(
                "Only empty namespaces can be removed. Namespace {name} has {count} tables"
            ));
        }
        catalog.meta.delete_namespace(name)?;
        catalog.namespaces.write().remove(name);
        let layout = &catalog.context.layout;
        // If it stays, the next namespace of the same name reuses it.
        let _ =
            layout.remove_if_empty(catalog.context.env.fs.as_ref(), &layout.namespace_dir(name));
        Ok(())
    }
}

fn put_namespace(catalog: &Catalog, namespace: &NamespaceDescriptor) -> Result<()> {
    catalog.meta.put_namespace(namespace)?;
    catalog.namespaces.write().insert(namespace.name.clone(), namespace.clone());
    Ok(())
}

/// As `TableNamespaceManager.validateTableAndRegionCount`.
fn check_quotas(namespace: &NamespaceDescriptor) -> Result<()> {
    for (property, what) in QUOTAS {
        let Some(quota) = namespace.properties.get(property).filter(|text| !text.is_empty()) else {
            continue;
        };
        let Ok(quota) = quota.parse::<i64>() else {
            let what = if what == "region" { "regions" } else { what };
            return Err(Error::do_not_retry(format!(
                "NumberFormatException while getting max {what}."
            )));
        };
        if quota <= 0 {
            let name = &namespace.name;
            return Err(Error::new(
                Exception::Constraint,
                format!("The max {what} quota for {name} is less than or equal to zero."),
            ));
        }
    }
    Ok(())
}
