//! What Tab completes: commands and options outside of strings, and within them the names of
//! tables, families, namespaces and snapshots, by the command and the argument.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hblite::{Connection, Result, SystemTables};
use hblite_shell::{CONSTANTS, command_names};

/// How long Tab waits for names. A cluster may be slow to answer, or gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Commands whose second argument is a row.
const ROW_COMMANDS: [&str; 8] =
    ["append", "delete", "deleteall", "get", "get_counter", "incr", "locate_region", "put"];
/// Commands that take families without qualifiers.
const FAMILY_COMMANDS: [&str; 5] = ["alter", "alter_async", "compact", "flush", "major_compact"];
/// Commands whose first argument is a snapshot.
const SNAPSHOT_COMMANDS: [&str; 5] = [
    "clone_snapshot",
    "delete_snapshot",
    "list_snapshot_sizes",
    "list_snapshots",
    "restore_snapshot",
];

/// Names that a string may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    Tables,
    Namespaces,
    Snapshots,
    /// The families of the table; with `true` as the beginning of a column: `f:`.
    Families(String, bool),
}

/// The names in the store, none if they cannot be had in time.
pub(crate) fn names(connection: &Connection, wanted: &Wanted) -> Vec<String> {
    let (sender, receiver) = mpsc::channel();
    let (connection, wanted) = (connection.clone(), wanted.clone());
    let asked = thread::Builder::new().name("hblite-completion".to_owned()).spawn(move || {
        // After the time limit, the receiver is gone.
        let _ = sender.send(ask(&connection, &wanted).unwrap_or_default());
    });
    match asked {
        Ok(_) => receiver.recv_timeout(PATIENCE).unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

fn ask(connection: &Connection, wanted: &Wanted) -> Result<Vec<String>> {
    let admin = connection.admin();
    Ok(match wanted {
        Wanted::Tables => {
            let tables = admin.list_tables(SystemTables::Include)?;
            tables.iter().map(|table| table.name().to_string()).collect()
        }
        Wanted::Namespaces => {
            admin.list_namespaces()?.into_iter().map(|namespace| namespace.name).collect()
        }
        Wanted::Snapshots => {
            admin.list_snapshots()?.into_iter().map(|snapshot| snapshot.name).collect()
        }
        Wanted::Families(table, is_column) => {
            let colon = if *is_column { ":" } else { "" };
            let table = admin.describe_table(table.as_str())?;
            table.families().map(|family| format!("{}{colon}", family.name_as_string())).collect()
        }
    })
}

/// Where the word at the end of `line` begins, and its completions. `names` returns names of the
/// store.
pub(crate) fn complete(
    line: &str,
    names: impl FnOnce(&Wanted) -> Vec<String>,
) -> (usize, Vec<String>) {
    let statement = Statement::of(line);
    if let Some((start, quote)) = statement.open_string {
        let wanted = statement.wanted();
        let text = &line[start..];
        let known = wanted.as_ref().map(names).unwrap_or_default();
        // A column continues after its family.
        let is_column = matches!(wanted, Some(Wanted::Families(_, true)));
        let end = if is_column { String::new() } else { quote.to_string() };
        return (start, starting_with(text, known.into_iter().map(|name| name + &end)));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let start = line
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + line[at..].chars().next().map_or(0, char::len_utf8));
    let word = &line[start..];
    if word.is_empty() {
        return (start, Vec::new());
    }
    let known = command_names().chain(CONSTANTS.iter().copied()).chain(["exit", "help", "quit"]);
    (start, starting_with(word, known.map(str::to_owned)))
}

fn starting_with(text: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut matching: Vec<String> = names.filter(|name| name.starts_with(text)).collect();
    matching.sort_unstable();
    matching
}

/// What the end of a line belongs to.
#[derive(Debug, Default)]
struct Statement {
    /// The last word before the first argument.
    command: String,
    /// The texts of the arguments that are strings, up to the one that is being typed.
    arguments: Vec<String>,
    /// Where the text of a string without an end begins, and its quote.
    open_string: Option<(usize, char)>,
}

impl Statement {
    fn of(line: &str) -> Self {
        let mut statement = Self::default();
        // Brackets that are open; commas within them do not separate arguments.
        let mut depth = 0_usize;
        let mut is_escaped = false;
        let mut has_arguments = false;
        for (at, character) in line.char_indices() {
            if let Some((start, quote)) = statement.open_string {
                match character {
                    _ if is_escaped => is_escaped = false,
                    '\\' => is_escaped = true,
                    c if c == quote => {
                        let text = line[start..at].to_owned();
                        if depth == 0
                            && let Some(last) = statement.arguments.last_mut()
                        {
                            *last = text;
                        }
                        statement.open_string = None;
                    }
                    _ => {}
                }
                continue;
            }
            match character {
                '\'' | '"' => {
                    has_arguments = true;
                    if statement.arguments.is_empty() {
                        statement.arguments.push(String::new());
                    }
                    statement.open_string = Some((at + character.len_utf8(), character));
                }
                ';' | '|' | '=' if !has_arguments => statement = Self::default(),
                ';' => (statement, depth, has_arguments) = (Self::default(), 0, false),
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => statement.arguments.push(String::new()),
                c if has_arguments || !(c.is_alphanumeric() || c == '_') => {
                    // A word that is followed by another one is none of the command's.
                    if !has_arguments && !c.is_whitespace() && c != '(' {
                        statement.command.clear();
                    }
                }
                c => {
                    let is_new = line[..at].chars().next_back().is_none_or(char::is_whitespace);
                    if is_new {
                        statement.command.clear();
                    }
                    statement.command.push(c);
                }
            }
        }
        statement
    }

    /// Which names the string at the end may hold.
    fn wanted(&self) -> Option<Wanted> {
        let command = self.command.as_str();
        let at = self.arguments.len().saturating_sub(1);
        if at == 0 {
            return Some(match command {
                _ if command.contains("namespace") => Wanted::Namespaces,
                _ if SNAPSHOT_COMMANDS.contains(&command) => Wanted::Snapshots,
                _ => Wanted::Tables,
            });
        }
        let is_row = at == 1 && ROW_COMMANDS.contains(&command);
        let is_column = !FAMILY_COMMANDS.contains(&command);
        let table = self.arguments.first().filter(|table| !table.is_empty() && !is_row)?;
        Some(Wanted::Families(table.clone(), is_column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str) -> (usize, Vec<String>) {
        complete(line, |wanted| {
            let names: &[&str] = match wanted {
                Wanted::Tables => &["users", "usage", "ns:t"],
                Wanted::Namespaces => &["default", "ns"],
                Wanted::Snapshots => &["snap"],
                Wanted::Families(table, true) if table == "users" => &["info:", "data:"],
                Wanted::Families(table, false) if table == "users" => &["info", "data"],
                Wanted::Families(..) => &[],
            };
            names.iter().map(|name| (*name).to_owned()).collect()
        })
    }

    #[test]
    fn commands_and_options_are_completed_outside_of_strings() {
        assert_eq!(completed("truncate_p"), (0, vec!["truncate_preserve".to_owned()]));
        assert_eq!(completed("scan 't', {START"), (11, vec!["STARTROW".to_owned()]));
        assert_eq!(completed("scan 't', ").1, Vec::<String>::new());
        assert_eq!(completed("é‘sca"), (5, vec!["scan".to_owned()]));
    }

    #[test]
    fn names_of_the_store_are_completed_within_strings() {
        let only = |line: &str| match completed(line).1.as_slice() {
            [one] => one.clone(),
            all => panic!("{line}: {all:?}"),
        };
        assert_eq!(completed("get 'us"), (5, vec!["usage'".to_owned(), "users'".to_owned()]));
        assert_eq!(only("t = get_table \"use"), "users\"");
        assert_eq!(only("list; scan 'ns"), "ns:t'");
        assert_eq!(only("get('users', 'r', 'in"), "info:");
        assert_eq!(only("put 'users', 'r', 'd"), "data:");
        assert_eq!(only("scan 'users', {LIMIT => 3, COLUMNS => ['info:a', 'd"), "data:");
        assert_eq!(only("alter 'users', NAME => 'i"), "info'");
        assert_eq!(only("list_namespace_tables 'n"), "ns'");
        assert_eq!(only("restore_snapshot 's"), "snap'");
        for none in ["get 'users', 'i", "put 'nope', 'r', 'i", "get 'users', \"it's 'u"] {
            assert_eq!(completed(none).1, Vec::<String>::new(), "{none}");
        }
    }
}
