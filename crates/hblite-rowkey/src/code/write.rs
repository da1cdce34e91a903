//! Puts a program together.

use super::Language::{Go, Java, Python, Rust};
use super::go_runtime::GO;
use super::runtime::{JAVA, PYTHON, Pieces};
use super::rust_runtime::RUST;
use super::words::{digits, names};
use super::{Language, Vector};
use crate::design::{Design, Step};
use crate::part::{Encoding, KEY_LENGTH_MAX};

/// The program of a design.
pub(super) fn program(design: &Design, language: Language, vectors: &[Vector]) -> String {
    let body =
        [encode(design, language), decode(design, language), test(design, language, vectors)]
            .join("\n");
    let mut parts: Vec<&str> = Vec::new();
    // A piece may call others.
    let pieces = pieces(language);
    loop {
        let is_missing = |(name, source): &&(&str, &str)| {
            !parts.contains(source)
                && (calls(&body, name) || parts.iter().any(|part| calls(part, name)))
        };
        let Some((_, source)) = pieces.iter().find(is_missing) else { break };
        parts.push(source);
    }
    parts.sort_by_key(|part| pieces.iter().position(|(_, source)| source == part));
    let gap = if language == Python { "\n\n" } else { "\n" };
    let runtime: String = parts.iter().map(|part| format!("{part}{gap}")).collect();
    let head = head(design, language, &format!("{runtime}{body}"));
    match language {
        Java => format!("{head}{runtime}{body}}}\n"),
        _ => format!("{head}{runtime}{body}"),
    }
}

fn pieces(language: Language) -> Pieces {
    match language {
        Java => JAVA,
        Python => PYTHON,
        Go => GO,
        Rust => RUST,
    }
}

/// Whether a text calls a function, or makes a value of a type.
fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
        !before.is_some_and(is_word) && text[at + name.len()..].starts_with(['(', '{'])
    })
}

fn head(design: &Design, language: Language, program: &str) -> String {
    let about = format!("Row keys of the design {design}");
    match language {
        Python => {
            let import = if program.contains("hashlib.") { "import hashlib\n\n\n" } else { "\n" };
            format!("# {about}\n{import}")
        }
        Java => {
            let imports = [
                ("ByteArrayOutputStream", "java.io.ByteArrayOutputStream"),
                ("ByteBuffer", "java.nio.ByteBuffer"),
                ("StandardCharsets", "java.nio.charset.StandardCharsets"),
                ("MessageDigest", "java.security.MessageDigest"),
                ("NoSuchAlgorithmException", "java.security.NoSuchAlgorithmException"),
                ("Arrays.", "java.util.Arrays"),
                ("Collections.", "java.util.Collections"),
                ("List<", "java.util.List"),
            ];
            let imports = imports.into_iter().filter(|(name, _)| program.contains(name));
            let imports: String = imports.map(|(_, class)| format!("import {class};\n")).collect();
            // A literal must not end the comment.
            let about = about.replace("*/", "*\\x2F");
            format!("{imports}\n/** {about} */\npublic final class RowKey {{\n")
        }
        Go => {
            let packages = [
                "bytes",
                "crypto/md5",
                "encoding/binary",
                "encoding/hex",
                "errors",
                "fmt",
                "math/bits",
                "os",
                "slices",
                "strings",
            ];
            let is_used = |package: &&str| {
                let name = package.rsplit('/').next().unwrap_or(package);
                let dotted = format!("{name}.");
                program.match_indices(&dotted).any(|(at, _)| {
                    let before = program[..at].chars().next_back();
                    !before.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                })
            };
            let imports: String = packages
                .into_iter()
                .filter(is_used)
                .map(|name| format!("\t\"{name}\"\n"))
                .collect();
            format!("// {about}\npackage main\n\nimport (\n{imports})\n\n")
        }
        Rust => format!("// {about}\n\n"),
    }
}

/// Lines of a function's body.
fn lines(language: Language, lines: &[String]) -> String {
    let indent = match language {
        Java => "        ",
        Go => "\t",
        _ => "    ",
    };
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// Statements that make the parts of a key: `p0`, `p1` and so on.
fn parts(design: &Design, language: Language, names: &[String]) -> Vec<String> {
    let mut body: Vec<String> = Vec::new();
    for (at, (field, name)) in design.fields().iter().zip(names).enumerate() {
        let bytes = match field.encoding {
            Encoding::Number(number) => language.number(&language.plain(name, number), number),
            Encoding::Text(text) => language.text(name, text, design.is_last(at)),
            Encoding::Md5 => language.digest(&language.hashed(name), crate::HashForm::Bytes(16)),
            Encoding::Md5Hex(count) => {
                language.digest(&language.hashed(name), crate::HashForm::Hex(count))
            }
        };
        body.push(language.variable(&raw(name), &bytes));
    }
    let mut of_rest = None;
    for (at, step) in design.steps().iter().enumerate() {
        let raws = |fields: &[usize]| -> String {
            let raws: Vec<String> = fields.iter().map(|field| raw(&names[*field])).collect();
            language.join(&raws)
        };
        let bytes = match step {
            Step::SaltByRest(labels) => {
                of_rest = Some((at, labels));
                continue;
            }
            Step::Random(labels) => {
                let count = labels.count();
                language.label(&language.remainder("salt", count), labels)
            }
            Step::SaltByFields(labels, fields) => {
                let hash = format!("hash({})", language.of(&raws(fields)));
                language.label(&language.remainder(&hash, labels.count()), labels)
            }
            Step::Bucket { field, count } => {
                let index = language.remainder(&language.unsigned(&names[*field]), *count);
                language.label(&index, &crate::Labels::Numbered(*count))
            }
            Step::Hash { fields, form } => language.digest(&raws(fields), *form),
            Step::Literal(bytes) => language.unhex(bytes),
            Step::Number { field, .. } | Step::Md5 { field, .. } => raw(&names[*field]),
            Step::Text { field, text, is_last } => {
                let open = raw(&names[*field]);
                language.ended(&open, *text, *is_last).unwrap_or(open)
            }
        };
        let is_copy = language == Rust && bytes.ends_with("_raw");
        let bytes = if is_copy { format!("{bytes}.clone()") } else { bytes };
        body.push(language.variable(&part(at), &bytes));
    }
    let count = design.steps().len();
    if let Some((at, labels)) = of_rest {
        let rest: Vec<String> = (at + 1..count).map(part).collect();
        let hash = format!("hash({})", language.of(&language.join(&rest)));
        let label = language.label(&language.remainder(&hash, labels.count()), labels);
        body.push(language.variable(&part(at), &label));
    }
    body
}

fn part(at: usize) -> String {
    format!("p{at}")
}

fn encode(design: &Design, language: Language) -> String {
    let names = names(design);
    let mut parameters: Vec<String> = design
        .fields()
        .iter()
        .zip(&names)
        .map(|(field, name)| language.parameter(name, field.encoding))
        .collect();
    if design.has_random_salt() {
        parameters.push(match language {
            Python => "salt".to_owned(),
            Java => "long salt".to_owned(),
            Go => "salt uint64".to_owned(),
            Rust => "salt: u64".to_owned(),
        });
    }
    let mut body = parts(design, language, &names);
    let all: Vec<String> = (0..design.steps().len()).map(part).collect();
    let (parameters, joined) = (parameters.join(", "), language.join(&all));
    let most = KEY_LENGTH_MAX;
    match language {
        Python => {
            body.extend([
                format!("key = {joined}"),
                format!("if not 1 <= len(key) <= {most}:"),
                format!("    raise ValueError(f\"a key has 1 to {most} bytes, not {{len(key)}}\")"),
                "return key".to_owned(),
            ]);
            format!("def encode({parameters}):\n{}\n", lines(language, &body))
        }
        Java => {
            body.extend([
                format!("byte[] key = {joined};"),
                format!("if (key.length < 1 || key.length > {most}) {{"),
                format!("    throw new IllegalArgumentException(\"a key has 1 to {most} bytes\");"),
                "}".to_owned(),
                "return key;".to_owned(),
            ]);
            let body = lines(language, &body);
            format!("    public static byte[] encode({parameters}) {{\n{body}    }}\n")
        }
        Go => {
            body.insert(0, "defer caught(&err)".to_owned());
            body.extend([
                format!("key = {joined}"),
                format!("if len(key) < 1 || len(key) > {most} {{"),
                format!(
                    "\treturn nil, fmt.Errorf(\"a key has 1 to {most} bytes, not %d\", len(key))"
                ),
                "}".to_owned(),
                "return key, nil".to_owned(),
            ]);
            let body = lines(language, &body);
            format!("func Encode({parameters}) (key []byte, err error) {{\n{body}}}\n")
        }
        Rust => {
            body.extend([
                format!("let key = {joined};"),
                format!("if key.is_empty() || key.len() > {most} {{"),
                format!(
                    "    return Err(format!(\"a key has 1 to {most} bytes, not {{}}\", key.len()));"
                ),
                "}".to_owned(),
                "Ok(key)".to_owned(),
            ]);
            let body = lines(language, &body);
            format!("pub fn encode({parameters}) -> Result<Vec<u8>, String> {{\n{body}}}\n")
        }
    }
}

fn raw(name: &str) -> String {
    format!("{name}_raw")
}

fn decode(design: &Design, language: Language) -> String {
    let names = names(design);
    let end = if matches!(language, Java | Rust) { ";" } else { "" };
    let q = language.q();
    let set = |field: usize, read: String| {
        let name = &names[field];
        match language {
            Python | Go => format!("{name} = {read}"),
            Java => format!("var {name} = {read};"),
            Rust => format!("let {name} = {read};"),
        }
    };
    let mut body: Vec<String> = Vec::new();
    for step in design.steps() {
        let taken = format!("r.take({}){q}", step.width().unwrap_or(0));
        body.push(match step {
            Step::Literal(bytes) => {
                format!("r.expect({}){q}{end}", language.of(&language.unhex(bytes)))
            }
            Step::Number { field, number } => set(*field, language.read_number(&taken, *number)),
            Step::Md5 { field, .. } => set(*field, taken),
            Step::Text { field, text, is_last } => set(*field, language.read_text(*text, *is_last)),
            _ => format!("{taken}{end}"),
        });
    }
    body.push(format!("r.finish(){q}{end}"));
    let all = names.join(", ");
    match language {
        Python => {
            body.insert(0, "r = Reader(key)".to_owned());
            body.push(format!("return ({all},)"));
            format!("\ndef decode(key):\n{}\n", lines(language, &body))
        }
        Java => {
            body.insert(0, "Reader r = new Reader(key);".to_owned());
            body.push(format!("return new Object[] {{{all}}};"));
            let body = lines(language, &body);
            format!("    public static Object[] decode(byte[] key) {{\n{body}    }}\n")
        }
        Go => {
            body.insert(0, "defer caught(&err)".to_owned());
            body.insert(1, "r := reader{key}".to_owned());
            body.push(format!("return {all}, nil"));
            let fields = design.fields().iter().zip(&names);
            let results: Vec<String> = fields
                .map(|(field, name)| format!("{name} {}", language.decoded(field.encoding)))
                .collect();
            let (body, results) = (lines(language, &body), results.join(", "));
            format!("func Decode(key []byte) ({results}, err error) {{\n{body}}}\n")
        }
        Rust => {
            body.insert(0, "let mut r = Reader(key);".to_owned());
            body.push(format!("Ok(({all},))"));
            let fields = design.fields().iter();
            let types: Vec<&str> = fields.map(|field| language.decoded(field.encoding)).collect();
            let (body, types) = (lines(language, &body), types.join(", "));
            format!("pub fn decode(key: &[u8]) -> Result<({types},), String> {{\n{body}}}\n")
        }
    }
}

fn test(design: &Design, language: Language, vectors: &[Vector]) -> String {
    let names = names(design);
    let mut body: Vec<String> = Vec::new();
    for vector in vectors {
        let literals = |values: &[crate::Value<'_>], is_owned: bool| -> Vec<String> {
            let one = |value| {
                let literal = language.literal(value);
                let is_text = matches!(value, crate::Value::Text(_));
                let is_bytes = !is_text && value.as_bytes().is_some();
                match language {
                    Rust if is_owned && is_text => format!("{literal}.to_owned()"),
                    Rust if !is_owned && is_bytes => format!("&{literal}"),
                    _ => literal,
                }
            };
            values.iter().map(one).collect()
        };
        let mut values = literals(&vector.values, false);
        if design.has_random_salt() {
            values.push(language.literal(&crate::Value::Unsigned(vector.salt)));
        }
        let (values, key) = (values.join(", "), digits(&vector.key));
        let decoded = literals(&vector.decoded, true);
        let all = decoded.join(", ");
        match language {
            Python => body.extend([
                format!("assert encode({values}).hex() == \"{key}\""),
                format!("assert decode(bytes.fromhex(\"{key}\")) == ({all},)"),
            ]),
            Java => body.extend([
                format!("check(encode({values}), unhex(\"{key}\"));"),
                format!("check(decode(unhex(\"{key}\")), {all});"),
            ]),
            Go => {
                let same =
                    |((name, value), field): ((&String, &String), &crate::Field)| match language
                        .decoded(field.encoding)
                    {
                        "[]byte" => format!("bytes.Equal({name}, {value})"),
                        _ => format!("{name} == {value}"),
                    };
                let pairs = names.iter().zip(&decoded).zip(design.fields());
                let same: Vec<String> = pairs.map(same).collect();
                let (all, same) = (names.join(", "), same.join(" && "));
                body.extend([
                    "{".to_owned(),
                    format!("\tkey, err := Encode({values})"),
                    format!("\tcheck(err, bytes.Equal(key, unhex(\"{key}\")))"),
                    format!("\t{all}, err := Decode(key)"),
                    format!("\tcheck(err, {same})"),
                    "}".to_owned(),
                ]);
            }
            Rust => body.extend([
                format!("assert_eq!(encode({values}), Ok(unhex(\"{key}\")));"),
                format!("assert_eq!(decode(&unhex(\"{key}\")), Ok(({all},)));"),
            ]),
        }
    }
    match language {
        Python => {
            let body = lines(language, &body);
            format!(
                "\nif __name__ == \"__main__\":\n{body}    print(\"the keys are as expected\")\n"
            )
        }
        Java => {
            let check = "\
    private static void check(Object found, Object... expected) {
        Object[] all = found instanceof Object[] ? (Object[]) found : new Object[] {found};
        if (!Arrays.deepEquals(all, expected)) {
            throw new AssertionError(Arrays.deepToString(all));
        }
    }
";
            body.push("System.out.println(\"the keys are as expected\");".to_owned());
            let body = lines(language, &body);
            format!("{check}\n    public static void main(String[] arguments) {{\n{body}    }}\n")
        }
        Go => {
            let check = "\
func check(err error, isExpected bool) {
	if err != nil || !isExpected {
		fmt.Println(\"not as expected:\", err)
		os.Exit(1)
	}
}
";
            body.push("fmt.Println(\"the keys are as expected\")".to_owned());
            format!("{check}\nfunc main() {{\n{}}}\n", lines(language, &body))
        }
        Rust => {
            body.push("println!(\"the keys are as expected\");".to_owned());
            format!("fn main() {{\n{}}}\n", lines(language, &body))
        }
    }
}
