//! How rows, columns and values are printed (`Table.to_string` of HBase's shell).

use hblite::bytes::to_string_binary;
use hblite::{CellRef, RegionInfo, RowResult, Table};

use super::columns::Converters;
use super::{Context, Failure, integer};
use crate::format::{Format, Output, local_date_time};
use crate::object::Object;
use crate::value::{Hash, Value};

/// The titles of rows as CSV.
const CSV_TITLES: [&str; 5] = ["row", "column", "timestamp", "type", "value"];

/// Prints the cells of one get or scan.
pub(super) struct CellPrinter {
    converters: Converters,
    /// For everything that has no converter of its own; `None` for text that shows all bytes.
    formatter: Option<String>,
    format: Format,
    /// Characters of a cell's text, `None` for all.
    length_max: Option<usize>,
    is_meta: bool,
    utc_offset_seconds: fn(i64) -> i32,
}

impl CellPrinter {
    /// Takes `FORMATTER`, `FORMATTER_CLASS` and `MAXLENGTH` out of a command's hash.
    pub(super) fn new(
        options: &mut Hash,
        table: &Table,
        context: &Context<'_>,
    ) -> Result<Self, Failure> {
        let formatter = match options.remove("FORMATTER") {
            Some(name) if name.is_truthy() => Some(converter_method(&name.to_text())?.to_owned()),
            _ => None,
        };
        if let Some(class) = options.remove("FORMATTER_CLASS")
            && class.is_truthy()
        {
            check_class(&class.to_text())?;
        }
        let length_max = match options.remove("MAXLENGTH") {
            Some(length) if length.is_truthy() => {
                usize::try_from(integer(&length, "MAXLENGTH")?).ok()
            }
            _ => None,
        };
        Ok(Self {
            converters: Converters::new(),
            formatter,
            format: context.out.format(),
            length_max,
            is_meta: table.name().is_meta(),
            utc_offset_seconds: context.options.utc_offset_seconds,
        })
    }

    /// Sets the converters of some columns.
    pub(super) fn with_converters(self, converters: Converters) -> Self {
        Self { converters, ..self }
    }

    /// A row key.
    pub(super) fn row(&self, row: &[u8]) -> Result<String, Failure> {
        self.text(row)
    }

    fn text(&self, bytes: &[u8]) -> Result<String, Failure> {
        match &self.formatter {
            Some(formatter) => convert(formatter, bytes),
            None => Ok(to_string_binary(bytes)),
        }
    }

    /// Prints a row, unless the format is text: what that looks like depends on the command.
    pub(super) fn print(&self, row: &RowResult, out: &mut Output) -> Result<(), Failure> {
        let key = self.row(row.row())?;
        let mut cells = Vec::new();
        for cell in row.cells() {
            let column = self.column(&cell)?;
            let marker = cell.cell_type().filter(|_| cell.is_delete());
            let marker = marker.map(|cell_type| cell_type.to_string());
            let value = marker.is_none().then(|| self.value(&cell)).transpose()?;
            if self.format == Format::Csv {
                let (kind, value) = (marker.as_deref(), value.as_deref());
                let timestamp = cell.timestamp().to_string();
                let fields =
                    [&*key, &column, &timestamp, kind.unwrap_or("Put"), value.unwrap_or_default()];
                out.csv(&CSV_TITLES, &fields)?;
                continue;
            }
            let object = Object::nested().with("column", column);
            let object = object.with("timestamp", cell.timestamp());
            cells.push(match (marker, value) {
                (Some(marker), _) => object.with("type", marker),
                (None, value) => object.with("value", value),
            });
        }
        if self.format == Format::Json && !row.is_empty() {
            let object = Object::new("row").with("row", key);
            let object = if row.is_stale() { object.with("stale", true) } else { object };
            out.object(object.with_objects("cells", cells))?;
        }
        Ok(())
    }

    /// `family:qualifier`.
    pub(super) fn column(&self, cell: &CellRef<'_>) -> Result<String, Failure> {
        Ok(format!("{}:{}", self.text(cell.family())?, self.text(cell.qualifier())?))
    }

    /// `timestamp=…, value=…`, or the type of a delete marker.
    pub(super) fn cell(&self, cell: &CellRef<'_>) -> Result<String, Failure> {
        let timestamp = cell.timestamp();
        let time = local_date_time(timestamp, (self.utc_offset_seconds)(timestamp));
        let content = match cell.cell_type() {
            Some(cell_type) if cell.is_delete() => format!("type={cell_type}"),
            _ => format!("value={}", self.value(cell)?),
        };
        let text = format!("timestamp={time}, {content}");
        Ok(match self.length_max {
            Some(length) => text.chars().take(length).collect(),
            None => text,
        })
    }

    fn value(&self, cell: &CellRef<'_>) -> Result<String, Failure> {
        let value = cell.value();
        if self.is_meta && cell.family() == b"info" {
            match cell.qualifier() {
                qualifier if holds_region_info(qualifier) => {
                    let region = RegionInfo::from_bytes(value);
                    return Ok(region.map(|region| region.to_string()).unwrap_or_default());
                }
                b"serverstartcode" if !value.is_empty() => return convert("toLong", value),
                _ => {}
            }
        }
        let key = (cell.family().to_vec(), cell.qualifier().to_vec());
        match self.converters.get(&key) {
            Some(converter) => convert(converter_method(converter)?, value),
            None => self.text(value),
        }
    }
}

fn holds_region_info(qualifier: &[u8]) -> bool {
    matches!(qualifier, b"regioninfo" | b"splitA" | b"splitB") || qualifier.starts_with(b"merge")
}

/// The method of a converter: `toLong`, or `c(org.apache.hadoop.hbase.util.Bytes).toLong`.
fn converter_method(converter: &str) -> Result<&str, Failure> {
    match converter.strip_prefix("c(").and_then(|rest| rest.split_once(").")) {
        Some((class, method)) => {
            check_class(class)?;
            Ok(method)
        }
        None => Ok(converter),
    }
}

fn check_class(class: &str) -> Result<(), Failure> {
    if class == "org.apache.hadoop.hbase.util.Bytes" {
        return Ok(());
    }
    Err(Failure::refused(format!(
        "FORMATTER class {class} is not supported; there is org.apache.hadoop.hbase.util.Bytes"
    )))
}

/// What a method of Java's `Bytes` returns for these bytes.
fn convert(method: &str, bytes: &[u8]) -> Result<String, Failure> {
    Ok(match method {
        "toStringBinary" => to_string_binary(bytes),
        "toString" => String::from_utf8_lossy(bytes).into_owned(),
        "toHex" => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        "toLong" => i64::from_be_bytes(leading(bytes)?).to_string(),
        "toInt" => i32::from_be_bytes(leading(bytes)?).to_string(),
        "toShort" => i16::from_be_bytes(leading(bytes)?).to_string(),
        "toDouble" => format!("{:?}", f64::from_be_bytes(leading(bytes)?)),
        "toFloat" => format!("{:?}", f32::from_be_bytes(leading(bytes)?)),
        "toBoolean" => (leading::<1>(bytes)? != [0]).to_string(),
        "len" => bytes.len().to_string(),
        unknown => {
            return Err(Failure::refused(format!(
                "undefined method `{unknown}' for class \
                 `#<Class:Java::OrgApacheHadoopHbaseUtil::Bytes>'"
            )));
        }
    })
}

/// The first bytes, of which there must be enough.
fn leading<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Failure> {
    bytes.first_chunk().copied().ok_or_else(|| {
        Failure::refused(format!(
            "offset (0) + length ({N}) exceed the capacity of the array: {}",
            bytes.len()
        ))
    })
}

/// The value of a counter.
pub(super) fn counter(bytes: &[u8]) -> Result<Value, Failure> {
    let number = bytes.try_into().map_err(|_| {
        Failure::refused(format!("Wrong length: {}, expected {}", bytes.len(), size_of::<i64>()))
    })?;
    Ok(Value::Integer(i64::from_be_bytes(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converters_are_methods_of_bytes() {
        let converted = |spec, bytes: &[u8]| {
            convert(converter_method(spec).unwrap(), bytes).map_err(|failure| match failure {
                Failure::Refused(message) => message,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(converted("toInt", b"visible").unwrap(), "1986622313");
        assert_eq!(converted("toLong", b"\xff\xff\xff\xff\xff\xff\xff\xfe").unwrap(), "-2");
        let class = "c(org.apache.hadoop.hbase.util.Bytes).toString";
        assert_eq!(converted(class, "é".as_bytes()).unwrap(), "é");
        assert_eq!(
            converted("toLong", b"ab").unwrap_err(),
            "offset (0) + length (8) exceed the capacity of the array: 2"
        );
        assert!(converted("toNothing", b"").is_err());
        assert!(converter_method("c(My.Class).format").is_err());
    }
}
