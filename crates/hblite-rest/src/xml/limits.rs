//! Limits of an input document, checked before the parser sees it.
//!
//! The parser compares each attribute of an element with the others of it, and each namespace with
//! those in force. So documents of a few kilobytes could keep it busy for minutes. One pass over
//! the tags finds what is over a limit. Where a document is malformed, the pass and the parser may
//! disagree; but the parser ends there, and has been bounded up to there.
//!
//! The limits are those of the XML parsers of JDK 24, except for namespaces, which no document of
//! HBase's declares.

use std::ops::ControlFlow;

/// The maximum number of attributes of an element (`jdk.xml.elementAttributeLimit`).
pub(super) const ATTRIBUTES_MAX: usize = 200;
/// The maximum number of elements in each other (`jdk.xml.maxElementDepth`).
const DEPTH_MAX: usize = 200;
/// The maximum size of the name of an element or attribute, in bytes
/// (`jdk.xml.maxXMLNameLimit`).
const NAME_SIZE_MAX: usize = 1000;
/// The maximum number of namespaces that a document declares.
const NAMESPACES_MAX: usize = 100;

/// Whether `text` is within every limit, as far as it is well-formed.
pub(super) fn hold(text: &str) -> bool {
    let mut scan = Scan { rest: text, depth: 0, namespaces: 0 };
    loop {
        match scan.next_markup() {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(holds) => return holds,
        }
    }
}

struct Scan<'t> {
    /// What has not been read yet.
    rest: &'t str,
    depth: usize,
    namespaces: usize,
}

impl Scan<'_> {
    /// Reads up to the end of the next tag, comment, section or instruction. Breaks at a limit, and
    /// at the end of the document or of its well-formed part.
    fn next_markup(&mut self) -> ControlFlow<bool> {
        let Some(start) = self.rest.find('<') else { return ControlFlow::Break(true) };
        self.rest = &self.rest[start + 1..];
        for (begin, end) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")] {
            if let Some(content) = self.rest.strip_prefix(begin) {
                let Some((_, rest)) = content.split_once(end) else {
                    return ControlFlow::Break(true);
                };
                self.rest = rest;
                return ControlFlow::Continue(());
            }
        }
        if let Some(tag) = self.rest.strip_prefix('/') {
            self.depth = self.depth.saturating_sub(1);
            self.rest = tag;
            return ControlFlow::Continue(());
        }
        self.start_tag()
    }

    /// Reads a start tag after its `<`.
    fn start_tag(&mut self) -> ControlFlow<bool> {
        let mut attributes = 0;
        let mut name_size = 0;
        let mut last = 0;
        let mut bytes = self.rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'>' => {
                    self.rest = &self.rest[at + 1..];
                    self.depth += usize::from(last != b'/');
                    let holds = self.depth <= DEPTH_MAX && self.namespaces <= NAMESPACES_MAX;
                    return if holds {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(false)
                    };
                }
                b'"' | b'\'' => {
                    attributes += 1;
                    name_size = 0;
                    bytes.by_ref().find(|(_, closing)| *closing == byte);
                }
                b' ' | b'\t' | b'\r' | b'\n' | b'=' => name_size = 0,
                _ => {
                    name_size += 1;
                    let begins_namespace = name_size == 1 && self.rest[at..].starts_with("xmlns");
                    self.namespaces += usize::from(begins_namespace);
                }
            }
            if attributes > ATTRIBUTES_MAX || name_size > NAME_SIZE_MAX {
                return ControlFlow::Break(false);
            }
            last = byte;
        }
        ControlFlow::Break(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_at_a_limit_hold_and_beyond_it_do_not() {
        let attributes = |count: usize| {
            let all: String = (0..count).map(|number| format!(" a{number}='1'")).collect();
            format!("<A><B/><B{all}/></A>")
        };
        let namespaces = |count: usize| {
            let all: String =
                (0..count).map(|number| format!("<b xmlns:n{number}='1'/>")).collect();
            format!("<A>{all}</A>")
        };
        let deep = |count: usize| [&"<a>".repeat(count)[..], &"</a>".repeat(count)].concat();
        let element = |size: usize| format!("<{}/>", "n".repeat(size));
        let attribute = |size: usize| format!("<a {} = ''/>", "n".repeat(size));
        let cases: [(&dyn Fn(usize) -> String, usize); 5] = [
            (&attributes, ATTRIBUTES_MAX),
            (&namespaces, NAMESPACES_MAX),
            (&deep, DEPTH_MAX),
            (&element, NAME_SIZE_MAX - 1),
            (&attribute, NAME_SIZE_MAX),
        ];
        for (document, limit) in cases {
            assert!(hold(&document(limit)), "{:.50}", document(1));
            assert!(!hold(&document(limit + 2)), "{:.50}", document(1));
        }
    }

    #[test]
    fn what_only_looks_like_tags_and_attributes_does_not_count() {
        let pairs = "a=\"1\" xmlns:b='2' ".repeat(1000);
        let tags = "<a>".repeat(1000);
        for inner in [
            format!("<!-- {tags}{pairs} -->"),
            format!("<![CDATA[ {tags}<a {pairs} ]]>"),
            format!("<?instruction {tags}{pairs} ?>"),
            format!("<a b='{}'>{pairs}</a>", pairs.replace('\'', "")),
            "<a b='>'/>".repeat(1000),
            "<a></a>".repeat(1000),
            "n".repeat(5000),
        ] {
            assert!(hold(&format!("<A>{inner}</A>")), "{inner:.60}");
        }
        for malformed in ["", "<", "<a b=", "<a b='", "<!-- ", "<![CDATA[", "<?", "</a></a>", "é<é"]
        {
            assert!(hold(malformed), "{malformed}");
        }
    }
}
