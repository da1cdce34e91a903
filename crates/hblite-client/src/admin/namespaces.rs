//! Namespaces.

use hblite_model::{NamespaceDescriptor, Result, TableName};
use hblite_wire::{convert, pb};

use super::Admin;

impl Admin {
    /// Creates a namespace.
    pub async fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.change("CreateNamespace", &self.request(namespace)).await
    }

    /// Replaces the properties of a namespace.
    pub async fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.change("ModifyNamespace", &self.request(namespace)).await
    }

    fn request(&self, namespace: &NamespaceDescriptor) -> pb::NamespaceRequest {
        let (nonce_group, nonce) = self.nonce();
        let namespace_descriptor = convert::namespace(namespace);
        pb::NamespaceRequest { namespace_descriptor, nonce_group, nonce }
    }

    /// Deletes a namespace without tables.
    pub async fn delete_namespace(&self, name: &str) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_name = name.to_owned();
        let request = pb::NamespaceNameRequest { namespace_name, nonce_group, nonce };
        self.change("DeleteNamespace", &request).await
    }

    /// The properties of a namespace.
    pub async fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        let answer: pb::GetNamespaceDescriptorResponse =
            self.call("GetNamespaceDescriptor", &named(name)).await?;
        Ok(convert::namespace_from(&answer.namespace_descriptor))
    }

    /// Namespaces in order of their names.
    pub async fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        let answer: pb::ListNamespaceDescriptorsResponse =
            self.call("ListNamespaceDescriptors", &pb::Empty {}).await?;
        let mut found: Vec<NamespaceDescriptor> =
            answer.namespace_descriptor.iter().map(convert::namespace_from).collect();
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
    }

    /// Tables of a namespace.
    pub async fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        let answer: pb::TableNamesResponse =
            self.call("ListTableNamesByNamespace", &named(name)).await?;
        answer.table_names.iter().map(convert::table_name_from).collect()
    }
}

fn named(name: &str) -> pb::NamespaceNameRequest {
    pb::NamespaceNameRequest { namespace_name: name.to_owned(), nonce_group: None, nonce: None }
}
