//! What `help` prints.

use hblite::HBASE_VERSION;

use super::{self as command, GROUPS};

/// How to use a table in a variable.
pub(crate) const TABLE_HELP: &str = "\
Tables in variables.

'create' and 'get_table' return a table, which can be assigned to a variable:

  hbase> t = create 't1', 'f1'
  hbase> t = get_table 't1'

Commands that take a table as their first argument can be called on it without naming it:

  hbase> t.put 'r1', 'f1:q1', 'value'
  hbase> t.scan LIMIT => 10
  hbase> t.describe
  hbase> t.disable
  hbase> t.drop

These are append, count, delete, deleteall, describe, disable, drop, enable, flush, get,
get_counter, get_splits, incr, put, scan and snapshot. For more on one of them:

  hbase> t.help 'scan'
";

const USAGE: &str = "\
SHELL USAGE:
Put names of tables, families and columns in quotes, and separate parameters by commas. Settings are
Ruby hashes, whose keys are constants without quotes or texts in quotes:

  {NAME => 'f1', VERSIONS => 5, 'my.key' => 'my value'}

The braces around the last parameter may be omitted. Bytes that cannot be typed are escaped
inside double quotes, in hexadecimal or octal digits; inside single quotes nothing is escaped:

  hbase> get 't1', \"key\\x03\\x3f\\xcd\"
  hbase> get 't1', \"key\\003\\023\\011\"

The result of a command can be assigned to a variable (t = get_table 't1'; t.scan). Several commands
on a line are separated by ';', comments begin with '#', unfinished lines continue on the next one.
Loops, if, blocks, def, rescue, #{…} within double quotes and the usual methods of Ruby work, too.
'exit' ends the shell.

In a script, these comments control the commands after them: '#: echo' prints each line before its
output, '#: expect-error' requires that the next command fails, '#: allow-error' permits that it
fails, and '#: keep-going' continues after errors.";

/// The version line.
pub(crate) fn version() -> String {
    format!("{HBASE_VERSION}, hblite {}", env!("CARGO_PKG_VERSION"))
}

/// The help on a command or group, or on everything.
pub(crate) fn text(topic: Option<&str>) -> String {
    let Some(topic) = topic else {
        return format!("{}\n\n{}\n{USAGE}", header(), groups());
    };
    if let Some(command) = command::find(topic) {
        return command.usage.to_owned();
    }
    if let Some(group) = GROUPS.iter().find(|group| group.name == topic) {
        let usages = group
            .commands
            .iter()
            .map(|command| format!("Command: {}\n{}\n", command.name, command.usage));
        return usages.collect::<Vec<_>>().join("\n");
    }
    format!("ERROR: Invalid command or command group name: {topic}\n\n{}\n\n{}", header(), groups())
}

fn header() -> String {
    format!(
        "HBase Shell, version {}\n\
         Type 'help \"COMMAND\"', (e.g. 'help \"get\"' -- the quotes are necessary) for help on a \
         specific command.\n\
         Commands are grouped. Type 'help \"COMMAND_GROUP\"', (e.g. 'help \"general\"') for help \
         on a command group.",
        version()
    )
}

fn groups() -> String {
    let mut text = "COMMAND GROUPS:\n".to_owned();
    for group in GROUPS {
        let names: Vec<_> = group
            .commands
            .iter()
            .flat_map(|command| std::iter::once(&command.name).chain(command.aliases))
            .copied()
            .collect();
        text.push_str(&format!(
            "  Group name: {}\n  Commands: {}\n\n",
            group.name,
            names.join(", ")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_by_command_by_group_and_for_everything() {
        assert!(text(Some("get")).contains("hbase> get 't1', 'r1'"));
        assert_eq!(text(Some("desc")), text(Some("describe")));
        let general = text(Some("general"));
        assert!(general.contains("Command: status\n") && general.contains("Command: whoami\n"));
        let all = text(None);
        for command in command::all() {
            assert!(all.contains(command.name), "{}", command.name);
            assert!(!command.usage.is_empty() && !command.usage.ends_with('\n'));
        }
        let unknown = text(Some("nosuch"));
        assert!(unknown.starts_with("ERROR: Invalid command or command group name: nosuch\n"));
    }

    /// Every method that the help on tables names exists, and none is missing from the help.
    #[test]
    fn table_help_names_the_methods_of_tables() {
        let mut methods: Vec<_> =
            command::all().filter(|c| c.is_table_method).map(|c| c.name).collect();
        methods.sort_unstable();
        let last = methods.pop().unwrap();
        let list = format!("{} and {last}.", methods.join(", "));
        assert!(TABLE_HELP.replace('\n', " ").contains(&list), "{list}");
    }
}
