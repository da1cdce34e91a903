//! Lists of names.

use std::mem::MaybeUninit;

use crate::error::{Code, Error, Failure, run};
use crate::memory::Bytes;
use crate::registry::{self, Object};

/// A list of names. `hblite_free` ends it.
#[derive(Debug)]
pub struct List {
    /// Each with a NUL.
    names: Vec<String>,
}

impl Object for List {
    const NAME: &'static str = "hblite_list";
}

/// A handle for a list of these names.
pub(crate) fn add(names: impl Iterator<Item = String>) -> Result<*mut List, Failure> {
    registry::add(List { names: names.map(|name| name + "\0").collect() })
}

/// The name at `index`, from 0; NULL after the last one. A NUL, which `size` does not count,
/// follows each. The bytes stay until the list is freed.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_list_item(
    list: *mut List,
    index: usize,
    mut item: Option<&mut MaybeUninit<Bytes<'static>>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        Bytes::NONE.give(&mut item)?;
        let list = registry::get(list)?;
        let name = list.names.get(index).map_or(Bytes::NONE, |name| {
            let bytes = name.as_bytes();
            Bytes::new(&bytes[..bytes.len() - 1])
        });
        name.give(&mut item)
    })
}
