//! How the hottest region changes from window to window, for sources that give no rows.

/// Share of the windows in which the same must be true to be called the rule.
const MOST: f64 = 0.6;

/// The hottest region of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hottest {
    /// Its place among the table's regions.
    pub place: usize,
    /// How many regions there are.
    pub regions: usize,
    /// Its name or number.
    pub region: String,
}

/// How the hottest region changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Motion {
    /// There are too few windows.
    #[default]
    Unknown,
    /// It is the same.
    Stays,
    /// It is another one each time.
    Changes,
    /// It is another one, further on in the keys.
    Forward,
    /// It is the last one, whichever that is.
    Last,
}

impl Motion {
    /// Of the windows in their order. Places have a meaning only if keys are known.
    pub fn of(windows: &[Hottest], has_keys: bool) -> Self {
        let pairs = || windows.windows(2);
        let moved = pairs().filter(|pair| pair[0].region != pair[1].region).count();
        let forward = pairs().filter(|pair| pair[1].place > pair[0].place).count();
        let last = windows.iter().filter(|hottest| hottest.place + 1 == hottest.regions).count();
        if windows.len() < 2 {
            Self::Unknown
        } else if !has_keys {
            if moved * 2 >= windows.len() - 1 { Self::Changes } else { Self::Stays }
        } else if moved >= 2 && forward * 2 > moved {
            Self::Forward
        } else if last as f64 >= MOST * windows.len() as f64 {
            Self::Last
        } else if moved * 2 >= windows.len() {
            Self::Changes
        } else {
            Self::Stays
        }
    }

    /// What to do about the hottest region.
    pub(super) fn help(self, is_last: bool) -> &'static str {
        match self {
            Self::Changes => {
                "The hot region changes: what is requested at one time lies together. Start the \
                 key with something that does not grow, such as a salt, a hash or another field."
            }
            Self::Forward => {
                "The hot region moves forward: what is requested at one time lies together. Start \
                 the key with something that does not grow, such as a salt, a hash or another \
                 field."
            }
            Self::Last if is_last => {
                "It is usually the last region: keys may begin with a time or a sequence number. A \
                 salt or hash in front of the key spreads them, and a range is then read by one \
                 scan per salt; another field in front does so too."
            }
            _ => {
                "Its keys are not known. If there are many, split it; if it is one row, or the \
                 keys move, only a different key helps."
            }
        }
    }
}
