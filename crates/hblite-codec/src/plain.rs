//! NONE: the payload as it is.

use crate::{Codec, CodecError, Compressor, Output};

/// The codec.
#[derive(Debug)]
pub(crate) struct Plain;

impl Codec for Plain {
    fn compressor(&self) -> Box<dyn Compressor> {
        Box::new(Self)
    }

    fn decompress(&self, stored: &[u8], out: &mut Output<'_>) -> Result<(), CodecError> {
        out.append(stored)
    }
}

impl Compressor for Plain {
    fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.extend_from_slice(payload);
        Ok(())
    }
}
