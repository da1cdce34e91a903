//! Attributes of reads and writes: bytes by name, for what watches them in a cluster's servers.

use std::collections::BTreeMap;

use super::PermissionAction;
use crate::protobuf::MessageWriter;

/// HBase's names.
const LABELS: &str = "VISIBILITY";
const PERMISSIONS: &str = "acl";
/// `Permission.Type.Global`.
const GLOBAL: u64 = 1;

/// Attributes by name. Few operations have one, and an empty map allocates nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes(BTreeMap<String, Vec<u8>>);

impl Attributes {
    pub(super) fn set(&mut self, name: &str, value: Vec<u8>) {
        self.0.insert(name.to_owned(), value);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// `CellVisibility { expression: 1 }`
    pub(super) fn set_expression(&mut self, expression: &str) {
        self.set(LABELS, MessageWriter::new().bytes(1, expression).finish());
    }

    /// `Authorizations { label: 1, repeated }`
    pub(super) fn set_labels<'a>(&mut self, labels: impl IntoIterator<Item = &'a str>) {
        let message =
            labels.into_iter().fold(MessageWriter::new(), |all, label| all.bytes(1, label));
        self.set(LABELS, message.finish());
    }

    /// `UsersAndPermissions { user_permissions: 1, repeated }`, each of
    /// `UserPermissions { user: 1, permissions: 2 }`
    pub(super) fn set_permissions<'a>(
        &mut self,
        users: impl IntoIterator<Item = (&'a str, &'a [PermissionAction])>,
    ) {
        let mut all = MessageWriter::new();
        for (user, actions) in users {
            let numbers = actions.iter().map(|action| *action as u64);
            let global = numbers.fold(MessageWriter::new(), |all, number| all.number(1, number));
            let permission = MessageWriter::new().number(1, GLOBAL).bytes(2, global.finish());
            let of_user = MessageWriter::new().bytes(1, user).bytes(2, permission.finish());
            all = all.bytes(1, of_user.finish());
        }
        self.set(PERMISSIONS, all.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_hbases() {
        let mut attributes = Attributes::default();
        assert_eq!(attributes.iter().count(), 0);
        attributes.set_expression("A|B");
        assert_eq!(attributes.iter().next(), Some((LABELS, &b"\x0a\x03A|B"[..])));
        attributes.set_labels(["A", "B"]);
        assert_eq!(attributes.iter().next(), Some((LABELS, &b"\x0a\x01A\x0a\x01B"[..])));
        attributes.set_permissions([("u", &[PermissionAction::Read, PermissionAction::Write][..])]);
        let message = b"\x0a\x0d\x0a\x01u\x12\x08\x08\x01\x12\x04\x08\x00\x08\x01";
        assert_eq!(attributes.iter().last(), Some((PERMISSIONS, &message[..])));
    }
}
