//! Permissions of users, and visibility labels. A store has neither.

use hblite::bytes::to_string_binary;
use hblite::{
    Exception, LabelQuery, LabelWork, PermissionAction, PermissionPlace, PermissionWork, Put, Scan,
    SystemTables, TableName, UserPermission,
};

use super::read::scan_from_hash;
use super::{Arguments, CommandResult, Context, Failure, MANY, table};
use crate::value::{Hash, Value};

commands! {
    "grant" 1 MANY, "Adds to what a user may do: read, write, execute, create, administer."
        " 'bob', 'RWXCA'\n  hbase> grant 'bob', 'R', '@ns1'\n  hbase> grant '@admins', 'RW', \
         't1', 'f1', 'q1'" grant;
    "revoke" 1 4, "Removes what a user may do somewhere."
        " 'bob'\n  hbase> revoke 'bob', '@ns1'\n  hbase> revoke 'bob', 't1', 'f1', 'q1'" revoke;
    "user_permission" 0 1, "Lists what users may do."
        "\n  hbase> user_permission 't1'\n  hbase> user_permission '@ns.*'" user_permission;
    "add_labels" 0 MANY, "Adds visibility labels." " ['SECRET', 'PRIVATE']"
        |context, arguments| {
            check(context, "CELL_VISIBILITY", NO_LABELS)?;
            let labels = texts(&arguments, 0);
            if labels.is_empty() {
                return Err(Failure::refused("Arguments cannot be null"));
            }
            change_labels(context, &LabelWork::Add(labels))
        };
    "list_labels" 0 1, "Lists visibility labels." "\n  hbase> list_labels 'SEC.*'"
        |context, arguments| {
            let pattern = arguments.name_if_given(0, "A regular expression")?;
            let pattern = pattern.unwrap_or_else(|| ".*".to_owned());
            list_labels(context, &LabelQuery::Matching(pattern))
        };
    "set_auths" 1 MANY, "Gives a user visibility labels." " 'user1', ['SECRET', 'PRIVATE']"
        |context, arguments| {
            check(context, "CELL_VISIBILITY", NO_LABELS)?;
            let user = arguments.name(0, "A user")?;
            change_labels(context, &LabelWork::SetAuths(user, texts(&arguments, 1)))
        };
    "get_auths" 1 1, "Lists the visibility labels of a user." " 'user1'"
        |context, arguments| {
            let user = arguments.name(0, "A user")?;
            list_labels(context, &LabelQuery::OfUser(user))
        };
    "clear_auths" 1 MANY, "Takes visibility labels from a user." " 'user1', ['SECRET']"
        |context, arguments| {
            check(context, "CELL_VISIBILITY", NO_LABELS)?;
            let user = arguments.name(0, "A user")?;
            change_labels(context, &LabelWork::ClearAuths(user, texts(&arguments, 1)))
        };
    "set_visibility" 3 3, "Writes the cells that a scan finds again, with visibility labels."
        " 't1', 'A|B', {COLUMNS => ['f1']}"
        |context, arguments| {
            let (expression, scan) = (arguments.name(1, "An expression")?, scan_at(&arguments, 2)?);
            write_again(context, &arguments, &scan, |put| put.with_cell_visibility(&expression))
        };
}

const NO_PERMISSIONS: &str = "DISABLED: Security features are not available";
const NO_LABELS: &str = "DISABLED: Visibility labels feature is not available";
/// HBase's letters for what is permitted.
const LETTERS: [(char, PermissionAction); 5] = [
    ('R', PermissionAction::Read),
    ('W', PermissionAction::Write),
    ('X', PermissionAction::Exec),
    ('C', PermissionAction::Create),
    ('A', PermissionAction::Admin),
];

/// Refuses with `message` where the security feature is off.
fn check(context: &Context<'_>, feature: &str, message: &str) -> Result<(), Failure> {
    let features = context.connection.admin().master_report()?.security_capabilities;
    match features.iter().any(|name| name == feature) {
        true => Ok(()),
        false => Err(Failure::refused(message)),
    }
}

fn texts(arguments: &Arguments, from: usize) -> Vec<String> {
    arguments.rest(from).into_iter().map(Value::to_text).collect()
}

fn grant(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    if !matches!(arguments.get(0), Some(Value::String(_))) {
        return Err(Failure::refused("First argument should be a String"));
    }
    let letters = match arguments.get(1) {
        Some(Value::String(_)) => arguments.name(1, "Permissions")?,
        Some(Value::Hash(users)) => return grant_cells(context, &arguments, users),
        _ => return Err(Failure::refused("Second argument should be a String or Hash")),
    };
    check(context, "AUTHORIZATION", NO_PERMISSIONS)?;
    if letters.is_empty() {
        let message = "Invalid permission: no actions associated with user";
        return Err(Failure::refused(message));
    }
    let actions = actions_of(&letters);
    let (user, place) = (arguments.name(0, "A user")?, place(context, &arguments, 2)?);
    if actions.is_empty() {
        let message = format!("java.io.IOException: No actions associated with user '{user}'");
        return Err(Failure::refused(message));
    }
    let permission = UserPermission { user, place, actions };
    context.connection.admin().change_permission(&PermissionWork::Grant(permission))?;
    Ok(Value::Nil)
}

/// What letters permit. As in HBase, others mean nothing.
fn actions_of(letters: &str) -> Vec<PermissionAction> {
    let known = LETTERS.iter().filter(|(letter, _)| letters.contains(*letter));
    known.map(|(_, action)| *action).collect()
}

/// Writes the cells that a scan finds again, with the permissions of users.
fn grant_cells(context: &mut Context<'_>, arguments: &Arguments, users: &Hash) -> CommandResult {
    let scan = scan_at(arguments, 2)?;
    let users: Vec<(String, Vec<PermissionAction>)> = users
        .iter()
        .map(|(user, letters)| (user.to_text(), actions_of(&letters.to_text())))
        .collect();
    write_again(context, arguments, &scan, |put| {
        put.with_cell_permissions(users.iter().map(|(user, actions)| (&**user, &**actions)))
    })
}

/// The scan that an argument describes, which must be there.
fn scan_at(arguments: &Arguments, at: usize) -> Result<Scan, Failure> {
    match arguments.get(at) {
        Some(Value::Hash(options)) => Ok(scan_from_hash(options)?.0),
        _ => Err(Failure::refused("Scanner specification is not a Hash")),
    }
}

/// Writes each cell that a scan of the first argument finds as it is, but for what `change` adds.
fn write_again(
    context: &mut Context<'_>,
    arguments: &Arguments,
    scan: &Scan,
    change: impl Fn(Put) -> Put,
) -> CommandResult {
    let table = table(context, arguments)?;
    let mut scanner = table.scan(scan)?;
    let count = context.for_each_row(&mut scanner, |_, row, _| {
        for cell in row.cells() {
            let (family, qualifier) = (cell.family(), cell.qualifier());
            let put = Put::new(row.row()).add_at(family, qualifier, cell.timestamp(), cell.value());
            table.put(&change(put))?;
        }
        Ok(())
    })?;
    context.out.footer(count)?;
    Ok(Value::Nil)
}

fn revoke(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    check(context, "AUTHORIZATION", NO_PERMISSIONS)?;
    let (user, place) = (arguments.name(0, "A user")?, place(context, &arguments, 1)?);
    let actions = match place {
        PermissionPlace::Global => Vec::new(),
        _ => PermissionAction::ALL.to_vec(),
    };
    let permission = UserPermission { user, place, actions };
    context.connection.admin().change_permission(&PermissionWork::Revoke(permission))?;
    Ok(Value::Nil)
}

/// Where a permission applies: `@namespace`, or a table, a family and a qualifier.
fn place(
    context: &Context<'_>,
    arguments: &Arguments,
    at: usize,
) -> Result<PermissionPlace, Failure> {
    let Some(text) = arguments.name_if_given(at, "Table name")? else {
        return Ok(PermissionPlace::Global);
    };
    let admin = context.connection.admin();
    if let Some(namespace) = text.strip_prefix('@') {
        return match admin.describe_namespace(namespace) {
            Err(error) if error.exception() == Exception::NamespaceNotFound => {
                Err(Failure::refused(format!("Can't find a namespace: {namespace}")))
            }
            found => Ok(found.map(|_| PermissionPlace::Namespace(namespace.to_owned()))?),
        };
    }
    let table: TableName = text.parse()?;
    if !admin.table_exists(&table)? {
        return Err(Failure::refused(format!("Can't find a table: {text}")));
    }
    let family = arguments.name_if_given(at + 1, "Family")?;
    if let Some(family) = &family
        && admin.describe_table(&table)?.family(family.as_bytes()).is_none()
    {
        return Err(Failure::refused(format!("Can't find a family: {family}")));
    }
    let qualifier = arguments.name_if_given(at + 2, "Qualifier")?;
    Ok(PermissionPlace::Table {
        table,
        family: family.map(String::into_bytes),
        qualifier: qualifier.map(String::into_bytes),
    })
}

fn user_permission(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["User", "Namespace,Table,Family,Qualifier:Permission"])?;
    check(context, "AUTHORIZATION", NO_PERMISSIONS)?;
    let admin = context.connection.admin();
    let wanted = arguments.name_if_given(0, "A regular expression")?.unwrap_or_default();
    let places = match wanted.strip_prefix('@') {
        Some(wanted) => {
            let pattern = super::pattern::whole_name(wanted)?;
            let names = admin.list_namespaces()?.into_iter().map(|namespace| namespace.name);
            let names = names.filter(|name| pattern.is_match(name));
            names.map(PermissionPlace::Namespace).collect()
        }
        None if wanted.is_empty() => vec![PermissionPlace::Global],
        None => {
            let pattern = super::pattern::whole_name(&wanted)?;
            let tables = admin.list_tables(SystemTables::Include)?;
            let names = tables.iter().map(|table| table.name().clone());
            let names = names.filter(|name| pattern.is_match(&name.to_string()));
            let place = |table| PermissionPlace::Table { table, family: None, qualifier: None };
            names.map(place).collect::<Vec<_>>()
        }
    };
    let mut count = 0;
    for place in &places {
        for permission in admin.user_permissions(place)? {
            let names: Vec<&str> = permission.actions.iter().map(|one| one.name()).collect();
            let place = place_text(&permission.place, wanted.is_empty());
            let actions = names.join(",");
            let text = format!("{place}: [Permission: actions={actions}]");
            context.out.row_of_two(&permission.user, &text)?;
            count += 1;
        }
    }
    context.out.footer(count)?;
    Ok(Value::Nil)
}

/// The four parts of a place. HBase's shell leaves them out where it lists everything.
fn place_text(place: &PermissionPlace, is_left_out: bool) -> String {
    match place {
        _ if is_left_out => ",,,".to_owned(),
        PermissionPlace::Global => ",,,".to_owned(),
        PermissionPlace::Namespace(name) => format!("{name},,,"),
        PermissionPlace::Table { table, family, qualifier } => {
            let text = |bytes: &Option<Vec<u8>>| to_string_binary(bytes.as_deref().unwrap_or(b""));
            format!("{},{table},{},{}", table.namespace(), text(family), text(qualifier))
        }
    }
}

fn list_labels(context: &mut Context<'_>, query: &LabelQuery) -> CommandResult {
    check(context, "CELL_VISIBILITY", NO_LABELS)?;
    for label in context.connection.admin().labels(query)? {
        context.out.row(&to_string_binary(&label))?;
    }
    Ok(Value::Nil)
}

fn change_labels(context: &Context<'_>, work: &LabelWork) -> CommandResult {
    let errors = context.connection.admin().change_labels(work)?;
    match errors.is_empty() {
        true => Ok(Value::Nil),
        false => Err(Failure::refused(errors.concat())),
    }
}
