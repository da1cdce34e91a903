//! The tests of HFiles, one module each. Those with an allocator that refuses are a program apart.

mod damage;
mod golden;
mod reread;
mod round_trip;
mod support;
mod verify;
