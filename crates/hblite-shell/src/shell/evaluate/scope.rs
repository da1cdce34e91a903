//! Variables: frames of methods, and of blocks within them.

use std::collections::{BTreeMap, BTreeSet};

use crate::value::Value;

/// One call of a method or block.
#[derive(Debug, Default)]
struct Frame {
    variables: BTreeMap<String, Value>,
    /// The frame whose variables are seen, too; `None` for a method.
    outer: Option<usize>,
    /// The block that was passed to the method, and the frame where it was written.
    block: Option<super::Passed>,
}

/// The frames in use. The first one has the variables of the shell.
///
/// Invariant: a frame's outer frame comes before it, so that it lives longer.
#[derive(Debug)]
pub(crate) struct Scope {
    frames: Vec<Frame>,
    current: usize,
}

impl Default for Scope {
    fn default() -> Self {
        Self { frames: vec![Frame::default()], current: 0 }
    }
}

/// What [`Scope::leave`] returns to.
pub(super) struct Left(usize);

impl Scope {
    /// Begins a method.
    pub(super) fn enter_method(&mut self, block: Option<super::Passed>) -> Left {
        self.push(Frame { block, ..Frame::default() })
    }

    /// Begins a block that was written in the frame `outer`.
    pub(super) fn enter_block(&mut self, outer: usize) -> Left {
        self.push(Frame { outer: Some(outer), ..Frame::default() })
    }

    fn push(&mut self, frame: Frame) -> Left {
        let left = Left(self.current);
        self.frames.push(frame);
        self.current = self.frames.len() - 1;
        left
    }

    pub(super) fn leave(&mut self, left: Left) {
        self.frames.pop();
        self.current = left.0;
    }

    /// Forgets all frames but the first, after an error.
    pub(crate) fn reset(&mut self) {
        self.frames.truncate(1);
        self.current = 0;
    }

    /// The frame of the code that runs.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// The block of the method that runs.
    pub(super) fn block(&self) -> Option<super::Passed> {
        let mut at = self.current;
        while let Some(outer) = self.frames[at].outer {
            at = outer;
        }
        self.frames[at].block.clone()
    }

    fn frame_with(&self, name: &str) -> Option<usize> {
        let mut at = Some(self.current);
        while let Some(frame) = at {
            if self.frames[frame].variables.contains_key(name) {
                return Some(frame);
            }
            at = self.frames[frame].outer;
        }
        None
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.frames[self.frame_with(name)?].variables.get(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let frame = self.frame_with(name)?;
        self.frames[frame].variables.get_mut(name)
    }

    /// Changes the variable of this name, or makes one in the current frame.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        match self.get_mut(name) {
            Some(variable) => *variable = value,
            None => self.declare(name, value),
        }
    }

    /// Makes a variable in the current frame.
    pub(super) fn declare(&mut self, name: &str, value: Value) {
        self.frames[self.current].variables.insert(name.to_owned(), value);
    }

    /// The names of the variables of the shell.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.frames[0].variables.keys().cloned().collect()
    }
}
