//! Meta data, block index and block headers.

use std::io::Write;

use hblite_hfile::{BloomMeta, HFileReader};
use hblite_model::CellComparator;

use crate::hfile::Failure;
use crate::hfile::text::{file_info_value, index_key, optional_key};

/// Name, trailer, file info, mid-key, filters.
pub(super) fn print_meta(out: &mut dyn Write, reader: &HFileReader) -> Result<(), Failure> {
    let average = |name| {
        let value = reader.file_info(name).and_then(|value| value.try_into().ok());
        value.map_or(0, i32::from_be_bytes)
    };
    let path = reader.path();
    let compression = reader.compression().name();
    writeln!(out, "reader={},", path.display())?;
    writeln!(out, "    compression={},", compression.to_ascii_lowercase())?;
    writeln!(out, "    firstKey={},", optional_key(reader.first_key()))?;
    writeln!(out, "    lastKey={},", optional_key(reader.last_key()))?;
    writeln!(out, "    avgKeyLen={},", average(hblite_hfile::file_info::AVG_KEY_LENGTH))?;
    writeln!(out, "    avgValueLen={},", average(hblite_hfile::file_info::AVG_VALUE_LENGTH))?;
    writeln!(out, "    entries={},", reader.entries())?;
    writeln!(out, "    length={}", reader.length())?;
    print_trailer(out, reader)?;
    writeln!(out, "Fileinfo:")?;
    for (name, value) in reader.file_info_map().iter() {
        let text = file_info_value(name, value);
        writeln!(out, "    {} = {text}", String::from_utf8_lossy(name))?;
    }
    match reader.mid_key()? {
        Some(mid_key) => writeln!(out, "Mid-key: {}", optional_key(Some(&mid_key)))?,
        None => writeln!(out, "Unable to retrieve the midkey")?,
    }
    writeln!(out, "Bloom filter:")?;
    print_bloom(out, reader.bloom_meta())?;
    writeln!(out, "Delete Family Bloom filter:")?;
    print_bloom(out, reader.delete_family_bloom_meta())
}

fn print_trailer(out: &mut dyn Write, reader: &HFileReader) -> Result<(), Failure> {
    let trailer = reader.trailer();
    let comparator = match trailer.comparator {
        CellComparator::Default => "org.apache.hadoop.hbase.InnerStoreCellComparator",
        CellComparator::Meta => "org.apache.hadoop.hbase.MetaCellComparator",
    };
    writeln!(out, "Trailer:")?;
    writeln!(out, "    fileinfoOffset={},", trailer.file_info_offset)?;
    writeln!(out, "    loadOnOpenDataOffset={},", trailer.load_on_open_data_offset)?;
    writeln!(out, "    dataIndexCount={},", trailer.data_index_count)?;
    writeln!(out, "    metaIndexCount={},", trailer.meta_index_count)?;
    // HBase spells it so.
    writeln!(out, "    totalUncomressedBytes={},", trailer.total_uncompressed_bytes)?;
    writeln!(out, "    entryCount={},", trailer.entry_count)?;
    writeln!(out, "    compressionCodec={},", trailer.compression.name())?;
    writeln!(out, "    uncompressedDataIndexSize={},", trailer.uncompressed_data_index_size)?;
    writeln!(out, "    numDataIndexLevels={},", trailer.num_data_index_levels)?;
    writeln!(out, "    firstDataBlockOffset={},", trailer.first_data_block_offset)?;
    writeln!(out, "    lastDataBlockOffset={},", trailer.last_data_block_offset)?;
    writeln!(out, "    comparatorClassName={comparator},")?;
    // Files with another are not opened.
    writeln!(out, "    encryptionKey=NONE,")?;
    writeln!(out, "    majorVersion=3,")?;
    writeln!(out, "    minorVersion={}", trailer.minor_version)?;
    Ok(())
}

fn print_bloom(out: &mut dyn Write, meta: Option<BloomMeta>) -> Result<(), Failure> {
    let Some(meta) = meta else {
        writeln!(out, "    Not present")?;
        return Ok(());
    };
    let comparator = if meta.has_flat_keys { "CellComparatorImpl" } else { "ByteArrayComparator" };
    let filled = meta.keys as f64 / meta.keys_max.max(1) as f64 * 100.0;
    writeln!(out, "    BloomSize: {}", meta.bytes)?;
    writeln!(out, "    No of Keys in bloom: {}", meta.keys)?;
    writeln!(out, "    Max Keys for bloom: {}", meta.keys_max)?;
    writeln!(out, "    Percentage filled: {filled:.0}%")?;
    writeln!(out, "    Number of chunks: {}", meta.chunks)?;
    writeln!(out, "    Comparator: {comparator}")?;
    Ok(())
}

/// The root of the data index.
pub(super) fn print_index(out: &mut dyn Write, reader: &HFileReader) -> Result<(), Failure> {
    let entries = reader.root_index()?;
    writeln!(out, "Block Index:")?;
    writeln!(out, "size={}", entries.len())?;
    for entry in entries {
        writeln!(out, "key={}", index_key(&entry.key))?;
        writeln!(out, "  offset={}, dataSize={}", entry.offset, entry.on_disk_size)?;
    }
    writeln!(out)?;
    Ok(())
}

/// The header of each block, including those after the data.
pub(super) fn print_headers(out: &mut dyn Write, reader: &HFileReader) -> Result<(), Failure> {
    writeln!(out, "Block Headers:")?;
    for item in reader.block_headers() {
        let (offset, header) = item?;
        let (data, all) = (header.data_size(), header.on_disk_size());
        writeln!(
            out,
            "[blockType={}, fileOffset={offset}, headerSize={}, onDiskSizeWithoutHeader={}, \
             uncompressedSizeWithoutHeader={}, prevBlockOffset={}, isUseHBaseChecksum=true, \
             checksumType={}, bytesPerChecksum={}, onDiskDataSizeWithHeader={data}, \
             getOnDiskSizeWithHeader={all}, totalChecksumBytes={}]",
            header.block_type.name(),
            all - header.size_without_header(),
            header.size_without_header(),
            header.uncompressed_size,
            header.previous_offset,
            header.checksum_type.name(),
            header.bytes_per_checksum,
            all - data,
        )?;
    }
    Ok(())
}
