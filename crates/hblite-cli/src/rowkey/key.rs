//! `hblite rowkey encode` and `decode`.

use std::fmt::Write as _;

use clap::Args;
use hblite::bytes::{from_string_binary, to_string_binary};
use hblite_rowkey::Value;

use super::design;
use hblite_hotspot::data::parse_value as value;

/// Which record.
#[derive(Debug, Args)]
pub(super) struct EncodeArguments {
    /// The design
    design: String,
    /// The values of its fields, in the order of the key: numbers; times in milliseconds or like
    /// 2026-01-31T12:00:00Z; text; bytes with \xHH. Text that begins with a hyphen comes after --
    #[arg(required = true, allow_negative_numbers = true)]
    values: Vec<String>,
    /// The number of the salt, for a design with a random salt
    #[arg(long, value_name = "N")]
    salt: Option<u64>,
}

/// Which keys.
#[derive(Debug, Args)]
pub(super) struct DecodeArguments {
    /// The design
    design: String,
    /// Keys as HBase's shell prints them, with \xHH
    #[arg(required = true)]
    keys: Vec<String>,
}

pub(super) fn encode(arguments: &EncodeArguments) -> Result<String, String> {
    let design = design(&arguments.design)?;
    let fields = design.fields();
    if fields.len() != arguments.values.len() {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        return Err(format!(
            "{} values were given for the fields {}",
            arguments.values.len(),
            names.join(", ")
        ));
    }
    if design.has_random_salt() && arguments.salt.is_none() {
        return Err("the salt is random: name its number with --salt".to_owned());
    }
    let values = fields.iter().zip(&arguments.values);
    let values: Vec<Value<'_>> =
        values.map(|(field, text)| value(field, text)).collect::<Result<_, _>>()?;
    let mut key = Vec::new();
    design
        .encode_into(&values, arguments.salt.unwrap_or(0), &mut key)
        .map_err(|error| error.to_string())?;
    Ok(format!("{}\n", to_string_binary(&key)))
}

pub(super) fn decode(arguments: &DecodeArguments) -> Result<String, String> {
    let design = design(&arguments.design)?;
    let mut text = String::new();
    for shown in &arguments.keys {
        let key = from_string_binary(shown);
        let wrong = |error: hblite_rowkey::Error| format!("{shown}: {error}");
        let ends = design.part_ends(&key).map_err(wrong)?;
        let mut values = design.decode(&key).map_err(wrong)?.into_iter();
        let width = design.parts().iter().map(|part| part.to_string().len()).max().unwrap_or(0);
        let _ = writeln!(text, "{} ({} bytes)", to_string_binary(&key), key.len());
        let mut start = 0;
        for (part, end) in design.parts().iter().zip(ends) {
            let value = match part {
                hblite_rowkey::Part::Field(_) => values.next(),
                _ => None,
            };
            let value = value.map_or_else(String::new, |value| format!(" = {value}"));
            let bytes = to_string_binary(&key[start..end]);
            let _ = writeln!(text, "  {:width$}  {bytes}{value}", part.to_string());
            start = end;
        }
    }
    Ok(text)
}
