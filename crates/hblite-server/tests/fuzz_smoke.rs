//! The code of the fuzz targets, on what the fuzzer kept, on a small corpus, and on random changes
//! of it. Guidance by coverage needs a nightly compiler; here a few hundred inputs each run without
//! it.

#[path = "../../../tests/fuzz/bodies/cell_block.rs"]
mod cell_block;
#[path = "../../../tests/fuzz/bodies/corpus.rs"]
mod corpus;
#[path = "../../../tests/fuzz/bodies/frame.rs"]
mod frame;
#[path = "../../../tests/fuzz/bodies/http.rs"]
mod http;
#[path = "../../../tests/fuzz/bodies/ports.rs"]
mod ports;
#[path = "../../../tests/fuzz/bodies/recording.rs"]
mod recording;
#[path = "../../../tests/fuzz/bodies/zookeeper.rs"]
mod zookeeper;

use hblite_wire::cell_block::{Codec, Compressor};
use hblite_wire::pb;
use prost::Message as _;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// The input with some bytes changed, removed, duplicated or inserted.
    fn change(&mut self, input: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(9)).min(bytes.len());
            match self.below(5) {
                0 if at < bytes.len() => bytes[at] = self.below(256) as u8,
                1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 => drop(bytes.drain(at..end)),
                3 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => bytes.insert(at, [0, 1, 0x7f, 0x80, 0xff][self.below(5)]),
            }
        }
        bytes
    }
}

/// Runs each input unchanged, and `count` changed ones.
fn run(corpus: &[Vec<u8>], count: usize, body: fn(&[u8])) {
    corpus.iter().for_each(|input| body(input));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..count {
        let input = &corpus[random.below(corpus.len())];
        body(&random.change(input));
    }
}

fn cells() -> Vec<u8> {
    let mut buffer = hblite_model::CellBuffer::new();
    let mut block = Vec::new();
    for row in 0..20 {
        buffer.clear();
        buffer.push_parts(format!("row{row}").as_bytes(), b"f", b"q", 1000 + row, 4, b"value");
        Codec::KeyValue.push(&mut block, &buffer.get(0).expect("a cell"));
    }
    block
}

#[test]
fn cell_blocks() {
    let mut corpus = vec![cells(), Vec::new()];
    for name in ["GzipCodec", "Lz4Codec", "SnappyCodec"] {
        let name = format!("org.apache.hadoop.io.compress.{name}");
        let compressor = Compressor::from_class_name(&name).expect("a known name");
        for plain in [cells(), vec![0; 3 << 20], b"short".to_vec()] {
            corpus.push(compressor.compress(&plain).expect("memory"));
        }
    }
    run(&corpus, 500, cell_block::run);
}

#[test]
fn frames_of_requests() {
    let cells = cells();
    let request = |method: &str, cells: &[u8]| {
        let header = pb::RequestHeader {
            call_id: Some(7),
            method_name: Some(method.to_owned()),
            request_param: Some(true),
            cell_block_meta: Some(pb::CellBlockMeta { length: Some(cells.len() as u32) }),
            ..pb::RequestHeader::default()
        };
        let mut frame = header.encode_length_delimited_to_vec();
        frame.extend_from_slice(&pb::ScanRequest::default().encode_length_delimited_to_vec());
        frame.extend_from_slice(cells);
        frame
    };
    let header = pb::ConnectionHeader {
        service_name: Some("ClientService".into()),
        ..pb::ConnectionHeader::default()
    };
    let corpus = [
        request("Scan", b""),
        request("Mutate", &cells),
        header.encode_to_vec(),
        b"HBas\0P".into(),
    ];
    run(&corpus, 20_000, frame::run);
}

#[test]
fn requests_of_http() {
    let whole = "GET /status HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    let chunked = "POST /faults HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\
                   4\r\n{\"a\"\r\n0\r\n\r\n";
    let corpus: Vec<Vec<u8>> = [
        (0, whole),
        (0, chunked),
        (1, "metrics HTTP/1.1\r\n\r\nGET /health HTTP/1.0\r\n\r\n"),
        (2, "Host: localhost\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"),
        (3, r#"{"error":"RegionTooBusyException","methods":["Get"],"count":1,"delay_ms":5}"#),
    ]
    .map(|(choice, text)| [&[choice], text.as_bytes()].concat())
    .into();
    run(&corpus, 300, http::run);
}

#[test]
fn recordings() {
    let seed = include_bytes!("../../../tests/fuzz/seeds/recording/calls.jsonl");
    let request = pb::ScanRequest { number_of_rows: Some(3), ..pb::ScanRequest::default() };
    run(&[seed.to_vec(), request.encode_to_vec()], 2_000, recording::run);
}

#[test]
fn requests_of_zookeeper() {
    let path = |path: &str| [&(path.len() as u32).to_be_bytes(), path.as_bytes()].concat();
    let request = |operation: u8, body: &[u8]| [&[operation, body.len() as u8], body].concat();
    let read = [path("/hbase/meta-region-server"), vec![1]].concat();
    let watches = [vec![0; 8], 1_u32.to_be_bytes().to_vec(), path("/hbase"), vec![0; 8]].concat();
    let corpus = [
        [vec![2], request(3, &read), request(7, &read), request(2, &read)].concat(),
        [vec![2], request(13, &[0, 0, 0, 4, 0, 0, 0, 0, 0]), request(17, &watches)].concat(),
        [vec![2], request(16, &watches), request(18, &read), request(5, &read)].concat(),
        [vec![1], vec![9], vec![0; 9]].concat(),
        b"\0ruok".to_vec(),
    ];
    run(&corpus, 300, zookeeper::run);
}

#[test]
fn what_the_fuzzer_kept() {
    run(&corpus::inputs("cell_block"), 0, cell_block::run);
    run(&corpus::inputs("frame"), 0, frame::run);
    run(&corpus::inputs("http"), 0, http::run);
    run(&corpus::inputs("recording"), 0, recording::run);
}
