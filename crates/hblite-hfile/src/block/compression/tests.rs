//! Goal: every codec gives back what it got, whatever the size, and damaged bytes are refused.

use super::*;

const CODECS: [Compression; 5] =
    [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4, Compression::Zstd];

/// Compressible, but not all the same.
fn payload(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * i / 251 % 13) as u8 ^ (i % 7) as u8).collect()
}

#[test]
fn payloads_come_back() {
    for codec in CODECS {
        let mut compressor = Compressor::new(codec).unwrap();
        for size in [0, 1, 100, 65_536, 218_422, 218_423, 261_121, 700_000] {
            let payload = payload(size);
            let mut stored = Vec::new();
            compressor.compress(&payload, &mut stored).unwrap();
            let back = decompress(codec, &stored, size).unwrap();
            assert!(back == payload, "{codec} of {size} bytes");
            assert!(decompress(codec, &stored, size + 1).is_err(), "{codec} of {size} bytes");
        }
    }
}

#[test]
fn framing_is_that_of_hadoop() {
    for (codec, limit) in [(Compression::Snappy, 218_422), (Compression::Zstd, 261_120)] {
        let mut compressor = Compressor::new(codec).unwrap();
        let mut stored = Vec::new();
        compressor.compress(&[], &mut stored).unwrap();
        assert_eq!(stored, [0; 4]);
        stored.clear();
        compressor.compress(&payload(limit), &mut stored).unwrap();
        assert_eq!(stored[..4], (limit as u32).to_be_bytes());
        let first = u32::from_be_bytes([stored[4], stored[5], stored[6], stored[7]]) as usize;
        assert_eq!(stored.len(), 8 + first, "one chunk, no empty record behind it");
        stored.clear();
        compressor.compress(&payload(limit + 1), &mut stored).unwrap();
        assert!(stored.ends_with(&[0; 4]));
    }
    let mut gzip = Vec::new();
    Compressor::new(Compression::Gz).unwrap().compress(&[], &mut gzip).unwrap();
    assert_eq!(gzip.len(), 20);
}

#[test]
fn a_bare_zstd_stream_is_read() {
    let payload = payload(5_000);
    let sized = zstd::bulk::compress(&payload, 1).unwrap();
    let unsized_frame = zstd::stream::encode_all(payload.as_slice(), 1).unwrap();
    for stored in [sized, unsized_frame] {
        assert_eq!(decompress(Compression::Zstd, &stored, payload.len()).unwrap(), payload);
        for size in [0, payload.len() - 1, payload.len() + 1] {
            assert!(decompress(Compression::Zstd, &stored, size).is_err());
        }
    }
}

#[test]
fn cut_and_damaged_bytes_never_panic_or_grow() {
    for codec in CODECS.into_iter().skip(1) {
        let payload = payload(500);
        let mut stored = Vec::new();
        Compressor::new(codec).unwrap().compress(&payload, &mut stored).unwrap();
        for at in 0..stored.len() {
            assert!(decompress(codec, &stored[..at], payload.len()).is_err(), "{codec} at {at}");
            let mut damaged = stored.clone();
            damaged[at] ^= 1 << (at % 8);
            if let Ok(out) = decompress(codec, &damaged, payload.len()) {
                assert_eq!(out.len(), payload.len());
            }
        }
    }
}
