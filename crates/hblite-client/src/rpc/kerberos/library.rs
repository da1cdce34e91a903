//! The system's Kerberos library, `libgssapi_krb5` of MIT Kerberos, as safe values.
//!
//! It is loaded when the first connection authenticates, so a build needs neither its headers nor
//! a C compiler, and a machine without it gets an error that names it. Declarations are those of
//! `gssapi/gssapi.h` and `gssapi/gssapi_ext.h` (RFC 2744).
//!
//! This file has the only unsafe code of the crate. Invariants:
//! - The library is never unloaded, so its functions may be called at any time.
//! - A `Handle` is null, or was returned by the library; its `Object` releases it once.
//! - Buffers that the library returns are copied and released before a function returns; those that
//!   it gets live until the call ends, and it does not keep or change them.
//! - MIT Kerberos requires that no two threads use one object at a time. Contexts and credentials
//!   are used through `&mut` or by their only owner; names and credentials are not changed by the
//!   calls that share them.
//!
//! Threads: a value belongs to one at a time; it may move to another.

#![allow(unsafe_code, reason = "a C library has no safe interface")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use libloading::Library;

use super::status::GssError;

/// The file names of the library. Apple's and Windows' libraries have other declarations.
const FILES: &[&str] =
    if cfg!(all(unix, not(target_vendor = "apple"))) { &["libgssapi_krb5.so.2"] } else { &[] };

type Handle = *mut c_void;

/// `gss_buffer_desc`.
#[repr(C)]
struct Buffer {
    length: usize,
    value: *mut c_void,
}

/// `gss_OID_desc`.
#[repr(C)]
struct Oid {
    length: u32,
    elements: *const c_void,
}

/// `gss_OID_set_desc`.
#[repr(C)]
struct OidSet {
    count: usize,
    elements: *const Oid,
}

/// `gss_key_value_element_desc`.
#[repr(C)]
struct KeyValue {
    key: *const c_char,
    value: *const c_char,
}

/// `gss_key_value_set_desc`.
#[repr(C)]
struct KeyValueSet {
    count: u32,
    elements: *const KeyValue,
}

// SAFETY: they point to constants, which nothing changes.
unsafe impl Sync for Oid {}

const fn oid(bytes: &'static [u8]) -> Oid {
    Oid { length: bytes.len() as u32, elements: bytes.as_ptr().cast() }
}

/// 1.2.840.113554.1.2.2, Kerberos.
static KERBEROS: Oid = oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02");
/// 1.2.840.113554.1.2.2.1, `GSS_KRB5_NT_PRINCIPAL_NAME`.
static PRINCIPAL: Oid = oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01");
/// 1.2.840.113554.1.2.1.4, `GSS_C_NT_HOSTBASED_SERVICE`.
static HOST_BASED_SERVICE: Oid = oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04");

const INITIATE: c_int = 1;
const STATUS_OF_GSSAPI: c_int = 1;
const STATUS_OF_MECHANISM: c_int = 2;
/// The bits of a status that are errors; the others add information.
const ERRORS: u32 = 0xffff_0000;
const CONTINUE_NEEDED: u32 = 1;
/// Texts that a status may have.
const TEXTS_MAX: usize = 8;

/// Declares the functions of the library, and loads them.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),* $(,)?);)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn(*mut u32, $($argument),*) -> u32,)*
        }

        impl Functions {
            fn load(file: &str) -> Result<Self, libloading::Error> {
                // SAFETY: loading runs the library's initializers, which are written for that.
                let library = unsafe { Library::new(file) }?;
                let functions = Self {
                    // SAFETY: the types are those of the headers.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0")) }?,)*
                };
                std::mem::forget(library);
                Ok(functions)
            }
        }
    };
}

// The first argument of each is `OM_uint32 *minor_status`.
functions! {
    gss_import_name: fn(*const Buffer, *const Oid, *mut Handle);
    gss_canonicalize_name: fn(Handle, *const Oid, *mut Handle);
    gss_display_name: fn(Handle, *mut Buffer, *mut *const Oid);
    gss_release_name: fn(*mut Handle);
    gss_acquire_cred_from: fn(
        Handle, u32, *const OidSet, c_int, *const KeyValueSet, *mut Handle, *mut *const OidSet,
        *mut u32,
    );
    gss_inquire_cred: fn(Handle, *mut Handle, *mut u32, *mut c_int, *mut *const OidSet);
    gss_release_cred: fn(*mut Handle);
    gss_init_sec_context: fn(
        Handle, *mut Handle, Handle, *const Oid, u32, u32, *const c_void, *const Buffer,
        *mut *const Oid, *mut Buffer, *mut u32, *mut u32,
    );
    gss_delete_sec_context: fn(*mut Handle, *mut Buffer);
    gss_wrap: fn(Handle, c_int, u32, *const Buffer, *mut c_int, *mut Buffer);
    gss_unwrap: fn(Handle, *const Buffer, *mut Buffer, *mut c_int, *mut u32);
    gss_wrap_size_limit: fn(Handle, c_int, u32, u32, *mut u32);
    gss_display_status: fn(u32, c_int, *const Oid, *mut u32, *mut Buffer);
    gss_release_buffer: fn(*mut Buffer);
}

/// The library's functions.
#[derive(Clone, Copy)]
pub(super) struct Gss {
    functions: &'static Functions,
}

impl Gss {
    /// Loads the library, the first time.
    ///
    /// # Errors
    /// Why it cannot be loaded, and what to install.
    pub(super) fn load() -> Result<Self, String> {
        static LOADED: OnceLock<Result<Functions, String>> = OnceLock::new();
        let loaded = LOADED.get_or_init(|| {
            let mut why = "this client uses it on Linux and BSD only".to_owned();
            for file in FILES {
                match Functions::load(file) {
                    Ok(functions) => return Ok(functions),
                    Err(error) => why = format!("{error}; Debian's package is libgssapi-krb5-2"),
                }
            }
            Err(format!("the library of MIT Kerberos cannot be loaded: {why}"))
        });
        loaded.as_ref().map(|functions| Self { functions }).map_err(Clone::clone)
    }

    /// A name that `text` is in the syntax of `kind`.
    fn import(self, text: &str, kind: &'static Oid) -> Result<Name, GssError> {
        let mut name = Name::none(self);
        // SAFETY: all pointers are valid during the call.
        self.call(|gss, minor| unsafe {
            (gss.gss_import_name)(minor, &borrowed(text.as_bytes()), kind, &mut name.0.handle)
        })?;
        Ok(name)
    }

    /// A principal, such as `hbase/host@REALM`.
    pub(super) fn principal(self, text: &str) -> Result<Name, GssError> {
        self.import(text, &PRINCIPAL)
    }

    /// The principal of a service on a host, `service/canonical.host@REALM`; without a host, this
    /// one. It may ask the name service.
    pub(super) fn service_principal(
        self,
        service: &str,
        host: Option<&str>,
    ) -> Result<String, GssError> {
        let text = host.map_or_else(|| service.to_owned(), |host| format!("{service}@{host}"));
        let name = self.import(&text, &HOST_BASED_SERVICE)?;
        let mut canonical = Name::none(self);
        // SAFETY: the name is one of the library's, and all pointers are valid during the call.
        self.call(|gss, minor| unsafe {
            (gss.gss_canonicalize_name)(
                minor,
                name.0.handle,
                &raw const KERBEROS,
                &mut canonical.0.handle,
            )
        })?;
        canonical.text()
    }

    /// Credentials to begin with: of `principal` or any, from where `store` says.
    pub(super) fn credentials(
        self,
        principal: Option<&Name>,
        store: &[(&CStr, &CStr)],
    ) -> Result<Credentials, GssError> {
        let elements: Vec<KeyValue> = store
            .iter()
            .map(|(key, value)| KeyValue { key: key.as_ptr(), value: value.as_ptr() })
            .collect();
        let store = KeyValueSet { count: elements.len() as u32, elements: elements.as_ptr() };
        let mechanisms = OidSet { count: 1, elements: &raw const KERBEROS };
        let mut credentials = Credentials(Object::none(self, |gss, minor, handle| {
            // SAFETY: the credentials are the library's, and not used again.
            unsafe { (gss.gss_release_cred)(minor, handle) }
        }));
        // SAFETY: the name is null or one of the library's; all pointers are valid during the call.
        self.call(|gss, minor| unsafe {
            (gss.gss_acquire_cred_from)(
                minor,
                principal.map_or(null_mut(), |name| name.0.handle),
                0,
                &raw const mechanisms,
                INITIATE,
                if elements.is_empty() { null() } else { &raw const store },
                &mut credentials.0.handle,
                null_mut(),
                null_mut(),
            )
        })?;
        Ok(credentials)
    }

    /// Calls a function that gets the place for the code of Kerberos, and returns its status if
    /// that is not an error.
    fn call(self, function: impl FnOnce(&Functions, *mut u32) -> u32) -> Result<u32, GssError> {
        let mut minor = 0;
        let major = function(self.functions, &raw mut minor);
        if major & ERRORS == 0 {
            return Ok(major);
        }
        let (routine, code) = ((major >> 16) & 0xff, minor.cast_signed());
        let of_mechanism =
            if code == 0 { Vec::new() } else { self.texts(minor, STATUS_OF_MECHANISM) };
        let mut texts = Vec::new();
        // The text of this routine error says only that there may be another one.
        if routine != GssError::FAILURE || of_mechanism.is_empty() {
            texts = self.texts(major, STATUS_OF_GSSAPI);
        }
        texts.extend(of_mechanism);
        Err(GssError { routine, code, text: texts.join(": ") })
    }

    fn texts(self, status: u32, kind: c_int) -> Vec<String> {
        let mut texts = Vec::new();
        let (mut next, mut minor) = (0, 0);
        while texts.len() < TEXTS_MAX {
            let mut text = Returned::new(self);
            // SAFETY: all pointers are valid during the call.
            let major = unsafe {
                (self.functions.gss_display_status)(
                    &raw mut minor,
                    status,
                    kind,
                    &raw const KERBEROS,
                    &raw mut next,
                    &raw mut text.buffer,
                )
            };
            if major & ERRORS != 0 {
                break;
            }
            texts.push(text.to_text());
            if next == 0 {
                break;
            }
        }
        texts
    }
}

fn borrowed(bytes: &[u8]) -> Buffer {
    Buffer { length: bytes.len(), value: bytes.as_ptr().cast_mut().cast() }
}

/// A buffer that the library fills, and that is released at the end.
struct Returned {
    gss: Gss,
    buffer: Buffer,
}

impl Returned {
    fn new(gss: Gss) -> Self {
        Self { gss, buffer: Buffer { length: 0, value: null_mut() } }
    }

    fn to_vec(&self) -> Vec<u8> {
        if self.buffer.value.is_null() {
            return Vec::new();
        }
        // SAFETY: the library has filled the buffer, which is not released yet.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.buffer.value.cast(), self.buffer.length) };
        bytes.to_vec()
    }

    fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_vec()).into_owned()
    }
}

impl Drop for Returned {
    fn drop(&mut self) {
        // SAFETY: the buffer is empty, or the library has filled it.
        unsafe { (self.gss.functions.gss_release_buffer)(&mut 0, &raw mut self.buffer) };
    }
}

type Release = fn(&Functions, *mut u32, *mut Handle) -> u32;

/// The owner of an object of the library.
struct Object {
    gss: Gss,
    handle: Handle,
    /// Called once, with the object.
    release: Release,
}

impl Object {
    /// The place for an object that `release` releases.
    fn none(gss: Gss, release: Release) -> Self {
        Self { gss, handle: null_mut(), release }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            (self.release)(self.gss.functions, &mut 0, &raw mut self.handle);
        }
    }
}

/// A name.
pub(super) struct Name(Object);

impl Name {
    fn none(gss: Gss) -> Self {
        Self(Object::none(gss, |gss, minor, handle| {
            // SAFETY: the name is the library's, and not used again.
            unsafe { (gss.gss_release_name)(minor, handle) }
        }))
    }

    /// The name as a principal.
    pub(super) fn text(&self) -> Result<String, GssError> {
        let mut text = Returned::new(self.0.gss);
        // SAFETY: the name is one of the library's, and all pointers are valid during the call.
        self.0.gss.call(|gss, minor| unsafe {
            (gss.gss_display_name)(minor, self.0.handle, &mut text.buffer, null_mut())
        })?;
        Ok(text.to_text())
    }
}

/// Tickets to begin contexts with.
pub(super) struct Credentials(Object);

impl Credentials {
    /// The principal that has them.
    pub(super) fn owner(&self) -> Result<String, GssError> {
        let mut name = Name::none(self.0.gss);
        let (gss, own) = (self.0.gss, self.0.handle);
        // SAFETY: the credentials are the library's, and all pointers are valid during the call.
        gss.call(|gss, minor| unsafe {
            let (seconds, usage, mechanisms) = (null_mut(), null_mut(), null_mut());
            (gss.gss_inquire_cred)(minor, own, &mut name.0.handle, seconds, usage, mechanisms)
        })?;
        name.text()
    }
}

/// A security context with a server.
pub(super) struct Context {
    object: Object,
    credentials: Credentials,
    server: Name,
    wanted_flags: u32,
    /// What the context has.
    flags: u32,
}

// SAFETY: the library's objects are not bound to a thread, and each has one owner.
unsafe impl Send for Context {}

impl Context {
    /// Nothing is sent yet.
    pub(super) fn new(gss: Gss, credentials: Credentials, server: Name, wanted_flags: u32) -> Self {
        let object = Object::none(gss, |gss, minor, handle| {
            // SAFETY: the context is the library's, and not used again.
            unsafe { (gss.gss_delete_sec_context)(minor, handle, null_mut()) }
        });
        Self { object, credentials, server, wanted_flags, flags: 0 }
    }

    pub(super) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Whether the context has all of these flags.
    pub(super) fn has(&self, flags: u32) -> bool {
        self.flags & flags == flags
    }

    /// Takes the server's token, and returns the next one and whether the context is established.
    /// It may wait for a KDC.
    pub(super) fn step(&mut self, token: &[u8]) -> Result<(Vec<u8>, bool), GssError> {
        let mut next = Returned::new(self.object.gss);
        // SAFETY: the handles are null or the library's; all pointers are valid during the call.
        let status = self.object.gss.call(|gss, minor| unsafe {
            (gss.gss_init_sec_context)(
                minor,
                self.credentials.0.handle,
                &mut self.object.handle,
                self.server.0.handle,
                &raw const KERBEROS,
                self.wanted_flags,
                0,
                null(),
                &borrowed(token),
                null_mut(),
                &mut next.buffer,
                &raw mut self.flags,
                null_mut(),
            )
        })?;
        Ok((next.to_vec(), status & CONTINUE_NEEDED == 0))
    }

    /// Signs, and encrypts if `encrypts`.
    pub(super) fn wrap(&mut self, plain: &[u8], encrypts: bool) -> Result<Vec<u8>, GssError> {
        let mut wrapped = Returned::new(self.object.gss);
        let mut was_encrypted = 0;
        // SAFETY: the context is the library's, and all pointers are valid during the call.
        self.object.gss.call(|gss, minor| unsafe {
            (gss.gss_wrap)(
                minor,
                self.object.handle,
                c_int::from(encrypts),
                0,
                &borrowed(plain),
                &raw mut was_encrypted,
                &mut wrapped.buffer,
            )
        })?;
        if encrypts && was_encrypted == 0 {
            return Err(GssError::of_text("the library does not encrypt"));
        }
        Ok(wrapped.to_vec())
    }

    /// Verifies that this is the peer's next message, and returns its bytes and whether they were
    /// encrypted.
    pub(super) fn unwrap(&mut self, wrapped: &[u8]) -> Result<(Vec<u8>, bool), GssError> {
        let mut plain = Returned::new(self.object.gss);
        let mut was_encrypted = 0;
        // SAFETY: the context is the library's, and all pointers are valid during the call.
        let status = self.object.gss.call(|gss, minor| unsafe {
            (gss.gss_unwrap)(
                minor,
                self.object.handle,
                &borrowed(wrapped),
                &mut plain.buffer,
                &raw mut was_encrypted,
                null_mut(),
            )
        })?;
        if status != 0 {
            return Err(GssError::of_text("a message of the server was repeated or is missing"));
        }
        Ok((plain.to_vec(), was_encrypted != 0))
    }

    /// The most bytes whose wrapped form has at most `wrapped_max` bytes.
    pub(super) fn plain_size_max(
        &mut self,
        wrapped_max: u32,
        encrypts: bool,
    ) -> Result<u32, GssError> {
        let (handle, encrypts) = (self.object.handle, c_int::from(encrypts));
        let mut plain_max = 0;
        // SAFETY: the context is the library's, and all pointers are valid during the call.
        self.object.gss.call(|gss, minor| unsafe {
            (gss.gss_wrap_size_limit)(minor, handle, encrypts, 0, wrapped_max, &raw mut plain_max)
        })?;
        Ok(plain_max)
    }
}
