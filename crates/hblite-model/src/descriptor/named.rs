//! Settings with a fixed set of values: one table each, with HBase's names and numbers.
//!
//! Everything else that knows these values is derived from the tables (parsing, help texts, valid
//! attributes) or is a `match` without a wildcard (the codecs in `hblite-codec`, the encodings in
//! `hblite-hfile`), so a new line here compiles only when every place handles it.

use std::fmt;

/// Declares an enum of `Variant = "NAME"`, or of `Variant = "NAME", number` where files contain the
/// number.
macro_rules! named_enum {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal;)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The names of all values, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];

            /// HBase's name for it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The value with this name, in upper or lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name().eq_ignore_ascii_case(name))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident {
            $($(#[$variant_doc:meta])* $variant:ident = $text:literal, $number:literal;)*
        }
    ) => {
        named_enum! {
            $(#[$doc])*
            $name { $($(#[$variant_doc])* $variant = $text;)* }
        }

        impl $name {
            /// Its number in files.
            pub fn number(self) -> u16 {
                match self { $(Self::$variant => $number,)* }
            }

            /// The value with this number.
            pub fn from_number(number: u64) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| u64::from(value.number()) == number)
            }
        }
    };
}

named_enum! {
    /// Which keys a store file's Bloom filter contains (`BloomType`).
    BloomType {
        /// No filter.
        None = "NONE";
        /// Rows.
        Row = "ROW";
        /// Rows with qualifiers.
        RowCol = "ROWCOL";
        /// Row prefixes of a fixed length.
        RowPrefixFixedLength = "ROWPREFIX_FIXED_LENGTH";
    }
}

named_enum! {
    /// How the blocks of a store file are compressed (`Compression.Algorithm`), with the number in
    /// the trailer. Not every build has a codec for each.
    Compression {
        /// Not compressed.
        None = "NONE", 2;
        /// gzip.
        Gz = "GZ", 1;
        /// Snappy.
        Snappy = "SNAPPY", 3;
        /// LZ4.
        Lz4 = "LZ4", 4;
        /// Zstandard.
        Zstd = "ZSTD", 6;
        /// LZO, for which hblite has no codec.
        Lzo = "LZO", 0;
        /// bzip2, for which hblite has no codec.
        Bzip2 = "BZIP2", 5;
    }
}

named_enum! {
    /// How keys are encoded in data blocks (`DataBlockEncoding`), with the number in each block.
    DataBlockEncoding {
        /// Not encoded.
        None = "NONE", 0;
        /// Common prefixes omitted.
        Prefix = "PREFIX", 2;
        /// Differences from the previous cell.
        Diff = "DIFF", 3;
        /// Differences, faster to read.
        FastDiff = "FAST_DIFF", 4;
        /// Not encoded, with an index of rows.
        RowIndexV1 = "ROW_INDEX_V1", 7;
    }
}

named_enum! {
    /// Whether deleted cells stay readable in time ranges before their deletion.
    KeepDeletedCells {
        /// No.
        False = "FALSE";
        /// Yes, until they are beyond versions or TTL.
        True = "TRUE";
        /// Yes, until the delete marker is past its TTL.
        Ttl = "TTL";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique_and_lead_back() {
        for (value, name) in Compression::ALL.iter().zip(Compression::NAMES) {
            assert_eq!(Compression::from_name(&name.to_lowercase()), Some(*value));
            assert_eq!(Compression::from_number(value.number().into()), Some(*value));
        }
        for (value, name) in DataBlockEncoding::ALL.iter().zip(DataBlockEncoding::NAMES) {
            assert_eq!(DataBlockEncoding::from_name(name), Some(*value));
            assert_eq!(DataBlockEncoding::from_number(value.number().into()), Some(*value));
        }
        for (value, name) in BloomType::ALL.iter().zip(BloomType::NAMES) {
            assert_eq!(BloomType::from_name(name), Some(*value));
        }
        assert_eq!(Compression::from_number(7), None);
        assert_eq!(BloomType::from_name("ROWS"), None);
    }
}
