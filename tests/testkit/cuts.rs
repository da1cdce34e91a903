//! Cuts a piece of work off after each operation of the disk, so that a test can look at every
//! state that a crash may leave.

use std::fmt;

use hblite_env::CrashFileSystem;

/// Where the work was cut off.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// How many operations of the disk the work could still do.
    pub(crate) after: u64,
    /// How many it does when nothing cuts it off.
    pub(crate) of: u64,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cut after {} of {} operations", self.after, self.of)
    }
}

/// Does `work` on prepared files, then repeats it on freshly prepared ones with the power off
/// after every `stride`-th operation, from none to all of them.
///
/// `work` takes what it works with, so that nothing of it is open when `look` gets the files, the
/// outcome and the place of the cut. The test decides what is left: `after_kill` or
/// `after_power_cut`. Preparation and work must do the same operations every time.
pub(crate) fn at_every_operation<P, R>(
    stride: usize,
    prepare: impl Fn() -> (CrashFileSystem, P),
    work: impl Fn(P) -> R,
    mut look: impl FnMut(&CrashFileSystem, R, Cut),
) {
    let (fs, prepared) = prepare();
    let begun = fs.operation_count();
    work(prepared);
    let of = fs.operation_count() - begun;
    assert!(of > 0, "the work changes no file");
    for after in (0..=of).step_by(stride) {
        let (fs, prepared) = prepare();
        fs.power_off_after(after);
        let outcome = work(prepared);
        look(&fs, outcome, Cut { after, of });
    }
}

/// Opens what a kill leaves of `fs`, and cuts the open off after every `stride`-th of its
/// operations. `look` gets the files and the place of this cut.
pub(crate) fn at_every_open_after_a_kill<C, E>(
    fs: &CrashFileSystem,
    stride: usize,
    open: impl Fn(CrashFileSystem) -> Result<C, E>,
    mut look: impl FnMut(&CrashFileSystem, Cut),
) {
    let killed = || {
        let killed = fs.after_kill();
        (killed.clone(), killed)
    };
    at_every_operation(stride, killed, |fs| drop(open(fs)), |fs, (), cut| look(fs, cut));
}
