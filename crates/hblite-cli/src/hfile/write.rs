//! `hblite hfile write`: writes a file from a description.

use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite_env::{FileSystem as _, StdFileSystem};
use hblite_hfile::{
    ChecksumType, HFileSummary, HFileWriter, HFileWriterOptions, StoreFileInfo, file_info,
};
use hblite_hfile_json::Description;
use hblite_model::{BloomType, Cell, Compression, DataBlockEncoding, counted};

use super::{Failure, description};

/// The value of [`file_info::BULKLOAD_SOURCE_TASK`].
const SOURCE_TASK: &[u8] = b"hblite hfile write";

/// Source, target, and settings that override those of the description.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WriteArguments {
    /// Description with settings and cells
    #[arg(long, value_name = "JSON")]
    from: PathBuf,
    /// File to write; it must not exist
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[arg(long, help = one_of(DataBlockEncoding::NAMES))]
    #[arg(value_parser = name("encoding", DataBlockEncoding::from_name))]
    encoding: Option<DataBlockEncoding>,
    #[arg(long, help = one_of(BloomType::NAMES))]
    #[arg(value_parser = name("Bloom filter", BloomType::from_name))]
    bloom: Option<BloomType>,
    /// Bytes of the row that form the key of ROWPREFIX_FIXED_LENGTH
    #[arg(long, value_name = "BYTES")]
    bloom_prefix_length: Option<u32>,
    /// Bytes of a chunk of a Bloom filter
    #[arg(long, value_name = "BYTES")]
    bloom_block_size: Option<usize>,
    #[arg(long, help = one_of(&codecs()))]
    #[arg(value_parser = name("compression", Compression::from_name))]
    compression: Option<Compression>,
    /// NULL, CRC32 or CRC32C
    #[arg(long, value_parser = name("checksum", ChecksumType::from_name))]
    checksum: Option<ChecksumType>,
    /// Bytes under one checksum
    #[arg(long, value_name = "BYTES")]
    bytes_per_checksum: Option<usize>,
    /// A data block ends when its cells reach this many bytes
    #[arg(long, value_name = "BYTES")]
    block_size: Option<usize>,
    /// An index node ends when it reaches this many bytes
    #[arg(long, value_name = "BYTES")]
    index_chunk_size: Option<usize>,
    /// Whether cells keep their tags
    #[arg(long, value_name = "BOOL")]
    include_tags: Option<bool>,
    /// Whether tags are compressed by a dictionary
    #[arg(long, value_name = "BOOL")]
    compress_tags: Option<bool>,
    /// Whether cells keep their sequence ids
    #[arg(long, value_name = "BOOL")]
    include_mvcc: Option<bool>,
    /// Writes a file for HBase's bulk load: marked as such, all sequence ids 0
    #[arg(long)]
    bulk_load: bool,
}

const AFTER_HELP: &str = "\
The description is JSON as in tests/golden/hfile; 'hblite hfile print --json' prints it.
Settings that it lacks have HBase's defaults.";

/// The names of the compressions that this build can write.
fn codecs() -> Vec<&'static str> {
    hblite_hfile::compressions().map(Compression::name).collect()
}

/// A choice between these names, as help text.
fn one_of(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Reads one of HBase's names, in any case.
fn name<T: Clone + Send + Sync + 'static>(
    what: &'static str,
    of: fn(&str) -> Option<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| of(&text.to_ascii_uppercase()).ok_or_else(|| format!("unknown {what}"))
}

pub(super) fn run(arguments: &WriteArguments) -> Result<ExitCode, Failure> {
    let description = description(&arguments.from)?;
    let invalid =
        |error: &dyn fmt::Display| Failure::Input(format!("{}: {error}", arguments.from.display()));
    let mut options = description.options().map_err(|error| invalid(&error))?;
    arguments.override_options(&mut options);
    let cells = description.cells().map_err(|error| invalid(&error))?;
    let cells = cells.ok_or_else(|| invalid(&"/cells: is missing, nothing can be written"))?;
    let mut store_file = description.store_file_info().map_err(|error| invalid(&error))?;
    if arguments.bulk_load {
        store_file = StoreFileInfo { major_compaction: true, ..StoreFileInfo::default() };
    }
    let pairs = Pairs::of(&description, arguments.bulk_load, options.create_time)
        .map_err(|error| invalid(&error))?;
    let writer = HFileWriter::create(&StdFileSystem, &arguments.out, options.clone())?;
    let written = write(arguments, writer, &options, &cells, pairs, &store_file);
    if written.is_err() {
        // A file without its end is useless; the first error is the one to report.
        let _ = StdFileSystem.remove_file(&arguments.out);
    }
    let HFileSummary { length, cells, data_blocks, .. } = written?;
    let out = arguments.out.display();
    writeln!(
        std::io::stdout(),
        "{out}: {} in {}, {}",
        counted(cells, "cell"),
        counted(data_blocks, "data block"),
        counted(length, "byte")
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What is written in addition to the cells.
struct Pairs {
    file_info: Vec<(Vec<u8>, Vec<u8>)>,
    meta_blocks: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Pairs {
    fn of(
        description: &Description,
        is_bulk_load: bool,
        create_time: i64,
    ) -> Result<Self, hblite_hfile_json::InvalidDescription> {
        let mut file_info = description.foreign_file_info()?;
        if is_bulk_load {
            let pairs: [(&[u8], &[u8]); 3] = [
                (file_info::BULKLOAD_TIMESTAMP, &create_time.to_be_bytes()),
                (file_info::BULKLOAD_SOURCE_TASK, SOURCE_TASK),
                (file_info::EXCLUDE_FROM_MINOR_COMPACTION, &[0]),
            ];
            file_info.extend(pairs.map(|(name, value)| (name.to_vec(), value.to_vec())));
        }
        Ok(Self { file_info, meta_blocks: description.meta_blocks()? })
    }
}

fn write(
    arguments: &WriteArguments,
    mut writer: HFileWriter,
    options: &HFileWriterOptions,
    cells: &[Cell],
    pairs: Pairs,
    store_file: &StoreFileInfo,
) -> hblite_model::Result<HFileSummary> {
    for (name, value) in pairs.file_info {
        writer.append_file_info(&name, &value);
    }
    for (name, content) in pairs.meta_blocks {
        writer.append_meta_block(&name, content);
    }
    for cell in cells {
        let mut cell = cell.as_ref();
        if !options.include_tags {
            cell = cell.with_tags(&[]);
        }
        if arguments.bulk_load {
            cell = cell.with_sequence_id(0);
        }
        writer.append(&cell)?;
    }
    writer.finish(store_file)
}

impl WriteArguments {
    fn override_options(&self, options: &mut HFileWriterOptions) {
        macro_rules! override_with {
            ($($argument:ident => $option:ident),*) => {
                $(if let Some(value) = self.$argument {
                    options.$option = value;
                })*
            };
        }
        override_with!(
            encoding => encoding,
            bloom => bloom,
            bloom_prefix_length => bloom_prefix_length,
            bloom_block_size => bloom_block_size,
            compression => compression,
            checksum => checksum,
            bytes_per_checksum => bytes_per_checksum,
            block_size => block_size,
            index_chunk_size => index_chunk_size,
            include_tags => include_tags,
            compress_tags => compress_tags,
            include_mvcc => include_mvcc
        );
    }
}
