//! A table's descriptor on disk.
//!
//! ```text
//! .tabledesc/.tableinfo.0000000007.321     number 7, 321 bytes long; no length before HBase 2.5
//! "PBUF" TableSchema {
//!   1 table_name      { 1 namespace, 2 qualifier }
//!   2 attributes      { 1 key, 2 value }*               IS_META among them
//!   3 column_families { 1 name, 2 attributes { 1 key, 2 value }*, 3 configuration { 1, 2 }* }*
//!   4 configuration   { 1 key, 2 value }*               of old files: attributes as well
//!   104730 number     that in the file's name           not in files of HBase
//! } | seal                                              see `sealed.rs`
//! ```
//!
//! The number in the content shows that a file holds an older descriptor of the same length.
//!
//! The file with the highest number is in effect. A new descriptor is a new file; the old ones are
//! removed after it is durable. A file whose length differs from the one in its name was never
//! finished and does not count (`FSTableDescriptors`).

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::protobuf::{self, FieldValue, MessageWriter};
use hblite_model::{ColumnFamilyDescriptor, Error, Exception, Result, TableDescriptor, TableName};

use crate::files::{self, sync_dir};
use crate::sealed::{self, Seal};

const FILE_PREFIX: &str = ".tableinfo.";
const NUMBER_DIGITS: usize = 10;
/// What to do about a descriptor that is damaged.
const REMEDY: &str = "restore the table's .tabledesc directory from a backup";

/// The field with the number. HBase skips it, as it skips the seal.
const NUMBER_FIELD: u32 = 104_730;

/// The attribute that distinguishes hbase:meta from other tables; every table has it on disk.
const IS_META: &str = "IS_META";

/// How durable a new descriptor is when [`write`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Safety {
    /// It survives a power cut, if the directory itself does.
    Durable,
    /// It survives a kill. For tables whose descriptor is built in, or before a [`sync`].
    Written,
}

/// Writes `table` as the newest descriptor in `dir`, which exists, and removes older ones.
///
/// # Errors
/// `Io`: the previous descriptor stays in effect. `RegionServerStopped` if that cannot be ensured:
/// the next open decides which one is in effect.
pub(super) fn write(
    fs: &dyn FileSystem,
    dir: &Path,
    table: &TableDescriptor,
    safety: Safety,
) -> Result<()> {
    let io = |error| Error::io("cannot write table descriptor in", dir, error);
    let older = list(fs, dir)?;
    let number = older.first().map_or(1, |file| file.number.saturating_add(1));
    let content = sealed::seal_with_magic(encode(table).number(NUMBER_FIELD, number));
    let path = dir.join(format!("{FILE_PREFIX}{number:0NUMBER_DIGITS$}.{}", content.len()));
    let written = match safety {
        Safety::Durable if older.is_empty() => write_first(fs, dir, &path, &content),
        Safety::Durable => fs.write_atomically(&path, &content),
        Safety::Written => fs.create(&path).and_then(|mut file| file.write_all(&content)),
    };
    if let Err(error) = written {
        return Err(match take_back(fs, dir, &path) {
            Ok(()) => io(error),
            Err(_) => unknown_outcome(&path, &error),
        });
    }
    for file in older {
        // The newest is in effect, whatever else is there; the next write tries again.
        let _ = fs.remove_file(&file.path);
    }
    Ok(())
}

/// Writes a file that is not used until this returns, since no other descriptor is in effect. It
/// gets its final name immediately, which file systems make durable together with its content.
fn write_first(
    fs: &dyn FileSystem,
    dir: &Path,
    path: &Path,
    content: &[u8],
) -> std::io::Result<()> {
    let mut file = fs.create(path)?;
    file.write_all(content)?;
    file.sync()?;
    drop(file);
    fs.sync_dir(dir)
}

/// Makes what [`write`] wrote into `dir` survive a power cut, if the directory itself does.
///
/// # Errors
/// `Io`.
pub(super) fn sync(fs: &dyn FileSystem, dir: &Path) -> Result<()> {
    for file in list(fs, dir)? {
        fs.sync_file(&file.path).map_err(|error| Error::io("cannot sync", &file.path, error))?;
    }
    sync_dir(fs, dir)
}

/// Makes sure that a file whose writing failed is removed.
fn take_back(fs: &dyn FileSystem, dir: &Path, path: &Path) -> std::io::Result<()> {
    match fs.remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs.sync_dir(dir),
    }
}

fn unknown_outcome(path: &Path, error: &std::io::Error) -> Error {
    let path = path.display();
    let message = format!("{path} may be in effect or not ({error}); open the store again");
    Error::new(Exception::RegionServerStopped, message)
}

/// The newest descriptor in `dir`, which is that of `table`; `None` if there is none.
///
/// # Errors
/// `Io`; `CorruptHFile` naming the file if the newest is complete but not a descriptor of `table`.
pub(crate) fn read(
    fs: &dyn FileSystem,
    dir: &Path,
    table: &TableName,
) -> Result<Option<TableDescriptor>> {
    for file in list(fs, dir)? {
        let path = &file.path;
        let content = fs.read(path).map_err(|error| Error::io("cannot read", path, error))?;
        if file.length.is_some_and(|length| content.len() as u64 != length) {
            continue;
        }
        return parse(path, &content, table, Some(file.number)).map(Some);
    }
    Ok(None)
}

/// The settings of `table` for a file that is not one of the numbered descriptor files.
pub(crate) fn settings(table: &TableDescriptor) -> Vec<u8> {
    sealed::seal_with_magic(encode(table))
}

/// Decodes what [`settings`] returned for `table`, from the file at `path`.
///
/// # Errors
/// `CorruptHFile` naming the file.
pub(crate) fn parse_settings(
    path: &Path,
    content: &[u8],
    table: &TableName,
) -> Result<TableDescriptor> {
    // Only hblite writes such files. One that was cut off between two fields would lack families.
    if let Ok((_, Seal::Absent)) = sealed::unseal_with_magic(content) {
        return Err(sealed::damaged(path, "its checksum is missing", REMEDY));
    }
    parse(path, content, table, None)
}

/// The descriptor of `table` in the file at `path`, which has this number in its name.
fn parse(
    path: &Path,
    content: &[u8],
    table: &TableName,
    number: Option<u64>,
) -> Result<TableDescriptor> {
    let corrupt = |what: &str| sealed::damaged(path, what, REMEDY);
    let (fields, _) = sealed::unseal_with_magic(content).map_err(corrupt)?;
    let decoded = decode(fields).map_err(|error| corrupt(error.message()))?;
    if decoded.number.is_some() && decoded.number != number {
        return Err(corrupt("it holds an older descriptor of the table"));
    }
    match misfit(&decoded.descriptor, table) {
        None => Ok(decoded.descriptor),
        Some(what) => Err(corrupt(&what)),
    }
}

/// The settings of `table` in a `TableSchema` that HBase or [`encode`] wrote; for other bytes, what
/// is wrong.
pub(super) fn decode_of(
    message: &[u8],
    table: &TableName,
) -> std::result::Result<TableDescriptor, String> {
    let decoded = decode(message).map_err(|error| error.message().to_owned())?;
    misfit(&decoded.descriptor, table).map_or(Ok(decoded.descriptor), Err)
}

/// Why this cannot be the descriptor of `table`; `None` if it can.
fn misfit(descriptor: &TableDescriptor, table: &TableName) -> Option<String> {
    if descriptor.name() != table {
        return Some(format!("it describes table {}", descriptor.name()));
    }
    if descriptor.families().len() == 0 {
        return Some("it has no family".to_owned());
    }
    let error = descriptor.families().find_map(|family| family.check_name().err())?;
    Some(format!("it has an illegal family: {}", error.message()))
}

struct DescriptorFile {
    path: PathBuf,
    number: u64,
    /// HBase 2.4 renames a complete file into place, and its name has no length.
    length: Option<u64>,
}

/// Descriptor files, newest first; none if the directory does not exist.
fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<DescriptorFile>> {
    let entries = files::list(fs, dir)?;
    let mut files: Vec<DescriptorFile> = entries
        .into_iter()
        .filter_map(|entry| {
            let name = entry.name.strip_prefix(FILE_PREFIX)?;
            let (number, length) = match name.split_once('.') {
                Some((number, length)) => (number, Some(length.parse().ok()?)),
                None => (name, None),
            };
            let number = number.parse().ok()?;
            Some(DescriptorFile { path: dir.join(&entry.name), number, length })
        })
        .collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.number));
    Ok(files)
}

fn pair(key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Vec<u8> {
    MessageWriter::new().bytes(1, key).bytes(2, value).finish()
}

/// `TableName` as a message.
pub(super) fn encode_table_name(table: &TableName) -> Vec<u8> {
    pair(table.namespace(), table.qualifier())
}

/// `TableSchema`.
pub(super) fn encode(table: &TableDescriptor) -> MessageWriter {
    let mut message = MessageWriter::new().bytes(1, encode_table_name(table.name()));
    let mut attributes = table.attributes().clone();
    attributes.insert(IS_META.to_owned(), table.name().is_meta().to_string());
    for (key, value) in &attributes {
        message = message.bytes(2, pair(key, value));
    }
    for family in table.families() {
        message = message.bytes(3, encode_family(family));
    }
    message
}

fn encode_family(family: &ColumnFamilyDescriptor) -> Vec<u8> {
    let mut message = MessageWriter::new().bytes(1, family.name());
    for (key, value) in family.attributes() {
        message = message.bytes(2, pair(key, value));
    }
    for (key, value) in family.configuration() {
        message = message.bytes(3, pair(key, value));
    }
    message.finish()
}

/// What a descriptor file says.
struct Decoded {
    descriptor: TableDescriptor,
    /// The number that the file should have in its name.
    number: Option<u64>,
}

fn decode(message: &[u8]) -> Result<Decoded> {
    let (mut name, mut number) = (None, None);
    let mut attributes = BTreeMap::new();
    let mut families = Vec::new();
    protobuf::read_message(message, |field, value| {
        match field {
            1 => name = Some(TableName::from_protobuf(value.as_bytes())?),
            2 | 4 => attributes.extend([decode_pair(value)?]),
            3 => families.push(decode_family(value.as_bytes())?),
            NUMBER_FIELD => number = Some(value.as_number()),
            _ => {}
        }
        Ok(())
    })?;
    let name = name.ok_or_else(|| Error::malformed("a descriptor without a name"))?;
    if !name.is_meta() {
        attributes.remove(IS_META);
    }
    let descriptor = TableDescriptor::from_parts(name, attributes, families);
    Ok(Decoded { descriptor, number })
}

fn decode_family(message: &[u8]) -> Result<ColumnFamilyDescriptor> {
    let mut name = Vec::new();
    let (mut attributes, mut configuration) = (BTreeMap::new(), BTreeMap::new());
    protobuf::read_message(message, |field, value| {
        match field {
            1 => name = value.as_bytes().to_vec(),
            2 => attributes.extend([decode_pair(value)?]),
            3 => configuration.extend([decode_pair(value)?]),
            _ => {}
        }
        Ok(())
    })?;
    Ok(ColumnFamilyDescriptor::from_parts(name, attributes, configuration))
}

/// A key with its value (`BytesBytesPair`, `NameStringPair`).
pub(super) fn decode_pair(value: FieldValue<'_>) -> Result<(String, String)> {
    let (mut first, mut second) = (String::new(), String::new());
    protobuf::read_message(value.as_bytes(), |field, value| {
        match field {
            1 => first = value.as_text(),
            2 => second = value.as_text(),
            _ => {}
        }
        Ok(())
    })?;
    Ok((first, second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hblite_env::{CrashFileSystem, MemFileSystem};

    const DIR: &str = "/t/.tabledesc";

    fn name() -> TableName {
        "ns:t".parse().unwrap()
    }

    fn new_fs() -> MemFileSystem {
        let fs = MemFileSystem::new();
        fs.create_dir_all(Path::new(DIR)).unwrap();
        fs
    }

    fn names(fs: &dyn FileSystem) -> Vec<String> {
        fs.list_dir(Path::new(DIR)).unwrap().into_iter().map(|entry| entry.name).collect()
    }

    fn table() -> TableDescriptor {
        let mut table = TableDescriptor::new(name());
        table.set_attribute("MAX_FILESIZE", "1 GB").unwrap();
        let mut family = ColumnFamilyDescriptor::new(b"\xff\x80").with_versions(5);
        family.set_configuration("key", "value");
        table.set_family(family);
        table.set_family(ColumnFamilyDescriptor::new("f").with_min_versions(3));
        table
    }

    #[test]
    fn bytes_are_hbases() {
        let family = ColumnFamilyDescriptor::from_parts(
            b"f".to_vec(),
            BTreeMap::from([("TTL".to_owned(), "7".to_owned())]),
            BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        );
        let attributes = BTreeMap::from([("A".to_owned(), "b".to_owned())]);
        let table = TableDescriptor::from_parts("n:t".parse().unwrap(), attributes, [family]);
        let expected: &[&[u8]] = &[
            b"PBUF",
            b"\x0a\x06\x0a\x01n\x12\x01t",
            b"\x12\x06\x0a\x01A\x12\x01b",
            b"\x12\x10\x0a\x07IS_META\x12\x05false",
            b"\x1a\x15\x0a\x01f\x12\x08\x0a\x03TTL\x12\x017\x1a\x06\x0a\x01k\x12\x01v",
        ];
        let encoded = encode(&table).finish_with_magic();
        assert_eq!(encoded, expected.concat());
        assert_eq!(decode(protobuf::strip_magic(&encoded)).unwrap().descriptor, table);
        // As in old files: the table's configuration next to its attributes.
        let old = [&encoded[4..], b"\x22\x06\x0a\x01X\x12\x01y"].concat();
        assert_eq!(
            decode(&old).unwrap().descriptor.attributes().get("X").map(String::as_str),
            Some("y")
        );
    }

    #[test]
    fn the_newest_holds_and_the_older_go() {
        let fs = new_fs();
        let dir = Path::new(DIR);
        assert_eq!(read(&fs, Path::new("/nowhere"), &name()).unwrap(), None);
        assert_eq!(read(&fs, dir, &name()).unwrap(), None);
        write(&fs, dir, &table(), Safety::Durable).unwrap();
        assert_eq!(read(&fs, dir, &name()).unwrap(), Some(table()));
        let mut changed = table();
        changed.remove_family(b"f");
        write(&fs, dir, &changed, Safety::Written).unwrap();
        assert_eq!(read(&fs, dir, &name()).unwrap(), Some(changed));
        let names = names(&fs);
        assert_eq!(names.len(), 1);
        assert!(names[0].starts_with(".tableinfo.0000000002."), "{names:?}");
    }

    #[test]
    fn unfinished_files_do_not_count_and_damaged_ones_are_errors() {
        let fs = new_fs();
        let dir = Path::new(DIR);
        write(&fs, dir, &table(), Safety::Durable).unwrap();
        let torn = dir.join(".tableinfo.0000000009.500");
        fs.create(&torn).unwrap().write_all(b"PBUF\x0a").unwrap();
        assert_eq!(read(&fs, dir, &name()).unwrap(), Some(table()));
        let damaged = dir.join(".tableinfo.0000000010.5");
        fs.create(&damaged).unwrap().write_all(b"PBUF\xff").unwrap();
        let error = read(&fs, dir, &name()).unwrap_err();
        assert_eq!((error.exception(), error.file()), (Exception::CorruptHFile, Some(&*damaged)));
    }

    #[test]
    fn a_flipped_bit_or_another_tables_descriptor_is_an_error() {
        let fs = new_fs();
        let dir = Path::new(DIR);
        write(&fs, dir, &table(), Safety::Durable).unwrap();
        let path = dir.join(&names(&fs)[0]);
        let content = fs.read(&path).unwrap();
        let replace = |content: &[u8]| {
            fs.remove_file(&path).unwrap();
            fs.create(&path).unwrap().write_all(content).unwrap();
        };
        for bit in 0..content.len() * 8 {
            let mut damaged = content.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            replace(&damaged);
            match read(&fs, dir, &name()) {
                // A damaged seal.
                Ok(found) => assert_eq!(found, Some(table()), "bit {bit}"),
                Err(error) => assert_eq!(error.file(), Some(&*path), "bit {bit}"),
            }
        }
        replace(&content);
        let error = read(&fs, dir, &"ns:u".parse().unwrap()).unwrap_err();
        assert!(error.message().contains("it describes table ns:t"), "{error}");
    }

    #[test]
    fn an_older_descriptor_under_the_newest_name_is_an_error() {
        let fs = new_fs();
        let dir = Path::new(DIR);
        write(&fs, dir, &table(), Safety::Durable).unwrap();
        let older = fs.read(&dir.join(&names(&fs)[0])).unwrap();
        let mut changed = table();
        changed.set_family(ColumnFamilyDescriptor::new("f").with_min_versions(4));
        write(&fs, dir, &changed, Safety::Durable).unwrap();
        let path = dir.join(&names(&fs)[0]);
        assert_eq!(fs.read(&path).unwrap().len(), older.len());
        fs.remove_file(&path).unwrap();
        fs.create(&path).unwrap().write_all(&older).unwrap();
        let error = read(&fs, dir, &name()).unwrap_err();
        assert_eq!(error.file(), Some(&*path));
        assert!(error.message().contains("an older descriptor"), "{error}");
    }

    #[test]
    fn settings_that_are_cut_off_anywhere_are_an_error() {
        let (path, content) = (Path::new("/t/.tabledesc/.restored.1"), settings(&table()));
        assert_eq!(parse_settings(path, &content, &name()).unwrap(), table());
        for length in 0..content.len() {
            let error = parse_settings(path, &content[..length], &name()).unwrap_err();
            assert_eq!(error.file(), Some(path), "{length}");
        }
    }

    /// HBase's bytes, and those of earlier versions, have no seal.
    #[test]
    fn a_descriptor_without_a_seal_is_read() {
        let fs = new_fs();
        let content = encode(&table()).finish_with_magic();
        let path = Path::new(DIR).join(format!(".tableinfo.0000000001.{}", content.len()));
        fs.create(&path).unwrap().write_all(&content).unwrap();
        assert_eq!(read(&fs, Path::new(DIR), &name()).unwrap(), Some(table()));
    }

    /// Interrupted at every operation: the descriptor from before or after the change is there.
    #[test]
    fn a_power_cut_leaves_the_old_or_the_new() {
        let mut changed = table();
        changed.remove_family(b"f");
        for operations in 0.. {
            let fs = CrashFileSystem::new();
            fs.create_dir_all(Path::new(DIR)).unwrap();
            write(&fs, Path::new(DIR), &table(), Safety::Durable).unwrap();
            fs.sync_everything();
            fs.power_off_after(operations);
            let is_written = write(&fs, Path::new(DIR), &changed, Safety::Durable).is_ok();
            for seed in 0..4 {
                let after = fs.after_power_cut(seed);
                let found = read(&after, Path::new(DIR), &name()).unwrap();
                let is_new = found.as_ref() == Some(&changed);
                assert!(is_new || (!is_written && found == Some(table())), "{operations} {seed}");
            }
            if is_written {
                return;
            }
        }
    }
}
