//! XML as JAXB writes it, and what JAXB reads.

mod limits;

use roxmltree::{Document, Node, ParsingOptions};

/// The beginning of every document.
pub(crate) const DECLARATION: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>";
/// The maximum number of elements and texts in an input document.
const NODES_MAX: u32 = 4_000_000;

/// Appends ` name="value"`.
pub(crate) fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape(out, value, true);
    out.push('"');
}

/// Appends the text of an element.
pub(crate) fn text(out: &mut String, value: &str) {
    escape(out, value, false);
}

fn escape(out: &mut String, value: &str, is_attribute: bool) {
    for character in value.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if is_attribute => out.push_str("&quot;"),
            '\n' if is_attribute => out.push_str("&#xA;"),
            '\t' if is_attribute => out.push_str("&#x9;"),
            '\r' => out.push_str("&#xD;"),
            _ => out.push(character),
        }
    }
}

/// Whether `name` can be the name of an element or attribute.
pub(crate) fn is_name(name: &str) -> bool {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    let is_part = |c: char| is_start(c) || c.is_numeric() || matches!(c, '-' | '.');
    name.starts_with(is_start) && name.chars().all(is_part)
}

/// Reads a document whose root is called `root`, and returns the result of `read`.
///
/// `None` if the bytes are not such a document. Documents with a DTD, or beyond a limit, are
/// refused.
pub(crate) fn read<T>(bytes: &[u8], root: &str, read: impl FnOnce(Node<'_, '_>) -> T) -> Option<T> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !limits::hold(text) {
        return None;
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..Default::default() };
    let document = Document::parse_with_options(text, options).ok()?;
    let element = document.root_element();
    (element.tag_name().name() == root).then(|| read(element))
}

/// The children of `node` with this name.
pub(crate) fn children<'a, 'i>(
    node: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// The text in an element, as a whole.
pub(crate) fn content(node: Node<'_, '_>) -> String {
    node.children().filter_map(|child| child.text()).collect()
}
