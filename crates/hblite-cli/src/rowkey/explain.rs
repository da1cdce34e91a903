//! `hblite rowkey DESIGN`: explains a row key.

use std::fmt::Write as _;

use hblite_rowkey::Part;

use super::design;

pub(super) const AFTER_HELP: &str = r#"A design is parts with | between them:
  name:type               u8 u16 u32 u64 reversed_u64 bit_reversed_u64 i64
                          timestamp reverse_timestamp
                          str str(16) str("-") str(escape) reversed_str domain bytes(16) bytes
                          md5 md5hex(6)
  salt(16)                one of 16 prefixes, at random
  salt(16, name)          by a hash of fields; salt(16, *) by a hash of all that follows
  salt("a-", "b-")        the prefixes themselves
  bucket(name, 16)        name % 16
  md5hex(name, 6)         the first characters of a field's MD5; md5(name, 4): bytes
  "text"                  the same bytes in every key"#;

pub(super) fn explain(text: &str) -> Result<String, String> {
    let design = design(text)?;
    let mut told = format!("{design}\n\nbytes\n");
    let last = design.parts().len() - 1;
    for (index, part) in design.parts().iter().enumerate() {
        let width = match part {
            Part::Salt(salt) => salt.labels.width().to_string(),
            Part::Bucket(bucket) if bucket.count > 256 => "2".to_owned(),
            Part::Bucket(_) => "1".to_owned(),
            Part::Hash(hash) => hash.form.width().to_string(),
            Part::Literal(bytes) => bytes.len().to_string(),
            Part::Field(field) => match field.encoding.width() {
                Some(width) => width.to_string(),
                None if index == last => "to the end".to_owned(),
                None => "to its end".to_owned(),
            },
        };
        let _ = writeln!(told, "  {width:>10}  {part}");
    }
    let _ = writeln!(told, "\nwrites\n  {}\n\nqueries that know", design.spread());
    let matrix = design.support_matrix().map_err(|error| error.to_string())?;
    for support in matrix {
        let _ = writeln!(told, "  {support}");
    }
    Ok(told)
}
