//! Inline text: from the tree of the parser to Markdown or plain text.

use asciidoc_parser::inlines::{
    Callout, CalloutGuard, CharRef, Image, InlineNode, RawForm, RawOrigin, Ref, RefVariant, StyleVariant, Styled, Ui,
    UiKind,
};

use crate::text::markdown_text;

/// Maximum nesting; deeper nodes become plain text.
const MAX_DEPTH: usize = 24;

/// Converts a paragraph, a title or a term to Markdown.
pub(super) fn markdown(nodes: &[InlineNode<'_>]) -> String {
    nested(nodes, 0)
}

fn nested(nodes: &[InlineNode<'_>], depth: usize) -> String {
    let mut writer = Writer::default();
    writer.nodes(nodes, depth);
    writer.finish()
}

/// The plain text, for code.
pub(super) fn plain(nodes: &[InlineNode<'_>]) -> String {
    let mut output = String::new();
    push_plain(nodes, &mut output, 0);
    output
}

/// The first id of an anchor among the nodes.
pub(super) fn anchor<'a>(nodes: &'a [InlineNode<'_>]) -> Option<&'a str> {
    nodes.iter().find_map(|node| match node {
        InlineNode::Anchor(anchor) => Some(&*anchor.id),
        InlineNode::Styled(styled) => styled.id.as_deref(),
        _ => None,
    })
}

/// Whether all of it is code, or emphasised as keyboard input.
pub(super) fn is_code(nodes: &[InlineNode<'_>]) -> bool {
    let mut has_code = false;
    let all = nodes.iter().all(|node| match node {
        InlineNode::Styled(styled) => {
            has_code = true;
            matches!(
                styled.variant,
                StyleVariant::Code | StyleVariant::Emphasis | StyleVariant::SingleQuote
            )
        }
        InlineNode::Text { value, .. } => value.chars().all(|character| !character.is_alphanumeric()),
        InlineNode::Anchor(_) | InlineNode::CharRef { .. } => true,
        _ => false,
    });
    all && has_code
}

/// Text is buffered to its end, so that it can be escaped as a whole.
#[derive(Default)]
struct Writer {
    output: String,
    text: String,
}

impl Writer {
    fn nodes(&mut self, nodes: &[InlineNode<'_>], depth: usize) {
        if depth > MAX_DEPTH {
            push_plain(nodes, &mut self.text, depth);
            return;
        }
        let mut opened = false;
        for node in nodes {
            match node {
                InlineNode::Text { value, .. } if opened => push_reference(value, &mut self.text),
                node => self.node(node, depth),
            }
            opened = opens_reference(node);
        }
    }

    fn node(&mut self, node: &InlineNode<'_>, depth: usize) {
        match node {
            InlineNode::Text { value, .. } => self.text.push_str(value),
            InlineNode::CharRef { value, .. } => self.text.push_str(&character(value)),
            InlineNode::Raw { value, form, .. } => self.raw(value, *form),
            InlineNode::Styled(styled) => self.styled(styled, depth),
            InlineNode::Ref(reference) => {
                let markdown = reference_markdown(reference, depth + 1);
                self.markup(&markdown);
            }
            InlineNode::Image(image) => self.image(image),
            InlineNode::Footnote(footnote) if !footnote.children.is_empty() => {
                self.text.push_str(" (");
                self.nodes(&footnote.children, depth + 1);
                self.text.push(')');
            }
            InlineNode::Ui(ui) => self.ui(ui),
            InlineNode::IndexTerm(term) if term.visible => self.nodes(&term.children, depth + 1),
            InlineNode::Callout(callout) => {
                self.text.push('<');
                self.text.push_str(&callout.number);
                self.text.push('>');
            }
            InlineNode::Stem(stem) => {
                let formula = stem.source_text.as_deref().unwrap_or(&stem.value);
                self.markup(&markdown_text::code(formula));
            }
            InlineNode::LineBreak { .. } => {
                self.flush();
                self.output.truncate(self.output.trim_end().len());
                self.output.push_str("\\\n");
            }
            _ => {}
        }
    }

    fn raw(&mut self, value: &str, form: RawForm) {
        match form {
            // The parser splits tags that contain an attribute.
            RawForm::AsIs if value.contains(['<', '>']) => self.markup(value),
            RawForm::AsIs => self.text.push_str(&entities(value)),
            RawForm::Escaped => self.text.push_str(value),
        }
    }

    fn styled(&mut self, styled: &Styled<'_>, depth: usize) {
        let inner = || nested(&styled.children, depth + 1);
        match styled.variant {
            StyleVariant::Code => {
                let code = markdown_text::code(&plain(&styled.children));
                self.code(&code);
            }
            StyleVariant::Strong => self.wrapped("**", &inner()),
            StyleVariant::Emphasis => self.wrapped("*", &inner()),
            StyleVariant::Superscript => self.markup(&format!("<sup>{}</sup>", inner())),
            StyleVariant::Subscript => self.markup(&format!("<sub>{}</sub>", inner())),
            StyleVariant::DoubleQuote => self.quoted('"', styled, depth),
            StyleVariant::SingleQuote => self.quoted('\'', styled, depth),
            _ => self.nodes(&styled.children, depth + 1),
        }
    }

    fn quoted(&mut self, mark: char, styled: &Styled<'_>, depth: usize) {
        self.text.push(mark);
        self.nodes(&styled.children, depth + 1);
        self.text.push(mark);
    }

    fn wrapped(&mut self, mark: &str, inner: &str) {
        let inner = inner.trim();
        if !inner.is_empty() {
            self.markup(&format!("{mark}{inner}{mark}"));
        }
    }

    fn image(&mut self, image: &Image<'_>) {
        let alt = markdown_text::escape(image.alt.as_deref().unwrap_or_default());
        if !image.is_icon {
            self.markup(&format!("!{}", bracketed(&alt, &image.target)));
        }
    }

    fn ui(&mut self, ui: &Ui<'_>) {
        let markdown = match &ui.kind {
            UiKind::Keyboard(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| entities(key)).collect();
                markdown_text::code(&keys.join("+"))
            }
            UiKind::Button(label) => format!("**{}**", markdown_text::escape(&entities(label))),
            UiKind::Menu { menu, submenus, item } => {
                let parts = std::iter::once(menu).chain(submenus).chain(item);
                let parts: Vec<String> = parts.map(|part| markdown_text::escape(&entities(part))).collect();
                format!("**{}**", parts.join(" > "))
            }
        };
        self.markup(&markdown);
    }

    /// Two adjacent code spans would read as one with two backticks in it.
    fn code(&mut self, code: &str) {
        self.flush();
        let ends_code = self.output.ends_with('`') && !self.output.ends_with("``") && !self.output.ends_with("\\`");
        match code.strip_prefix('`') {
            Some(rest) if ends_code && !rest.starts_with('`') => {
                self.output.pop();
                self.output.push_str(rest);
            }
            _ => self.output.push_str(code),
        }
    }

    fn markup(&mut self, markdown: &str) {
        self.flush();
        self.output.push_str(markdown);
    }

    fn flush(&mut self) {
        self.output.push_str(&markdown_text::escape(&self.text));
        self.text.clear();
    }

    fn finish(mut self) -> String {
        self.flush();
        self.output
    }
}

fn bracketed(label: &str, target: &str) -> String {
    match markdown_text::link(label, target) {
        link if link.starts_with('[') => link,
        _ => format!("[{label}]({})", target.replace(' ', "%20")),
    }
}

fn reference_markdown(reference: &Ref<'_>, depth: usize) -> String {
    let label = nested(&reference.children, depth);
    match reference.variant {
        RefVariant::Link => {
            let target = entities(&reference.target);
            let is_address = plain(&reference.children) == target.trim_start_matches("mailto:");
            match target.strip_prefix("mailto:") {
                Some(_) if is_address => label,
                _ if is_address => markdown_text::link("", &target),
                _ => markdown_text::link(&label, &target),
            }
        }
        RefVariant::Xref => {
            let (href, text) = match (&reference.resolved, &reference.derived) {
                (Some(resolved), _) => (resolved.href.as_str(), resolved.text.clone()),
                (None, Some(derived)) => (derived.href.as_str(), Some(derived.text.clone())),
                (None, None) => ("", None),
            };
            let label = match label.is_empty() {
                true => markdown_text::escape(
                    &text.map_or_else(|| reference.target.to_string(), |text| without_tags(&text)),
                ),
                false => label,
            };
            markdown_text::link(&label, href)
        }
    }
}

fn push_plain(nodes: &[InlineNode<'_>], output: &mut String, depth: usize) {
    // Deeper than the parser's own limit.
    if depth > 4 * MAX_DEPTH {
        return;
    }
    let mut opened = false;
    for node in nodes {
        match node {
            InlineNode::Text { value, .. } if opened => push_reference(value, output),
            InlineNode::Text { value, .. } => output.push_str(value),
            InlineNode::CharRef { value, .. } => output.push_str(&typed(value)),
            InlineNode::Raw { value, form, .. } => match form {
                RawForm::AsIs => output.push_str(&without_tags(value)),
                RawForm::Escaped => output.push_str(value),
            },
            InlineNode::Styled(styled) => {
                let mark = match styled.variant {
                    StyleVariant::DoubleQuote => "\"",
                    StyleVariant::SingleQuote => "'",
                    _ => "",
                };
                output.push_str(mark);
                push_plain(&styled.children, output, depth + 1);
                output.push_str(mark);
            }
            InlineNode::Ref(reference) => {
                let before = output.len();
                push_plain(&reference.children, output, depth + 1);
                if output.len() == before {
                    output.push_str(&reference.target);
                }
            }
            InlineNode::IndexTerm(term) if term.visible => push_plain(&term.children, output, depth + 1),
            InlineNode::Callout(callout) => push_callout(callout, output),
            InlineNode::Stem(stem) => output.push_str(stem.source_text.as_deref().unwrap_or(&stem.value)),
            InlineNode::LineBreak { .. } => output.push('\n'),
            _ => {}
        }
        opened = opens_reference(node);
    }
}

/// Whether a node is the `&` in the value of an attribute, such as `&#160;`: the parser divides the value after it.
fn opens_reference(node: &InlineNode<'_>) -> bool {
    let InlineNode::Raw {
        value, form, origin, ..
    } = node
    else {
        return false;
    };
    &**value == "&" && *form == RawForm::AsIs && *origin == RawOrigin::Substitution
}

/// Appends a text after the `&` of a reference. Values in the header of a page are escaped before.
fn push_reference(text: &str, output: &mut String) {
    output.pop();
    output.push_str(&entities(&entities(&format!("&{text}"))));
}

/// The source text, if it does not disturb the code.
fn push_callout(callout: &Callout<'_>, output: &mut String) {
    match &callout.guard {
        CalloutGuard::LineComment(guard) => {
            output.push_str(guard);
            output.push('<');
            output.push_str(&callout.number);
            output.push('>');
        }
        CalloutGuard::Xml => {
            output.push_str("<!--");
            output.push_str(&callout.number);
            output.push_str("-->");
        }
    }
}

/// The typed form of a typographic sign: code has no typography.
fn typed(reference: &CharRef<'_>) -> String {
    let text = character(reference);
    match text.trim() {
        "…" => text.replace('…', "..."),
        "—" => text.replace('—', "--"),
        "©" => "(C)".to_owned(),
        "®" => "(R)".to_owned(),
        "™" => "(TM)".to_owned(),
        "→" => "->".to_owned(),
        "⇒" => "=>".to_owned(),
        "←" => "<-".to_owned(),
        "⇐" => "<=".to_owned(),
        _ => text,
    }
}

/// Replaces typographic signs that people do not type: a search for `don't` has to match.
fn character(reference: &CharRef<'_>) -> String {
    match reference {
        CharRef::Special(character) => character.to_string(),
        CharRef::Replacement(text) => text
            .chars()
            .filter(|character| *character != '\u{200b}')
            .map(|character| match character {
                '\u{2019}' => '\'',
                '\u{2009}' => ' ',
                other => other,
            })
            .collect(),
        CharRef::Entity(entity) => entities(entity),
    }
}

/// Replaces character references.
pub(super) fn entities(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        output.push_str(&rest[..start]);
        rest = &rest[start..];
        let decoded = rest[1..]
            .find(';')
            .filter(|&end| end <= 10)
            .and_then(|end| Some((end + 2, entity(&rest[1..=end])?)));
        match decoded {
            Some((length, text)) => {
                output.push(text);
                rest = &rest[length..];
            }
            None => {
                output.push('&');
                rest = &rest[1..];
            }
        }
    }
    output.push_str(rest);
    output
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return match char::from_u32(code.ok()?)? {
            '\u{200b}' | '\0' => Some(' '),
            '\u{a0}' => Some(' '),
            '\u{2019}' => Some('\''),
            character => Some(character),
        };
    }
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "rarr" => '→',
        "larr" => '←',
        "times" => '×',
        _ => return None,
    })
}

fn is_tag(text: &str) -> bool {
    text.find('<').is_some_and(|start| {
        text[start + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/' || next == '!')
            && text[start..].contains('>')
    })
}

/// Converts a title to Markdown; the parser keeps only its HTML.
pub(super) fn title(html: &str) -> String {
    let mut output = String::new();
    for (number, part) in html.split("<code").enumerate() {
        let code = part.split_once('>').and_then(|(_, rest)| rest.split_once("</code>"));
        let text = match code.filter(|_| number > 0) {
            Some((code, text)) => {
                output.push_str(&markdown_text::code(&without_tags(code)));
                text
            }
            None => part,
        };
        output.push_str(&markdown_text::escape(&without_tags(text)));
    }
    output
}

/// The text of HTML from the parser.
pub(super) fn without_tags(html: &str) -> String {
    let mut output = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        output.push_str(&rest[..start]);
        let end = rest[start..].find('>').filter(|_| is_tag(&rest[start..]));
        match end {
            Some(end) => rest = &rest[start + end + 1..],
            None => {
                output.push('<');
                rest = &rest[start + 1..];
            }
        }
    }
    output.push_str(rest);
    entities(&output)
}
