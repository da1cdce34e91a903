//! Coprocessors among a table's attributes, in the form of HBase's descriptors:
//!
//! ```text
//! coprocessor$<number> = [jar]|class|[priority][|key=value,...]
//! ```

use super::table::TableDescriptor;
use crate::error::{Error, Exception, Result};

const KEY: &str = "coprocessor$";

/// The pattern that HBase names in its refusals (`CP_HTD_ATTR_VALUE_PATTERN`).
const PATTERN: &str = r"(^[^\|]*)\|([^\|]+)\|[\s]*([\d]*)[\s]*(\|.*)?$";

/// A coprocessor of a table: what hblite needs of `CoprocessorDescriptor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coprocessor<'a> {
    /// Where its code is; empty for a class of the server.
    pub jar: &'a str,
    /// The Java class.
    pub class: &'a str,
}

impl TableDescriptor {
    /// The coprocessors. As in HBase, a value in any other form is ignored.
    pub fn coprocessors(&self) -> impl Iterator<Item = Coprocessor<'_>> {
        let specs = self.attributes().iter().filter(|(key, _)| number(key).is_some());
        specs.filter_map(|(_, spec)| parse(spec.trim())).map(|(coprocessor, _)| coprocessor)
    }

    /// Removes all coprocessors.
    pub fn remove_coprocessors(&mut self) {
        let names: Vec<String> =
            self.attributes().keys().filter(|key| number(key).is_some()).cloned().collect();
        names.iter().for_each(|name| self.remove_attribute(name));
    }

    /// Removes a coprocessor by its class, if the table has it.
    pub fn remove_coprocessor(&mut self, class: &str) {
        let is_it = |(key, spec): &(&String, &String)| {
            number(key).is_some() && parse(spec).is_some_and(|(one, _)| one.class == class)
        };
        let keys: Vec<String> =
            self.attributes().iter().filter(is_it).map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.remove_attribute(key));
    }

    /// Adds a coprocessor under the next free number (`addCoprocessorWithSpec`). Whether a server
    /// has the class is checked when the table is created or modified.
    ///
    /// # Errors
    /// `IllegalArgument` if the text is not in this form, `Io` if the table already has the class.
    pub fn add_coprocessor(&mut self, spec: &str) -> Result<()> {
        let (Coprocessor { class, .. }, priority) = parse(spec).ok_or_else(|| {
            Error::illegal_argument(format!("Format does not match {PATTERN}: {spec}"))
        })?;
        if !priority.is_empty() && priority.parse::<i32>().is_err() {
            return Err(Error::illegal_argument(format!("For input string: \"{priority}\"")));
        }
        if self.coprocessors().any(|known| known.class == class) {
            let message = format!("Coprocessor {class} already exists.");
            return Err(Error::new(Exception::Io, message));
        }
        let last = self.attributes().keys().filter_map(|key| number(key)).max().unwrap_or(0);
        self.set_attribute(&format!("{KEY}{}", last.saturating_add(1)), spec)
    }
}

/// The number in `coprocessor$<number>`, in upper or lower case.
fn number(key: &str) -> Option<u32> {
    let (name, number) = key.trim().split_at_checked(KEY.len())?;
    let is_key = name.eq_ignore_ascii_case(KEY) && is_number(number);
    is_key.then(|| number.parse().unwrap_or(u32::MAX))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A coprocessor and its priority, which may be empty.
fn parse(spec: &str) -> Option<(Coprocessor<'_>, &str)> {
    let mut parts = spec.splitn(4, '|').map(str::trim);
    let (jar, class, priority) = (parts.next()?, parts.next()?, parts.next()?);
    let is_one = !class.is_empty() && (priority.is_empty() || is_number(priority));
    is_one.then_some((Coprocessor { jar, class }, priority))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TableDescriptor {
        TableDescriptor::new("t".parse().unwrap())
    }

    #[test]
    fn the_next_coprocessor_takes_the_next_number() {
        let mut table = table();
        table.add_coprocessor("|a.B|1001|").unwrap();
        table.set_attribute("Coprocessor$7", "not one").unwrap();
        table.add_coprocessor(" x.jar | a.C | 5 | k=v").unwrap();
        assert_eq!(table.attributes()["coprocessor$8"], " x.jar | a.C | 5 | k=v");
        let coprocessors: Vec<_> = table.coprocessors().collect();
        let (b, c) =
            (Coprocessor { jar: "", class: "a.B" }, Coprocessor { jar: "x.jar", class: "a.C" });
        assert_eq!(coprocessors, [b, c]);
    }

    #[test]
    fn other_forms_and_known_classes_are_refused() {
        let mut table = table();
        table.add_coprocessor("|a.B||").unwrap();
        for spec in ["", "a.B", "|a.B", "| |1|", "|a.B|x|", "|a.B|1 2|"] {
            let refusal = table.add_coprocessor(spec).unwrap_err();
            assert_eq!(refusal.message(), format!("Format does not match {PATTERN}: {spec}"));
        }
        let refusal = table.add_coprocessor("x.jar|a.B|1|").unwrap_err();
        assert_eq!(refusal.message(), "Coprocessor a.B already exists.");
        let refusal = table.add_coprocessor("|a.C|2147483648|").unwrap_err();
        assert_eq!(refusal.message(), "For input string: \"2147483648\"");
        assert_eq!(table.coprocessors().count(), 1);
    }
}
