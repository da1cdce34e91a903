//! Bulk load: a client names HFiles that both it and the server can read, and each region loads its
//! own.
//!
//! HBase first puts the files into a staging directory, which the client requests and has removed.
//! Here a region stages them itself, so the token has no meaning, and there is nothing to remove.
//! Files are copied, as HBase does on a local file system: the originals stay.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_engine::BulkLoadRequest;
use hblite_env::StdFileSystem;
use hblite_model::{BulkLoadOptions, Error, Exception, Result};
use hblite_wire::{convert, pb};

use super::writable;
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

/// The scheme of the paths that a server can open.
const SCHEME: &str = "file:";

pub(super) fn prepare(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::PrepareBulkLoadRequest = call.parameter()?;
    if let Some(specifier) = &request.region {
        writable(cluster, call, specifier)?;
    }
    let table = convert::table_name_from(&request.table_name)?;
    let (namespace, qualifier) = (table.namespace(), table.qualifier());
    let time = cluster.engine.now_millis();
    let bulk_token = format!("{SCHEME}/hblite/staging/{namespace}__{qualifier}__{time}");
    call.answer(&pb::PrepareBulkLoadResponse { bulk_token })
}

pub(super) fn clean_up(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::CleanupBulkLoadRequest = call.parameter()?;
    if let Some(specifier) = &request.region {
        writable(cluster, call, specifier)?;
    }
    call.answer_empty()
}

pub(super) fn load(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::BulkLoadHFileRequest = call.parameter()?;
    // The files originate from this cluster, through replication.
    if request.cluster_ids.contains(&cluster.id) {
        return call.answer(&pb::BulkLoadHFileResponse { loaded: true });
    }
    let region = writable(cluster, call, &request.region)?;
    let paths = request.family_path.iter();
    let files: Vec<(Vec<u8>, PathBuf)> = paths
        .map(|file| Ok((file.family.to_vec(), local_file(&file.path)?)))
        .collect::<Result<_>>()?;
    let options =
        BulkLoadOptions::default().with_assign_sequence_id(request.assign_seq_num.unwrap_or(false));
    let load = BulkLoadRequest { options, source: Some(Arc::new(StdFileSystem)) };
    let name = region.info().encoded_name();
    let loaded = cluster.engine.procedures().bulk_load_region(name, &files, &load)?;
    call.answer(&pb::BulkLoadHFileResponse { loaded })
}

/// The file that a Hadoop path names: such a path is not escaped.
fn local_file(text: &str) -> Result<PathBuf> {
    let path = text.strip_prefix(SCHEME).unwrap_or(text);
    // file:///path is the same as file:/path.
    let path = Path::new(path.strip_prefix("//").unwrap_or(path));
    if !path.is_absolute() {
        let message = format!("hblite loads files by absolute local paths, not from {text}");
        return Err(Error::do_not_retry(message));
    }
    // Anything other than a regular file might never end.
    if !path.is_file() {
        let message = format!("Path does not reference a file: {text}");
        return Err(Error::new(Exception::Io, message).with_kind(hblite_model::ErrorKind::NotFound));
    }
    Ok(path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_hadoop() {
        let file = std::env::current_exe().unwrap();
        let path = file.to_str().unwrap();
        for text in [path.to_owned(), format!("file:{path}"), format!("file://{path}")] {
            assert_eq!(local_file(&text).unwrap(), file, "{text}");
        }
        for text in ["hdfs://host:8020/f", "f/1", "", "file:", "file:f", "file://host/f"] {
            let error = local_file(text).unwrap_err();
            assert_eq!(error.exception(), Exception::DoNotRetryIo, "{text}");
        }
        for text in ["/dev/null", "/", "/no/such/file"] {
            assert_eq!(local_file(text).unwrap_err().exception(), Exception::Io, "{text}");
        }
    }
}
