//! Refuses store files whose values are elsewhere.
//!
//! HBase keeps the large values of a family with medium objects (`IS_MOB`) in files of their own,
//! below `mobdir`. Such a value is, in the store file, the name of that file. `MOB_FILE_REFS` in
//! the file info lists these names; it is a zero byte if the file has none. The list stays when the
//! setting is taken back, so it is the list that decides.
//!
//! Source: HBase's `MobUtils`, `DefaultMobStoreCompactor`. Threads: any.

use std::path::Path;

use hblite_hfile::{HFileReader, file_info};
use hblite_model::{Error, Exception, Result};

/// What HBase writes as the list if it is empty (`HStoreFile.NULL_VALUE`).
const NO_REFERENCES: &[u8] = &[0];

/// Refuses a file with references to medium objects.
///
/// # Errors
/// `UnsupportedOperation` that names the file.
pub(super) fn refuse(reader: &HFileReader, path: &Path) -> Result<()> {
    match reader.file_info(file_info::MOB_FILE_REFS) {
        None | Some(NO_REFERENCES) => Ok(()),
        Some(_) => {
            let message = format!(
                "{}: hblite cannot read medium objects (MOB), to which this file refers. In \
                 HBase, set MOB_THRESHOLD of the family to 2147483647 and IS_MOB to true, run \
                 major_compact, and then set IS_MOB to false",
                path.display()
            );
            Err(Error::new(Exception::UnsupportedOperation, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::StdFileSystem;
    use hblite_model::CellComparator;

    use super::super::foreign_file::ForeignFile;
    use super::super::store_file::StoreFile;
    use super::*;
    use crate::layout::Layout;

    const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/hbase-mob");
    const WITH_REFERENCES: &str = "23aadd1d83894180bef95747006dae9b";
    const WITH_VALUES: &str = "f74b9eb592ab43fd94ee378e209669af";

    #[test]
    fn references_of_hbase_are_refused_and_files_with_the_values_are_read() {
        let (fs, layout) = (StdFileSystem, Layout::new(Path::new(FIXTURES)));
        let open = |name: &str| StoreFile::open_with(&fs, &layout, None, &layout.root().join(name));
        let error = open(WITH_REFERENCES).unwrap_err();
        assert_eq!(error.exception(), Exception::UnsupportedOperation);
        assert!(error.message().contains(WITH_REFERENCES), "{error}");
        assert_eq!(open(WITH_VALUES).unwrap().reader().entries(), 10);
        let load = |name: &str| {
            let path = layout.root().join(name);
            ForeignFile::open(&fs, &path, b"f", CellComparator::Default).map(drop)
        };
        let error = load(WITH_REFERENCES).unwrap_err();
        assert_eq!(error.exception(), Exception::UnsupportedOperation);
        load(WITH_VALUES).unwrap();
    }
}
