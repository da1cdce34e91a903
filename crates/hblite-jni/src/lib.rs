//! The native methods of the class `hblite.embedded.Native` in `kits/java`: HBase's client for Java
//! with the store in the same process.
//!
//! - `env` is the JVM: arrays, buffers, exceptions
//! - `handles` has what is open
//!
//! No thread of this library calls into the JVM. A panic becomes an exception.

#![allow(unsafe_code, reason = "the JVM passes pointers")]

mod env;
mod handles;

use std::cell::RefCell;
use std::path::PathBuf;

use hblite::{Error, ErrorKind};
use hblite_server::{CallAnswer, CallFailure};
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong, jobject};

use self::env::{Env, Thrown, run};

/// Results of a call without an answer, as the class `Native` names them.
const REFUSED: jint = -1;
const DROPPED: jint = -2;
const TIMED_OUT: jint = -3;
const CLOSED: jint = -4;

thread_local! {
    /// An answer that did not fit the buffer, until Java has made room for it.
    static LARGE: RefCell<Option<CallAnswer>> = const { RefCell::new(None) };
}

/// The exception for an error.
fn thrown(error: Error) -> Thrown {
    let class = match error.kind() {
        ErrorKind::Locked => "hblite/embedded/StoreLockedException",
        _ => "java/io/IOException",
    };
    Thrown { class, message: error.message().to_owned() }
}

/// Opens the store in a directory, whose path is in UTF-8, or for null an empty one in memory.
/// `settings` are lines with `name=value` in UTF-8.
///
/// # Safety
/// The JVM calls it, as it does all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_open(
    env: *mut JNIEnv,
    _: jclass,
    dir: jbyteArray,
    region_servers: jint,
    settings: jbyteArray,
) -> jlong {
    let open = |env: &mut Env<'_>| {
        let path = env.text(dir)?.map(PathBuf::from);
        let settings = env.text(settings)?.unwrap_or_default();
        let region_servers = usize::try_from(region_servers).unwrap_or(0);
        handles::open(path.as_deref(), region_servers, &settings).map_err(thrown)
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, 0, open) }
}

/// Opens a copy-on-write view of a checkpoint of a store.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_fork(
    env: *mut JNIEnv,
    _: jclass,
    store: jlong,
    checkpoint: jbyteArray,
) -> jlong {
    let fork = |env: &mut Env<'_>| {
        let checkpoint = env.text(checkpoint)?.unwrap_or_default();
        handles::fork(store, &checkpoint).map_err(thrown)
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, 0, fork) }
}

/// Answers a request to the admin endpoint of a store; method, path, body and answer are in UTF-8.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_admin(
    env: *mut JNIEnv,
    _: jclass,
    store: jlong,
    method: jbyteArray,
    path: jbyteArray,
    body: jbyteArray,
) -> jbyteArray {
    let admin = |env: &mut Env<'_>| {
        let method = env.text(method)?.unwrap_or_default();
        let (path, body) = (env.text(path)?, env.text(body)?);
        let (path, body) = (path.unwrap_or_default(), body.unwrap_or_default());
        let answer = handles::admin(store, &method, &path, &body).map_err(thrown)?;
        Ok(env.new_bytes(answer.as_bytes()))
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, std::ptr::null_mut(), admin) }
}

/// Closes a store.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_close(
    env: *mut JNIEnv,
    _: jclass,
    store: jlong,
) {
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, (), |_| handles::close(store).map_err(thrown)) }
}

/// Returns `host:port` of the master in ASCII.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_master(
    env: *mut JNIEnv,
    _: jclass,
    store: jlong,
) -> jbyteArray {
    let master = |env: &mut Env<'_>| {
        handles::master(store).map(|master| env.new_bytes(master.as_bytes())).map_err(thrown)
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, std::ptr::null_mut(), master) }
}

/// Connects to the server with this port; `header` is HBase's `ConnectionHeader`.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_connect(
    env: *mut JNIEnv,
    _: jclass,
    store: jlong,
    port: jint,
    header: jbyteArray,
) -> jlong {
    let connect = |env: &mut Env<'_>| {
        let header = env.bytes(header).unwrap_or_default();
        let port = u16::try_from(port).unwrap_or(0);
        handles::connect(store, port, &header).map_err(thrown)
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, 0, connect) }
}

/// Closes a channel.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_disconnect(
    env: *mut JNIEnv,
    _: jclass,
    channel: jlong,
) {
    let disconnect = |_: &mut Env<'_>| {
        handles::disconnect(channel);
        Ok(())
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, (), disconnect) }
}

/// Runs the call whose frame is in the first `length` bytes of a direct buffer of this thread, or
/// in `frame` unless that is null. Returns the length of the answer, which is in the buffer or, if
/// it does not fit, kept for `Native.answer`; or why there is none.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`]; the buffer belongs to the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_call(
    env: *mut JNIEnv,
    _: jclass,
    channel: jlong,
    buffer: jobject,
    length: jint,
    frame: jbyteArray,
) -> jint {
    let call = |env: &mut Env<'_>| {
        let large = env.bytes(frame);
        // SAFETY: the class `Native` has a buffer for each thread, and this is the calling one's;
        // the thread is here until the call ends.
        let buffer = unsafe { env.buffer(buffer) }.unwrap_or_default();
        let length = usize::try_from(length).unwrap_or(0).min(buffer.len());
        Ok(answer(channel, buffer, length, large))
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, CLOSED, call) }
}

fn answer(channel: jlong, buffer: &mut [u8], length: usize, large: Option<Vec<u8>>) -> jint {
    let Some(channel) = handles::channel(channel) else { return CLOSED };
    let result = channel.call(large.as_deref().unwrap_or(&buffer[..length]));
    let answer = match result {
        Ok(answer) => answer,
        Err(CallFailure::Refused) => return REFUSED,
        Err(CallFailure::TimedOut) => return TIMED_OUT,
        Err(CallFailure::Closed) => return CLOSED,
        Err(_) => return DROPPED,
    };
    let (head, cells) = (answer.head(), answer.cells());
    let size = head.len() + cells.len();
    // Java has no larger arrays; the server's limit for answers is far below.
    let Ok(result) = jint::try_from(size) else { return DROPPED };
    if size <= buffer.len() {
        buffer[..head.len()].copy_from_slice(head);
        buffer[head.len()..size].copy_from_slice(cells);
    } else {
        LARGE.set(Some(answer));
    }
    result
}

/// Copies the kept answer of this thread's last call into an array of its length.
///
/// # Safety
/// As [`Java_hblite_embedded_Native_open`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_hblite_embedded_Native_answer(
    env: *mut JNIEnv,
    _: jclass,
    into: jbyteArray,
) {
    let copy = |env: &mut Env<'_>| {
        if let Some(answer) = LARGE.take().filter(|_| !into.is_null()) {
            env.set_bytes(into, 0, answer.head());
            env.set_bytes(into, answer.head().len(), answer.cells());
        }
        Ok(())
    };
    // SAFETY: `env` is what the JVM passed to this method.
    unsafe { run(env, (), copy) }
}
