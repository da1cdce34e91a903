//! Reading rows: `get`, `scan`, `count`.

use hblite::filter::{Filter, ListOperator};
use hblite::{ScanMetrics, bytes};

use super::cell_text::CellPrinter;
use super::read::{get_from_arguments, scan_from_hash};
use super::{Arguments, CommandResult, Context, Failure, integer, table};
use crate::format::Format;
use crate::object::Object;
use crate::value::{Hash, Value};

pub(super) fn get(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    context.out.header(&["COLUMN", "CELL"])?;
    let rest = arguments.rest(2);
    let mut options = match rest.first() {
        Some(Value::Hash(options)) => options.clone(),
        _ => Hash::default(),
    };
    let printer = CellPrinter::new(&mut options, &table, context)?;
    let (get, converters) = get_from_arguments(&arguments.bytes(1), &rest, &options)?;
    let printer = printer.with_converters(converters);
    let result = table.get(&get)?;
    if context.out.format() != Format::Text {
        printer.print(&result, context.out)?;
        return Ok(Value::Nil);
    }
    for cell in result.cells() {
        context.check_interrupt()?;
        context.out.row_of_two(&printer.column(&cell)?, &printer.cell(&cell)?)?;
    }
    // As in HBase's shell, an empty answer does not say that it may be stale.
    let count = u64::from(!result.is_empty());
    context.out.footer_of_read(count, count > 0 && result.is_stale())?;
    Ok(Value::Nil)
}

pub(super) fn scan(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    let mut options = arguments.hash(1, "Args")?;
    context.out.header(&["ROW", "COLUMN+CELL"])?;
    let printer = CellPrinter::new(&mut options, &table, context)?;
    let (scan, converters) = scan_from_hash(&options)?;
    let printer = printer.with_converters(converters);
    let mut scanner = table.scan(&scan)?;
    let mut is_stale = false;
    let count = context.for_each_row(&mut scanner, |context, row, _| {
        is_stale |= row.is_stale();
        if context.out.format() != Format::Text {
            return printer.print(row, context.out);
        }
        let key = printer.row(row.row())?;
        for cell in row.cells() {
            context.check_interrupt()?;
            let column = printer.column(&cell)?;
            let text = format!("column={column}, {}", printer.cell(&cell)?);
            context.out.row_of_two(&key, &text)?;
        }
        Ok(())
    })?;
    context.out.footer_of_read(count, is_stale)?;
    if scan.tracks_metrics() {
        print_metrics(context, &options, &scanner.metrics())?;
    }
    Ok(Value::Nil)
}

/// Prints what a scan has done: everything, or what `METRICS` names.
fn print_metrics(
    context: &mut Context<'_>,
    options: &Hash,
    metrics: &ScanMetrics,
) -> Result<(), Failure> {
    let wanted: Option<Vec<String>> = match options.truthy("METRICS") {
        Some(Value::Array(names)) => Some(names.iter().map(Value::to_text).collect()),
        Some(name) if matches!(name, Value::String(_)) => Some(vec![name.to_text()]),
        _ => None,
    };
    let is_chosen = |(name, _): &(&str, u64)| {
        wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|one| one == name))
    };
    let chosen: Vec<_> = metrics.values().into_iter().filter(is_chosen).collect();
    if context.out.format() == Format::Json {
        let object = chosen
            .iter()
            .fold(Object::new("metrics"), |object, (name, value)| object.with(name, *value));
        return Ok(context.out.object(object)?);
    }
    context.out.line("")?;
    context.out.header(&["METRIC", "VALUE"])?;
    for (name, value) in chosen {
        context.out.row_of_two(name, &value.to_string())?;
    }
    Ok(())
}

pub(super) fn count(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = table(context, &arguments)?;
    let (interval, options) = match arguments.get(1) {
        // The old syntax: the interval alone.
        Some(Value::Integer(interval)) => (*interval, Hash::default()),
        _ => {
            let mut options = arguments.hash(1, "Args")?;
            if let Some(Value::String(text)) = options.get("CACHE_BLOCKS") {
                let is_cached = match text.to_ascii_lowercase().as_slice() {
                    b"true" => true,
                    b"false" => false,
                    _ => {
                        return Err(Failure::refused(
                            "Expected CACHE_BLOCKS value to be a boolean or the string 'true' or \
                             'false'",
                        ));
                    }
                };
                options.insert(Value::from("CACHE_BLOCKS"), Value::Bool(is_cached));
            }
            let interval = options.truthy("INTERVAL");
            (interval.map_or(Ok(1000), |rows| integer(rows, "INTERVAL"))?, options)
        }
    };
    let interval = u64::try_from(interval)
        .ok()
        .filter(|interval| *interval > 0)
        .ok_or_else(|| Failure::refused("INTERVAL must be positive"))?;
    let (scan, _) = scan_from_hash(&options)?;
    let first_cell = Filter::first_key_only();
    let filter = match scan.filter() {
        Some(filter) => Filter::list(ListOperator::MustPassAll, vec![filter.clone(), first_cell]),
        None => first_cell,
    };
    let mut scanner = table.scan(&scan.with_filter(filter))?;
    let count = context.for_each_row(&mut scanner, |context, row, count| {
        if count % interval == 0 {
            let row = bytes::to_string_binary(row.row());
            context.out.row(&format!("Current count: {count}, row: {row}"))?;
        }
        Ok(())
    })?;
    context.out.footer(count)?;
    Ok(Value::Integer(count.cast_signed()))
}
