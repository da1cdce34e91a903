//! Namespaces of an open store.

use hblite_model::{NamespaceDescriptor, Result, TableName};

use super::Engine;

/// Namespaces.
impl Engine {
    /// Creates a namespace.
    pub fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.catalog.create_namespace(namespace)
    }

    /// Replaces the properties of a namespace.
    pub fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.catalog.modify_namespace(namespace)
    }

    /// Deletes a namespace without tables.
    pub fn drop_namespace(&self, name: &str) -> Result<()> {
        self.catalog.drop_namespace(name)
    }

    /// A namespace.
    pub fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.catalog.namespace(name)
    }

    /// Namespaces in order of their names.
    pub fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        Ok(self.catalog.namespaces())
    }

    /// Tables of a namespace.
    pub fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.catalog.namespace_tables(name)
    }
}
