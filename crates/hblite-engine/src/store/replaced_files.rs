//! Which files a compacted file replaces, as recorded in it (`COMPACTION_EVENT_KEY`).

use hblite_hfile::file_info::COMPACTION_EVENT;
use hblite_model::protobuf;

use super::store_file::StoreFile;

const COMPACTED_FILE_FIELD: u32 = 1;

/// Names of the files that a file says it replaces.
pub(crate) fn replaced_files(file: &StoreFile) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(event) = file.reader().file_info(COMPACTION_EVENT) {
        // A list that cannot be read names nothing: both generations stay, which is safe.
        let _ = protobuf::read_message(protobuf::strip_magic(event), |field, value| {
            if field == COMPACTED_FILE_FIELD {
                names.push(value.as_text());
            }
            Ok(())
        });
    }
    names
}
