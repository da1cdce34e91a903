//! `format`, `printf` and `%` of texts.

use super::integer;
use crate::error::Failure;
use crate::value::Value;

/// The greatest width and precision.
const WIDTH_MAX: usize = 1 << 16;

/// A directive: `%-08.3f`.
#[derive(Default)]
struct Directive {
    is_left: bool,
    is_zero: bool,
    has_sign: bool,
    has_blank: bool,
    is_prefixed: bool,
    width: usize,
    precision: Option<usize>,
}

/// Replaces the directives of `template` by values.
pub(crate) fn format(template: &[u8], values: &[Value]) -> Result<Value, Failure> {
    let mut out = Vec::new();
    let mut values_left = values.iter();
    let mut at = 0;
    while at < template.len() {
        if template[at] != b'%' {
            out.push(template[at]);
            at += 1;
            continue;
        }
        at += 1;
        let mut directive = Directive::default();
        while let Some(flag) = template.get(at).filter(|flag| b"-0+ #".contains(flag)) {
            match flag {
                b'-' => directive.is_left = true,
                b'0' => directive.is_zero = true,
                b'+' => directive.has_sign = true,
                b' ' => directive.has_blank = true,
                _ => directive.is_prefixed = true,
            }
            at += 1;
        }
        directive.width = number(template, &mut at)?;
        if template.get(at) == Some(&b'.') {
            at += 1;
            directive.precision = Some(number(template, &mut at)?);
        }
        let kind = template.get(at).copied();
        at += 1;
        if kind == Some(b'%') {
            out.push(b'%');
            continue;
        }
        let Some(value) = values_left.next() else {
            return Err(Failure::ruby("ArgumentError", "too few arguments".to_owned()));
        };
        directive.write(kind, value, &mut out)?;
    }
    Ok(Value::String(out))
}

fn number(template: &[u8], at: &mut usize) -> Result<usize, Failure> {
    let mut number = 0_usize;
    while let Some(digit) = template.get(*at).filter(|byte| byte.is_ascii_digit()) {
        number = number * 10 + usize::from(digit - b'0');
        if number > WIDTH_MAX {
            return Err(Failure::ruby("ArgumentError", "width too big".to_owned()));
        }
        *at += 1;
    }
    Ok(number)
}

impl Directive {
    fn write(&self, kind: Option<u8>, value: &Value, out: &mut Vec<u8>) -> Result<(), Failure> {
        let whole = || match value {
            Value::String(_) => super::call(value, "to_i", &[]).and_then(|value| integer(&value)),
            value => integer(value),
        };
        let float = || match value {
            Value::Float(number) => Ok(*number),
            _ => whole().map(|number| number as f64),
        };
        let (sign, body) = match kind {
            Some(b'd' | b'i' | b'u') => {
                let number = whole()?;
                (self.sign(number < 0), number.unsigned_abs().to_string())
            }
            Some(b'x') => self.in_base(whole()?, "0x", |number| format!("{number:x}")),
            Some(b'X') => self.in_base(whole()?, "0X", |number| format!("{number:X}")),
            Some(b'o') => self.in_base(whole()?, "0", |number| format!("{number:o}")),
            Some(b'b') => self.in_base(whole()?, "0b", |number| format!("{number:b}")),
            Some(b'f') => {
                let number = float()?;
                let digits = self.precision.unwrap_or(6);
                (self.sign(number < 0.0), format!("{:.digits$}", number.abs()))
            }
            Some(b'e') => {
                let number = float()?;
                let digits = self.precision.unwrap_or(6);
                let text = format!("{:.digits$e}", number.abs());
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let exponent: i32 = exponent.parse().unwrap_or(0);
                let mark = if exponent < 0 { '-' } else { '+' };
                (self.sign(number < 0.0), format!("{mantissa}e{mark}{:02}", exponent.abs()))
            }
            Some(b'c') => {
                let text = match value {
                    Value::Integer(_) => super::call(value, "chr", &[])?.to_text(),
                    value => value.to_text().chars().take(1).collect(),
                };
                return self.pad("", text.as_bytes(), false, out);
            }
            Some(b's' | b'p') => {
                let mut bytes = if kind == Some(b'p') {
                    value.inspect().into_bytes()
                } else {
                    value.to_bytes()
                };
                if let Some(precision) = self.precision {
                    bytes.truncate(precision);
                }
                return self.pad("", &bytes, false, out);
            }
            other => {
                let shown = other.map(char::from).map(String::from).unwrap_or_default();
                let message = format!("malformed format string - %{shown}");
                return Err(Failure::ruby("ArgumentError", message));
            }
        };
        let is_whole = !matches!(kind, Some(b'f' | b'e'));
        let least = self.precision.filter(|_| is_whole).unwrap_or(0);
        let body = format!("{body:0>least$}");
        self.pad(&sign, body.as_bytes(), self.is_zero, out)
    }

    fn sign(&self, is_negative: bool) -> String {
        match (is_negative, self.has_sign, self.has_blank) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
        .to_owned()
    }

    fn in_base(
        &self,
        number: i64,
        prefix: &str,
        digits: impl Fn(u64) -> String,
    ) -> (String, String) {
        let sign = self.sign(number < 0);
        let prefix = if self.is_prefixed { prefix } else { "" };
        (format!("{sign}{prefix}"), digits(number.unsigned_abs()))
    }

    fn pad(&self, sign: &str, body: &[u8], zeros: bool, out: &mut Vec<u8>) -> Result<(), Failure> {
        let length = sign.chars().count() + String::from_utf8_lossy(body).chars().count();
        let missing = self.width.saturating_sub(length);
        let blanks = vec![b' '; missing];
        if !self.is_left && !zeros {
            out.extend_from_slice(&blanks);
        }
        out.extend_from_slice(sign.as_bytes());
        if zeros && !self.is_left {
            out.extend(std::iter::repeat_n(b'0', missing));
        }
        out.extend_from_slice(body);
        if self.is_left {
            out.extend_from_slice(&blanks);
        }
        Ok(())
    }
}
