//! Namespaces.

use hblite::NamespaceDescriptor;

use super::pattern::Pattern;
use super::{Arguments, CommandResult, Context, Failure, MANY, not_of};
use crate::value::Value;

commands! {
    "alter_namespace" 1 MANY, "\
Sets or removes properties of a namespace.

  hbase> alter_namespace 'ns1', {METHOD => 'set', 'PROPERTY_NAME' => 'PROPERTY_VALUE'}
  hbase> alter_namespace 'ns1', {METHOD => 'unset', NAME => 'PROPERTY_NAME'}" => alter_namespace;

    "create_namespace" 1 MANY, "\
Creates a namespace, with properties if there are any.

  hbase> create_namespace 'ns1'
  hbase> create_namespace 'ns1', {'PROPERTY_NAME' => 'PROPERTY_VALUE'}" => create_namespace;

    "describe_namespace" 1 1, "\
Prints the properties of a namespace.

  hbase> describe_namespace 'ns1'" => describe_namespace;

    "drop_namespace" 1 1, "\
Deletes a namespace, which must contain no tables.

  hbase> drop_namespace 'ns1'" => drop_namespace;

    "list_namespace" 0 1, "\
Lists namespaces, all or those whose name contains a match of a regular expression.

  hbase> list_namespace
  hbase> list_namespace 'abc.*'" => list_namespace;

    "list_namespace_tables" 1 1, "\
Lists the tables of a namespace.

  hbase> list_namespace_tables 'ns1'" => list_namespace_tables;
}

const NAME: &str = "Namespace name";

fn create_namespace(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let mut namespace = NamespaceDescriptor::new(&arguments.name(0, NAME)?);
    for argument in arguments.rest(1) {
        let Value::Hash(properties) = argument else {
            return Err(not_of(argument, "Hash or String"));
        };
        for (key, value) in properties.iter() {
            namespace = namespace.with_property(&key.to_text(), &value.to_text());
        }
    }
    context.connection.admin().create_namespace(&namespace)?;
    Ok(Value::Nil)
}

fn alter_namespace(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let admin = context.connection.admin();
    let mut namespace = admin.describe_namespace(&arguments.name(0, NAME)?)?;
    for argument in arguments.rest(1) {
        let Value::Hash(change) = argument else {
            return Err(not_of(argument, "Hash"));
        };
        let mut change = change.clone();
        let method = change.remove("METHOD").map(|method| method.to_text()).unwrap_or_default();
        match method.as_str() {
            "set" => {
                for (key, value) in change.iter() {
                    namespace = namespace.with_property(&key.to_text(), &value.to_text());
                }
            }
            "unset" => {
                let name = change.get("NAME").map(Value::to_text).unwrap_or_default();
                namespace.properties.remove(&name);
            }
            unknown => return Err(Failure::refused(format!("Unknown method {unknown}"))),
        }
    }
    admin.modify_namespace(&namespace)?;
    Ok(Value::Nil)
}

fn describe_namespace(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let namespace = context.connection.admin().describe_namespace(&arguments.name(0, NAME)?)?;
    context.out.header(&["DESCRIPTION"])?;
    context.out.row(&namespace.to_string())?;
    context.out.line("Quota is disabled")?;
    Ok(Value::Nil)
}

fn drop_namespace(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.connection.admin().delete_namespace(&arguments.name(0, NAME)?)?;
    Ok(Value::Nil)
}

fn list_namespace(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["NAMESPACE"])?;
    let pattern = Pattern::searching(&arguments, 0)?;
    let namespaces = context.connection.admin().list_namespaces()?;
    let mut count = 0;
    for namespace in namespaces.iter().filter(|namespace| pattern.matches(&namespace.name)) {
        context.out.name("namespace", &namespace.name)?;
        count += 1;
    }
    context.out.footer(count)?;
    Ok(Value::Nil)
}

fn list_namespace_tables(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["TABLE"])?;
    let tables = context.connection.admin().list_namespace_tables(&arguments.name(0, NAME)?)?;
    for table in &tables {
        context.out.name("table", table.qualifier())?;
    }
    context.out.footer(tables.len() as u64)?;
    Ok(Value::Array(tables.iter().map(|table| Value::from(table.qualifier())).collect()))
}
