//! Damaged and foreign directories: each is refused with the file's name, and every file stays
//! unchanged.

use std::path::Path;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_model::cell::key;
use hblite_model::protobuf::{MessageWriter, write_varint};

use super::directory::{ROOT, adopt, contents, find, fixture, write};

const META: &str = "data/hbase/meta/1588230740";
const MASTER_REGION: &str = "1595e783b53d99cd5eef43b6debb2682";

/// Makes a directory of a killed HBase unfit; the refusal must contain the words.
struct Case {
    words: &'static str,
    spoil: fn(&MemFileSystem),
}

fn below(fs: &MemFileSystem, part: &str, other: &str) -> String {
    let path = find(fs, part, other);
    path.strip_prefix(ROOT).ok().and_then(Path::to_str).expect("text").to_owned()
}

fn log(fs: &MemFileSystem) -> String {
    below(fs, "hbase/WALs/", ".meta")
}

fn remove_dir(fs: &MemFileSystem, dir: &str) {
    fs.remove_dir_all(&Path::new(ROOT).join(dir)).expect("it is there");
}

fn change(fs: &MemFileSystem, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut content = fs.read(&Path::new(ROOT).join(file)).expect("it is there");
    change(&mut content);
    write(fs, file, &content);
}

/// The log of a server that HBase wrote with such a header.
fn add_log(fs: &MemFileSystem, header: MessageWriter) {
    let header = header.finish();
    let mut log = b"PWAL".to_vec();
    write_varint(&mut log, header.len() as u64);
    log.extend(header);
    write(fs, "WALs/localhost,7,7/localhost%2C7%2C7.7", &log);
}

/// Adds a family to the settings of n:t.
fn add_family(fs: &MemFileSystem, attribute: &str, value: &str) {
    let file = below(fs, "data/n/t/.tabledesc", "\0");
    let mut content = fs.read(&Path::new(ROOT).join(&file)).expect("it is there");
    let pair = MessageWriter::new().bytes(1, attribute).bytes(2, value).finish();
    let family = MessageWriter::new().bytes(1, "x").bytes(2, pair).finish();
    content.extend(MessageWriter::new().bytes(3, family).finish());
    fs.remove_file(&Path::new(ROOT).join(&file)).expect("it is there");
    let (start, _) = file.rsplit_once('.').expect("it has a length");
    write(fs, format!("{start}.{}", content.len()), &content);
}

/// Adds an unfinished procedure to the log of the master.
fn add_procedure(fs: &MemFileSystem) {
    let procedure = MessageWriter::new()
        .bytes(1, "org.apache.hadoop.hbase.master.procedure.TruncateTableProcedure")
        .number(3, 9_999)
        .number(6, 2);
    let value = procedure.finish();
    let key = key::build(&9_999_u64.to_be_bytes(), b"proc", b"d", i64::MAX >> 8, 4);
    let wal_key = MessageWriter::new()
        .bytes(1, MASTER_REGION)
        .bytes(2, "master:store")
        .number(3, 1 << 40)
        .number(4, 5)
        .number(7, 1);
    let wal_key = wal_key.finish();
    change(fs, &below(fs, "MasterData/WALs/", "\0"), |log| {
        write_varint(log, wal_key.len() as u64);
        log.extend(wal_key);
        log.extend((8 + key.len() as u32 + value.len() as u32).to_be_bytes());
        log.extend((key.len() as u32).to_be_bytes());
        log.extend((value.len() as u32).to_be_bytes());
        log.extend(key);
        log.extend(value);
    });
}

const CASES: &[Case] = &[
    Case { words: "hbase:meta has no directory", spoil: |fs| remove_dir(fs, "data/hbase/meta") },
    Case { words: "MasterData is missing", spoil: |fs| remove_dir(fs, "MasterData") },
    Case { words: "hbase.wal.dir", spoil: |fs| remove_dir(fs, "WALs") },
    Case { words: "MasterProcWALs", spoil: |fs| write(fs, "MasterProcWALs/x", b"") },
    Case { words: "version 7", spoil: |fs| write(fs, "hbase.version", b"PBUF\x0a\x017") },
    Case {
        words: "lacks hbase.version",
        spoil: |fs| fs.remove_file(Path::new("/hbase/hbase.version")).expect("it is there"),
    },
    Case {
        words: "lacks hbase.id",
        spoil: |fs| fs.remove_file(Path::new("/hbase/hbase.id")).expect("it is there"),
    },
    Case { words: "hbase.id", spoil: |fs| write(fs, "hbase.id", b"my id") },
    Case { words: "wrong magic", spoil: |fs| change(fs, &log(fs), |log| log[1] ^= 4) },
    Case {
        words: "no valid entry begins here",
        spoil: |fs| change(fs, &log(fs), |log| log[2_000..2_200].fill(0)),
    },
    Case {
        words: "a newer one of the same server",
        spoil: |fs| {
            let name = log(fs);
            let newer = fs.read(&Path::new(ROOT).join(&name)).expect("it is there");
            change(fs, &name, |log| log.truncate(3_001));
            let (start, _) = name.rsplit_once('.').expect("it has a time");
            write(fs, format!("{start}.1895373860592"), &newer);
        },
    },
    Case {
        words: "a log of another directory",
        spoil: |fs| {
            let other = fixture("compressed");
            let name = log(&other);
            write(fs, &name, &other.read(&Path::new(ROOT).join(&name)).expect("it is there"));
        },
    },
    Case {
        words: "hbase:meta in this directory has no such region",
        spoil: |fs| {
            fs.remove_file(&find(fs, "hbase/WALs/", "60592")).expect("it is there");
        },
    },
    Case {
        words: "is not a log of Apache HBase",
        spoil: |fs| write(fs, "WALs/a,1,1/notes.txt", b""),
    },
    Case {
        words: "it is encrypted",
        spoil: |fs| add_log(fs, MessageWriter::new().bytes(2, "key")),
    },
    Case {
        words: "its writer is \"MyWriter\"",
        spoil: |fs| add_log(fs, MessageWriter::new().bytes(4, "MyWriter")),
    },
    Case {
        words: "its cell codec is \"my.Codec\"",
        spoil: |fs| add_log(fs, MessageWriter::new().bytes(5, "my.Codec")),
    },
    Case {
        words: "its values are compressed",
        spoil: |fs| add_log(fs, MessageWriter::new().number(1, 1).number(6, 1)),
    },
    Case {
        words: "recovered edits",
        spoil: |fs| write(fs, format!("{META}/recovered.edits/mine"), b""),
    },
    Case {
        words: "recovered.hfiles",
        spoil: |fs| write(fs, format!("{META}/info/recovered.hfiles/x"), b""),
    },
    Case { words: "checksum file of Hadoop", spoil: |fs| write(fs, ".hbase.version.crc", b"crc") },
    Case { words: "TruncateTableProcedure (pid=9999)", spoil: add_procedure },
    Case {
        words: "store file tracker is MIGRATE",
        spoil: |fs| {
            change(fs, &below(fs, "data/n/t/.tabledesc", "\0"), |settings| {
                let at = settings.windows(7).position(|part| part == b"DEFAULT").expect("set");
                settings[at..at + 7].copy_from_slice(b"MIGRATE");
            });
        },
    },
    Case { words: "family x is encrypted (AES)", spoil: |fs| add_family(fs, "ENCRYPTION", "AES") },
    Case { words: "has no descriptor", spoil: |fs| remove_dir(fs, "data/n/t/.tabledesc") },
    Case {
        words: ".tableinfo",
        spoil: |fs| change(fs, &below(fs, "data/n/t/.tabledesc", "\0"), |file| file.fill(7)),
    },
    Case {
        words: "has no directory",
        spoil: |fs| {
            let file = below(fs, "00223f9f32544c10", "\0");
            let region = Path::new(&file).ancestors().nth(2).and_then(Path::to_str);
            remove_dir(fs, region.expect("text"));
        },
    },
    Case {
        words: "00223f9f32544c10afd8360d7d690e7c",
        spoil: |fs| change(fs, &below(fs, "00223f9f32544c10", "\0"), |file| file.truncate(3_000)),
    },
    Case {
        words: "4c7fde6239a34dcf8ea89180d6276efe",
        spoil: |fs| write(fs, below(fs, "4c7fde6239a34dcf", "\0"), b"not an HFile"),
    },
    Case {
        words: "to which it links, is missing",
        spoil: |fs| {
            let family = below(fs, "4c7fde6239a34dcf", "\0");
            let (family, file) = family.rsplit_once('/').expect("a file in a family");
            write(fs, format!("{family}/d=0123456789abcdef0123456789abcdef-{file}"), b"");
        },
    },
];

#[test]
fn what_cannot_be_read_is_refused_by_name_and_nothing_changes() {
    assert!(CASES.len() >= 20);
    let mut wrong = Vec::new();
    for case in CASES {
        let fs = fixture("killed");
        (case.spoil)(&fs);
        let before = contents(&fs);
        match adopt(&fs) {
            Ok(_) => wrong.push(format!("{}: opened", case.words)),
            Err(error) if !error.to_string().contains(case.words) => {
                wrong.push(format!("{}: {error}", case.words));
            }
            Err(_) if contents(&fs) != before => wrong.push(format!("{}: changed", case.words)),
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
