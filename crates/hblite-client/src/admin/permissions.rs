//! Permissions of users.

use hblite_model::{
    Error, PermissionAction, PermissionPlace, PermissionWork, Result, UserPermission,
};
use hblite_wire::{convert, pb};

use super::Admin;

/// `Permission.Type`.
const GLOBAL: i32 = 1;
const NAMESPACE: i32 = 2;
const TABLE: i32 = 3;

impl Admin {
    /// Grants or revokes permissions.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the cluster has no permissions.
    pub async fn change_permission(&self, work: &PermissionWork) -> Result<()> {
        match work {
            PermissionWork::Grant(permission) => {
                let request = pb::GrantRequest {
                    user_permission: message(permission),
                    merge_existing_permissions: Some(true),
                };
                let _: pb::Empty = self.call("Grant", &request).await?;
            }
            PermissionWork::Revoke(permission) => {
                let request = pb::RevokeRequest { user_permission: message(permission) };
                let _: pb::Empty = self.call("Revoke", &request).await?;
            }
        }
        Ok(())
    }

    /// The permissions of users somewhere.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the cluster has no permissions.
    pub async fn user_permissions(&self, place: &PermissionPlace) -> Result<Vec<UserPermission>> {
        let mut request = pb::GetUserPermissionsRequest::default();
        request.r#type = Some(match place {
            PermissionPlace::Global => GLOBAL,
            PermissionPlace::Namespace(name) => {
                request.namespace_name = Some(name.clone().into());
                NAMESPACE
            }
            PermissionPlace::Table { table, .. } => {
                request.table_name = Some(convert::table_name(table));
                TABLE
            }
        });
        let answer: pb::GetUserPermissionsResponse =
            self.call("GetUserPermissions", &request).await?;
        answer.user_permission.iter().map(permission_from).collect()
    }
}

fn message(permission: &UserPermission) -> pb::UserPermission {
    let number = |action: &PermissionAction| {
        PermissionAction::ALL.iter().position(|one| one == action).unwrap_or(0) as i32
    };
    let action = permission.actions.iter().map(number).collect();
    let mut what = pb::Permission::default();
    match &permission.place {
        PermissionPlace::Global => {
            what.r#type = GLOBAL;
            what.global_permission = Some(pb::GlobalPermission { action });
        }
        PermissionPlace::Namespace(name) => {
            what.r#type = NAMESPACE;
            let namespace_name = Some(name.clone().into());
            what.namespace_permission = Some(pb::NamespacePermission { namespace_name, action });
        }
        PermissionPlace::Table { table, family, qualifier } => {
            what.r#type = TABLE;
            what.table_permission = Some(pb::TablePermission {
                table_name: Some(convert::table_name(table)),
                family: family.clone().map(Into::into),
                qualifier: qualifier.clone().map(Into::into),
                action,
            });
        }
    }
    pb::UserPermission { user: permission.user.clone().into(), permission: what }
}

fn permission_from(message: &pb::UserPermission) -> Result<UserPermission> {
    let what = &message.permission;
    let (place, actions) = match what {
        pb::Permission { table_permission: Some(table), .. } => {
            let name = table.table_name.as_ref().ok_or_else(|| {
                Error::do_not_retry("a permission for a table does not name the table")
            })?;
            let place = PermissionPlace::Table {
                table: convert::table_name_from(name)?,
                family: table.family.as_ref().map(|family| family.to_vec()),
                qualifier: table.qualifier.as_ref().map(|qualifier| qualifier.to_vec()),
            };
            (place, &table.action)
        }
        pb::Permission { namespace_permission: Some(namespace), .. } => {
            let name = namespace.namespace_name.as_deref().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            (PermissionPlace::Namespace(name), &namespace.action)
        }
        pb::Permission { global_permission: Some(global), .. } => {
            (PermissionPlace::Global, &global.action)
        }
        _ => return Err(Error::do_not_retry("a permission does not say where it applies")),
    };
    let action = |number: &i32| PermissionAction::ALL.get(usize::try_from(*number).ok()?).copied();
    let mut actions: Vec<_> = actions.iter().filter_map(action).collect();
    actions.sort_unstable();
    let user = String::from_utf8_lossy(&message.user).into_owned();
    Ok(UserPermission { user, place, actions })
}
