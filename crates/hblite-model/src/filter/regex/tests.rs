//! Goal: patterns mean what they mean in Java. Method: tables of pattern, text and answer; the
//! answers are from Java's documentation and from recorded scans.

use super::*;

fn found(pattern: &str, flags: i32, text: &[u8]) -> bool {
    let regex = RegexString::new(pattern, RegexFlags(flags), RegexEngine::Java);
    regex.unwrap_or_else(|error| panic!("{pattern}: {error}")).is_found_in(text)
}

#[test]
fn finds_as_java_does() {
    let yes: &[(&str, &str)] = &[
        ("^a", "apple"),
        ("e$", "apple"),
        ("e$", "apple\n"),
        ("e$", "apple\r\n"),
        ("e\\Z", "apple\u{2028}"),
        ("^$", ""),
        ("a.b", "a\nb"),
        (r"^.\x00.$", "a\0b"),
        (r"\w+\d", "a1b2"),
        ("b{2}", "abb"),
        ("b{2,}?c", "bbbc"),
        ("{2}a", "a"),
        ("(?i)APPLE", "apple"),
        ("a(?i:B)c", "abc"),
        ("(?<name>x)(?:y)", "xy"),
        (r"\Q.*[\E]", "a.*[]b"),
        (r"[\Q^-]\E]", "]"),
        ("[a-c&&[^b]]", "c"),
        ("[]a]", "]"),
        ("[^]]", "a"),
        ("[a-]", "-"),
        ("[-a]", "-"),
        ("[a~~b]", "~"),
        ("[!--a]", "%"),
        (r"[\d\-x]", "-"),
        (r"[^\D]", "7"),
        (r"\p{Upper}\P{Upper}", "Ab"),
        (r"(?i)^\p{Upper}\p{Lu}", "aä"),
        (r"\p{Punct}", "]"),
        (r"\pL\p{IsLatin}\p{Lu}\p{sc=Greek}", "äbCα"),
        (r"\u00e4\x{e4}\xe4\0344", "ääää"),
        ("\\ud83d\\ude00", "😀"),
        (r"\cA\t\e\a\f", "\u{1}\t\u{1b}\u{7}\u{c}"),
        (r"\h\v\R", "\u{a0}\u{b}\r\n"),
        (r"\Ga\b", "a b"),
        ("}]", "}]"),
        ("a|", "x"),
        ("(a|b)*?c", "ababc"),
        ("ä.ö", "ä😀ö"),
    ];
    for (pattern, text) in yes {
        assert!(found(pattern, 32, text.as_bytes()), "{pattern} in {text:?}");
    }
    let no: &[(&str, &str)] = &[
        (r"^\d$", "٣"),
        (r"\w", "ä"),
        (r"\s", "\u{a0}"),
        ("(?i)ä", "Ä"),
        ("(?i)k", "\u{212a}"),
        ("a(?i:b)c", "abC"),
        ("a(?i)b|c", "C"),
        ("[a-c&&[^b]]", "b"),
        ("[^a]", "a"),
        ("^b", "a\nb"),
        ("e$", "apple\n\n"),
        (r"e\z", "apple\n"),
        ("APPLE", "apple"),
    ];
    for (pattern, text) in no {
        // An inline flag in one branch also applies to the next one.
        let expected = *pattern == "a(?i)b|c";
        assert_eq!(found(pattern, 32, text.as_bytes()), expected, "{pattern} in {text:?}");
    }
}

#[test]
fn flags_are_those_of_java() {
    assert!(!found("a.b", 0, b"a\nb") && !found("a.b", 0, "a\u{85}b".as_bytes()));
    assert!(found("a.b", RegexFlags::UNIX_LINES.0, b"a\rb"));
    assert!(found("APPLE", RegexFlags::CASE_INSENSITIVE.0, b"apple"));
    assert!(found("[B-X]", RegexFlags::CASE_INSENSITIVE.0, b"c"));
    assert!(!found("[B-X]", RegexFlags::CASE_INSENSITIVE.0, b"z"));
    assert!(found("[Ä]Ä", 2 | 64, "ää".as_bytes()));
    assert!(found("^b$", RegexFlags::MULTILINE.0, b"a\r\nb\rc"));
    assert!(found(" a  b # comment\n c", RegexFlags::COMMENTS.0, b"abc"));
    assert!(found("a.*(", RegexFlags::LITERAL.0, b"xa.*("));
    assert!(found(r"\w\d\p{Alpha}", RegexFlags::UNICODE_CHARACTER_CLASS.0, "ä٣ö".as_bytes()));
    assert!(found("(?U)\\w(?-U)", 0, "ä".as_bytes()));
}

#[test]
fn bytes_that_are_not_utf8_are_replacement_characters() {
    assert!(found("^.$", 32, b"\x80") && found("^a..b$", 32, b"a\xff\xfeb"));
    assert!(found("\u{fffd}", 32, b"\xff") && !found("\u{80}", 32, b"\x80"));
}

#[test]
fn what_is_no_pattern_is_refused() {
    let wrong = [
        "[",
        "[a",
        "(",
        "a)",
        "*",
        "a**",
        "+a",
        "a{2",
        "a{x}",
        "a{3,2}",
        "a{,3}",
        "\\",
        "\\y",
        "[z-a]",
        "\\p{Nope}",
        "\\p{L",
        "(?",
        "(?z)",
        "(?<1>a)",
        "(?<a>b)(?<a>c)",
        "\\x1",
        "\\0",
        "\\u12",
        "\\E",
        "[\\",
        "[a-",
        "[&&",
        "(a|*)",
        "a(?i)*",
        "\\p{InGreek}",
        "a{99999999999}",
    ];
    for pattern in wrong {
        let error = RegexString::new(pattern, RegexFlags::DOTALL, RegexEngine::Java).unwrap_err();
        assert_eq!(error.exception(), Exception::PatternSyntax, "{pattern}");
    }
    let message = RegexString::new("[", RegexFlags(0), RegexEngine::Joni).unwrap_err();
    assert_eq!(message.exception(), Exception::JoniSyntax);
    assert_eq!(message.message(), "Unclosed character class near index 0\n[\n^");
    let message = RegexString::new("(", RegexFlags(0), RegexEngine::Java).unwrap_err();
    assert_eq!(message.message(), "Unclosed group near index 1\n(");
    for pattern in ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?>a)", "(a)\\1", "a*+", "\\k<a>"] {
        let error = RegexString::new(pattern, RegexFlags(0), RegexEngine::Java).unwrap_err();
        assert!(error.message().contains("not supported"), "{error}");
    }
    let too_large = "(a{1000}){1000}{2}";
    assert!(RegexString::new(too_large, RegexFlags(0), RegexEngine::Java).is_err());
    let too_deep = "[".repeat(100_000);
    assert!(RegexString::new(&too_deep, RegexFlags(0), RegexEngine::Java).is_err());
    assert!(RegexString::new("a", RegexFlags(1024), RegexEngine::Java).is_err());
}
