//! The tests of the REST gateway, one module each. Those that count memory are a program apart.

mod clock_and_rewinds;
mod golden;
mod hostile;
mod http;
mod settings;
