//! Snapshots.

use std::time::Duration;

use hblite_env::{Clock as _, SystemClock};
use hblite_model::name::check_snapshot_name;
use hblite_model::{
    Error, Exception, FailSafeSnapshot, Result, SnapshotDescription, SnapshotKind, SnapshotOptions,
    SnapshotRights, TableName, TableState,
};
use hblite_wire::pb;

use super::Admin;
use super::procedure::Polling;

impl Admin {
    /// Takes a snapshot of a table.
    pub async fn snapshot(
        &self,
        name: &str,
        table: &TableName,
        options: &SnapshotOptions,
    ) -> Result<()> {
        check_snapshot_name(name)?;
        let kind = match self.state_of(table).await? {
            Some(TableState::Disabled) => SnapshotKind::Disabled,
            _ if options.skip_flush => SnapshotKind::SkipFlush,
            _ => SnapshotKind::Flush,
        };
        let snapshot = pb::SnapshotDescription {
            name: name.to_owned(),
            table: Some(table.to_string()),
            r#type: Some(kind as i32),
            ttl: options.time_to_live_seconds().and_then(|seconds| i64::try_from(seconds).ok()),
            max_file_size: options.max_file_size_bytes.and_then(|size| i64::try_from(size).ok()),
            ..pb::SnapshotDescription::default()
        };
        let (nonce_group, nonce) = self.nonce();
        let request = pb::SnapshotRequest { snapshot: snapshot.clone(), nonce_group, nonce };
        let answer: pb::SnapshotResponse = self.call("Snapshot", &request).await?;
        if let Some(id) = answer.proc_id {
            return self.wait_for_procedure("Snapshot", id).await.map(drop);
        }
        // Masters before 2.6 are polled by name.
        let request = pb::IsSnapshotDoneRequest { snapshot: Some(snapshot) };
        let mut polling = Polling::new(self.shared.settings.operation_timeout);
        loop {
            let answer: pb::IsSnapshotDoneResponse = self.call("IsSnapshotDone", &request).await?;
            if answer.done == Some(true) {
                return Ok(());
            }
            polling.next(&format!("the snapshot {name}")).await?;
        }
    }

    /// Snapshots in order of their names.
    pub async fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        let answer: pb::SnapshotListResponse =
            self.call("GetCompletedSnapshots", &pb::Empty {}).await?;
        let mut found = answer.snapshots.into_iter().map(described).collect::<Result<Vec<_>>>()?;
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
    }

    async fn find(&self, name: &str) -> Result<SnapshotDescription> {
        let mut found = self.list_snapshots().await?.into_iter();
        found.find(|snapshot| snapshot.name == name).ok_or_else(|| {
            let message = format!("Snapshot '{name}' doesn't exist on the filesystem");
            Error::new(Exception::SnapshotDoesNotExist, message)
        })
    }

    /// Creates a table with the contents of a snapshot.
    pub async fn clone_snapshot(
        &self,
        name: &str,
        table: &TableName,
        rights: SnapshotRights,
    ) -> Result<()> {
        if self.table_exists(table).await? {
            return Err(Error::new(Exception::TableExists, table.to_string()));
        }
        self.restore_to(name, table, rights).await
    }

    /// Restores the snapshot's table, which must be disabled. With a fail-safe snapshot, the table
    /// is unchanged if that fails.
    pub async fn restore_snapshot(
        &self,
        name: &str,
        fail_safe: FailSafeSnapshot,
        rights: SnapshotRights,
    ) -> Result<()> {
        let table = self.find(name).await?.table;
        let kept = match (self.state_of(&table).await?, fail_safe) {
            (Some(TableState::Enabled), _) => {
                return Err(Error::new(Exception::TableNotDisabled, table.to_string()));
            }
            (Some(_), FailSafeSnapshot::Take) => {
                let kept = format!("hbase-failsafe-{name}-{}", SystemClock.now_millis());
                self.snapshot(&kept, &table, &SnapshotOptions::default()).await?;
                Some(kept)
            }
            _ => None,
        };
        let restored = self.restore_to(name, &table, rights).await;
        self.shared.locator.forget(&table);
        if let Some(kept) = kept {
            if restored.is_err() {
                self.restore_to(&kept, &table, rights).await?;
            }
            self.delete_snapshot(&kept).await?;
        }
        restored
    }

    async fn restore_to(
        &self,
        name: &str,
        table: &TableName,
        rights: SnapshotRights,
    ) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let snapshot = pb::SnapshotDescription {
            name: name.to_owned(),
            table: Some(table.to_string()),
            ..pb::SnapshotDescription::default()
        };
        let request = pb::RestoreSnapshotRequest {
            snapshot,
            nonce_group,
            nonce,
            restore_acl: Some(rights == SnapshotRights::Restore),
            ..Default::default()
        };
        self.change("RestoreSnapshot", &request).await
    }

    /// Deletes a snapshot.
    pub async fn delete_snapshot(&self, name: &str) -> Result<()> {
        let snapshot =
            pb::SnapshotDescription { name: name.to_owned(), ..pb::SnapshotDescription::default() };
        let _: pb::Empty =
            self.call("DeleteSnapshot", &pb::DeleteSnapshotRequest { snapshot }).await?;
        Ok(())
    }
}

fn described(snapshot: pb::SnapshotDescription) -> Result<SnapshotDescription> {
    let kind = usize::try_from(snapshot.r#type.unwrap_or(1)).ok();
    Ok(SnapshotDescription {
        table: snapshot.table.unwrap_or_default().parse()?,
        name: snapshot.name,
        created_at_ms: snapshot.creation_time.unwrap_or(0),
        kind: kind.and_then(|kind| SnapshotKind::ALL.get(kind).copied()).unwrap_or_default(),
        time_to_live: snapshot
            .ttl
            .and_then(|seconds| u64::try_from(seconds).ok())
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs),
        max_file_size_bytes: snapshot
            .max_file_size
            .and_then(|size| u64::try_from(size).ok())
            .filter(|size| *size > 0),
    })
}
