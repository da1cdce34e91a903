//! The JVM as a native method sees it: arrays, direct buffers, exceptions.

use std::any::Any;
use std::ffi::CString;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jni_sys::{JNIEnv, jbyte, jbyteArray, jobject, jsize};

/// The class of an exception for a fault of this library.
const PANIC: &str = "java/lang/IllegalStateException";

/// The exception to throw: a class, with slashes, and a message.
pub(crate) struct Thrown {
    pub(crate) class: &'static str,
    pub(crate) message: String,
}

/// The environment of the native method that runs, for as long as it does.
pub(crate) struct Env<'m> {
    env: *mut JNIEnv,
    method: PhantomData<&'m mut ()>,
}

/// Runs the body of a native method. An error or a panic becomes an exception, and the method
/// returns `failed`, which Java does not see.
///
/// # Safety
/// `env` is what the JVM passed to the native method that runs on this thread.
pub(crate) unsafe fn run<T>(
    env: *mut JNIEnv,
    failed: T,
    body: impl FnOnce(&mut Env<'_>) -> Result<T, Thrown>,
) -> T {
    let mut env = Env { env, method: PhantomData };
    let thrown = match catch_unwind(AssertUnwindSafe(|| body(&mut env))) {
        Ok(Ok(result)) => return result,
        Ok(Err(thrown)) => thrown,
        Err(panic) => Thrown { class: PANIC, message: text_of(panic.as_ref()) },
    };
    env.throw(&thrown);
    failed
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("hblite failed: {}", text.unwrap_or_default())
}

impl Env<'_> {
    /// The bytes of an array; `None` for null.
    pub(crate) fn bytes(&self, array: jbyteArray) -> Option<Vec<u8>> {
        if array.is_null() {
            return None;
        }
        // SAFETY: `env` belongs to this thread and method, and `array` is a reference that the JVM
        // passed to it; the type of the native method says that it is a byte[].
        let length = unsafe { ((**self.env).v1_6.GetArrayLength)(self.env, array) };
        let mut bytes = vec![0_u8; usize::try_from(length).unwrap_or(0)];
        let place = bytes.as_mut_ptr().cast::<jbyte>();
        // SAFETY: as above; `place` has room for `length` bytes, and an array's length is fixed.
        unsafe { ((**self.env).v1_6.GetByteArrayRegion)(self.env, array, 0, length, place) };
        Some(bytes)
    }

    /// The text in an array in UTF-8; `None` for null.
    pub(crate) fn text(&self, array: jbyteArray) -> Result<Option<String>, Thrown> {
        let text = self.bytes(array).map(String::from_utf8).transpose();
        text.map_err(|error| {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let message = format!("{text} is not Unicode");
            Thrown { class: "java/io/IOException", message }
        })
    }

    /// A new array; null, with an exception pending, if there is no memory for it.
    pub(crate) fn new_bytes(&self, bytes: &[u8]) -> jbyteArray {
        let length = jsize::try_from(bytes.len()).unwrap_or(jsize::MAX);
        // SAFETY: `env` belongs to this thread and method.
        let array = unsafe { ((**self.env).v1_6.NewByteArray)(self.env, length) };
        if !array.is_null() {
            self.set_bytes(array, 0, bytes);
        }
        array
    }

    /// Copies bytes into an array from `start`. If they do not fit, an
    /// `ArrayIndexOutOfBoundsException` is pending.
    pub(crate) fn set_bytes(&self, array: jbyteArray, start: usize, bytes: &[u8]) {
        let length = jsize::try_from(bytes.len()).unwrap_or(jsize::MAX);
        let start = jsize::try_from(start).unwrap_or(jsize::MAX);
        let from = bytes.as_ptr().cast::<jbyte>();
        // SAFETY: `array` is a byte[] that the JVM passed to this method or created for it. The
        // JVM checks that the range is inside the array, and reads at most `bytes.len()` bytes.
        unsafe { ((**self.env).v1_6.SetByteArrayRegion)(self.env, array, start, length, from) };
    }

    /// The memory of a direct buffer, from its beginning to its capacity; `None` if it has none.
    ///
    /// # Safety
    /// While the slice exists, nothing else reads or writes the buffer: it belongs to this thread.
    pub(crate) unsafe fn buffer(&mut self, buffer: jobject) -> Option<&mut [u8]> {
        if buffer.is_null() {
            return None;
        }
        // SAFETY: `buffer` is a reference that the JVM passed to this method, to a ByteBuffer.
        let address = unsafe { ((**self.env).v1_6.GetDirectBufferAddress)(self.env, buffer) };
        // SAFETY: the same.
        let capacity = unsafe { ((**self.env).v1_6.GetDirectBufferCapacity)(self.env, buffer) };
        let capacity = usize::try_from(capacity).ok()?;
        if address.is_null() {
            return None;
        }
        // SAFETY: the JVM keeps that memory while the buffer is referenced, which its caller does
        // until the method returns; it is initialized, since Java clears it. The caller promises
        // that the access is exclusive.
        Some(unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), capacity) })
    }

    fn throw(&self, thrown: &Thrown) {
        // SAFETY: `env` belongs to this thread and method.
        if unsafe { ((**self.env).v1_6.ExceptionCheck)(self.env) } {
            return;
        }
        let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
        let class = text(thrown.class);
        // SAFETY: no exception is pending, and the name is a C string that outlives the call.
        let class = unsafe { ((**self.env).v1_6.FindClass)(self.env, class.as_ptr()) };
        // Without the class, the JVM's own exception for that is pending.
        if !class.is_null() {
            // The JVM expects characters beyond ASCII in its own encoding.
            let ascii = |c: char| if c.is_ascii() { c } else { '?' };
            let message = text(&thrown.message.chars().map(ascii).collect::<String>());
            // SAFETY: `class` is a class, and the message a C string that outlives the call.
            unsafe { ((**self.env).v1_6.ThrowNew)(self.env, class, message.as_ptr()) };
        }
    }
}
