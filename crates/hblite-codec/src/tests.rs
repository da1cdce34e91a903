//! Goal: every codec restores its input, whatever the size, and damaged bytes are refused.
//! Method: every codec of the build, from the registry; sizes on both sides of the chunk limits.

use proptest::prelude::*;

use super::*;

/// Compressible, but not all the same.
fn payload(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * i / 251 % 13) as u8 ^ (i % 7) as u8).collect()
}

fn compress(compression: Compression, payload: &[u8]) -> Vec<u8> {
    let mut stored = Vec::new();
    codec(compression).unwrap().compressor().compress(payload, &mut stored).unwrap();
    stored
}

fn decompress(compression: Compression, stored: &[u8], max: usize) -> Result<Vec<u8>, CodecError> {
    let mut heap = Heap;
    let mut out = Output::new(max, &mut heap);
    out.reserve_for(stored.len())?;
    codec(compression).unwrap().decompress(stored, &mut out)?;
    Ok(out.into_bytes())
}

#[test]
fn payloads_come_back() {
    for compression in available() {
        let mut compressor = codec(compression).unwrap().compressor();
        for size in [0, 1, 100, 65_536, 218_422, 218_423, 261_121, 700_000] {
            let payload = payload(size);
            let mut stored = Vec::new();
            compressor.compress(&payload, &mut stored).unwrap();
            let back = decompress(compression, &stored, size).unwrap();
            assert!(back == payload, "{compression} of {size} bytes");
            if size > 0 {
                assert!(decompress(compression, &stored, size - 1).is_err(), "{compression}");
            }
        }
    }
}

#[test]
fn framing_is_that_of_hadoop() {
    let limits = [(Compression::Snappy, 218_422), (Compression::Zstd, 261_120)];
    for (compression, limit) in
        limits.into_iter().filter(|(codec, _)| ensure_available(*codec).is_ok())
    {
        assert_eq!(compress(compression, &[]), [0; 4]);
        let stored = compress(compression, &payload(limit));
        assert_eq!(stored[..4], (limit as u32).to_be_bytes());
        let first = u32::from_be_bytes([stored[4], stored[5], stored[6], stored[7]]) as usize;
        assert_eq!(stored.len(), 8 + first, "one chunk, no empty record after it");
        assert!(compress(compression, &payload(limit + 1)).ends_with(&[0; 4]));
    }
    assert_eq!(compress(Compression::Gz, &[]).len(), 20);
}

#[cfg(feature = "zstd")]
#[test]
fn a_bare_zstd_stream_is_read() {
    let payload = payload(5_000);
    let sized = ::zstd::bulk::compress(&payload, 1).unwrap();
    let unsized_frame = ::zstd::stream::encode_all(payload.as_slice(), 1).unwrap();
    for stored in [sized, unsized_frame] {
        assert_eq!(decompress(Compression::Zstd, &stored, payload.len()).unwrap(), payload);
        for size in [0, payload.len() - 1] {
            assert!(decompress(Compression::Zstd, &stored, size).is_err());
        }
    }
}

#[test]
fn cut_and_damaged_bytes_never_panic_or_grow() {
    for compression in available().filter(|compression| *compression != Compression::None) {
        let payload = payload(500);
        let stored = compress(compression, &payload);
        for at in 0..stored.len() {
            let cut = decompress(compression, &stored[..at], payload.len());
            assert!(cut.is_err() || cut.unwrap().len() < payload.len(), "{compression} at {at}");
            let mut damaged = stored.clone();
            damaged[at] ^= 1 << (at % 8);
            if let Ok(out) = decompress(compression, &damaged, payload.len()) {
                assert!(out.len() <= payload.len());
            }
        }
    }
}

#[test]
fn a_missing_codec_is_named_with_its_feature() {
    for compression in [Compression::Lzo, Compression::Bzip2] {
        let missing = ensure_available(compression).unwrap_err();
        assert_eq!(missing.to_string(), format!("hblite has no codec for {compression}"));
        assert_eq!(missing.feature, None);
    }
    let zstd = ensure_available(Compression::Zstd).err();
    assert_eq!(zstd.is_none(), cfg!(feature = "zstd"));
    if let Some(missing) = zstd {
        assert_eq!(
            missing.to_string(),
            "this build of hblite has no codec for ZSTD: build it with the feature `zstd`"
        );
        let error = hblite_model::Error::from(missing);
        assert_eq!(error.exception(), hblite_model::Exception::UnsupportedOperation);
    }
}

/// Grants a fixed number of bytes.
struct Limited(usize);

impl Memory for Limited {
    fn try_reserve(&mut self, bytes: &mut Vec<u8>, more: usize) -> bool {
        bytes.len() + more <= self.0 && Heap.try_reserve(bytes, more)
    }
}

#[test]
fn no_more_memory_is_used_than_was_granted() {
    let zeros = vec![0; 8 << 20];
    for compression in available() {
        let stored = compress(compression, &zeros);
        let mut memory = Limited(1 << 20);
        let mut out = Output::new(zeros.len(), &mut memory);
        let error = codec(compression).unwrap().decompress(&stored, &mut out).unwrap_err();
        assert!(matches!(error, CodecError::NoMemory(_)), "{compression}: {error}");
        assert!(out.into_bytes().capacity() <= 2 << 20, "{compression}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_payload_or_refused(bytes: Vec<u8>) {
        for compression in available() {
            if let Ok(out) = decompress(compression, &bytes, 1 << 16) {
                prop_assert!(out.len() <= 1 << 16);
            }
        }
    }
}
