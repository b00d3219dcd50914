//! A page as the macros build it (sections, paragraphs, lists, definitions), and its Markdown.

use super::text::Text;
use crate::draft::unknown_names::UnknownNames;
use crate::text::{fence, markdown_text, term};

/// Maximum nesting of lists; deeper ones are not nested.
const MAX_DEPTH: usize = 16;

/// An element of a page.
#[derive(Debug)]
pub(super) enum Node {
    Heading {
        level: usize,
        text: Text,
    },
    Text(Text),
    /// Preformatted lines.
    Code(String),
    /// Markdown.
    Table(String),
    /// A definition: its terms, and their description.
    Entry {
        terms: Vec<Term>,
        body: Vec<Node>,
    },
    Item {
        number: Option<u32>,
        body: Vec<Node>,
    },
    Indented(Vec<Node>),
}

/// A term, and the id that `mandoc` gives it.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) text: Text,
    pub(super) id: Option<String>,
}

#[derive(Debug)]
enum Container {
    Entry(Vec<Term>),
    Item(Option<u32>),
    Indented,
}

/// A page that is being built.
#[derive(Debug, Default)]
pub(super) struct Page {
    nodes: Vec<Node>,
    open: Vec<(Container, Vec<Node>)>,
    /// Number of open containers beyond the maximum nesting.
    beyond: usize,
    /// Macros whose text is kept.
    pub(super) unknown: UnknownNames,
}

impl Page {
    pub(super) fn push(&mut self, node: Node) {
        self.innermost().push(node);
    }

    fn innermost(&mut self) -> &mut Vec<Node> {
        match self.open.last_mut() {
            Some((_, nodes)) => nodes,
            None => &mut self.nodes,
        }
    }

    pub(super) fn heading(&mut self, level: usize, text: Text) {
        while self.close() {}
        self.nodes.push(Node::Heading { level, text });
    }

    pub(super) fn open_entry(&mut self, term: Term) {
        self.open(Container::Entry(vec![term]));
    }

    pub(super) fn open_item(&mut self, number: Option<u32>) {
        self.open(Container::Item(number));
    }

    /// A single line above indented text is its term.
    pub(super) fn open_indented(&mut self) {
        let nodes = self.innermost();
        let terms = match nodes.last() {
            Some(Node::Text(text)) => terms_of(text),
            _ => None,
        };
        match terms {
            Some(terms) => {
                nodes.pop();
                self.open(Container::Entry(terms));
            }
            None => self.open(Container::Indented),
        }
    }

    fn open(&mut self, container: Container) {
        match self.open.len() < MAX_DEPTH {
            true => self.open.push((container, Vec::new())),
            false => self.beyond += 1,
        }
    }

    /// Adds a term to the open entry, unless it has a description.
    pub(super) fn add_term(&mut self, term: Term) {
        match self.open.last_mut() {
            Some((Container::Entry(terms), nodes)) if nodes.is_empty() && terms.len() < 100 => terms.push(term),
            _ => self.open_entry(term),
        }
    }

    /// The number of open containers.
    pub(super) fn depth(&self) -> usize {
        self.open.len() + self.beyond
    }

    /// Closes the innermost container; returns whether there was one.
    pub(super) fn close(&mut self) -> bool {
        if self.beyond > 0 {
            self.beyond -= 1;
            return true;
        }
        let Some((container, body)) = self.open.pop() else {
            return false;
        };
        self.push(match container {
            Container::Entry(terms) => Node::Entry { terms, body },
            Container::Item(number) => Node::Item { number, body },
            Container::Indented => Node::Indented(body),
        });
        true
    }

    /// The Markdown blocks below the heading of level one.
    pub(super) fn blocks(mut self) -> Vec<String> {
        while self.close() {}
        let mut writer = Writer {
            level: 1,
            ..Writer::default()
        };
        let mut blocks = writer.nodes(self.nodes, true);
        blocks.retain(|block| !block.is_empty());
        blocks
    }
}

/// The terms in a line, if it contains nothing else: `-q, --quiet`.
fn terms_of(text: &Text) -> Option<Vec<Term>> {
    let plain = text.plain();
    let is_term = !plain.contains('\n') && split_names(&plain, text.is_code()).is_some();
    is_term.then(|| {
        vec![Term {
            text: text.clone(),
            id: None,
        }]
    })
}

/// The names of a term that lists several: `-a, --all`.
fn split_names(term: &str, is_code: bool) -> Option<Vec<term::Name>> {
    let parts = parts(term);
    let names: Vec<term::Name> = parts.iter().filter_map(|part| term::name(part, is_code)).collect();
    if names.len() == parts.len() && !names.is_empty() {
        return Some(names);
    }
    term::name(term, is_code).map(|name| vec![name])
}

/// Splits at commas that are not in brackets.
fn parts(term: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, character) in term.char_indices() {
        match character {
            '[' | '(' | '<' | '{' => depth += 1,
            ']' | ')' | '>' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && term[at + 1..].starts_with(' ') => {
                parts.push(term[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(term[start..].trim());
    parts
}

#[derive(Debug, Default)]
struct Writer {
    level: usize,
    is_synopsis: bool,
}

impl Writer {
    fn nodes(&mut self, nodes: Vec<Node>, allows_headings: bool) -> Vec<String> {
        let mut output = Vec::new();
        let mut items: Vec<String> = Vec::new();
        for node in nodes {
            let is_item = matches!(node, Node::Item { .. }) || !allows_headings && matches!(node, Node::Entry { .. });
            if !is_item && !items.is_empty() {
                output.push(markdown_text::list(&std::mem::take(&mut items)));
            }
            match node {
                Node::Heading { level, text } => {
                    let plain = text.plain();
                    self.level = level;
                    self.is_synopsis = plain.trim().eq_ignore_ascii_case("synopsis");
                    output.push(heading(level, &text));
                }
                Node::Text(text) if self.is_synopsis => push_synopsis(&text.plain(), &mut output),
                Node::Text(text) => output.push(paragraph(&text)),
                Node::Code(code) if self.is_synopsis => push_synopsis(&code, &mut output),
                Node::Code(code) => output.push(fence::block("", &code)),
                Node::Table(table) => output.push(table),
                Node::Indented(body) => output.extend(self.nodes(body, allows_headings)),
                Node::Item { number, body } => {
                    let marker = number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
                    items.push(self.item(&marker, None, body));
                }
                Node::Entry { terms, body } if allows_headings => self.entry(&terms, body, &mut output),
                Node::Entry { terms, body } => {
                    let label = label(&terms);
                    items.push(self.item("- ", Some(label), body));
                }
            }
        }
        if !items.is_empty() {
            output.push(markdown_text::list(&items));
        }
        output
    }

    fn entry(&mut self, terms: &[Term], body: Vec<Node>, output: &mut Vec<String>) {
        let names: Option<Vec<Vec<term::Name>>> = terms
            .iter()
            .map(|term| split_names(&term.text.plain(), term.text.is_code()))
            .collect();
        let names: Option<Vec<term::Name>> = names.map(|names| names.into_iter().flatten().collect());
        match names.filter(|names| !names.is_empty() && markdown_text::has_level_below(self.level)) {
            Some(names) => {
                let id = terms.iter().find_map(|term| term.id.as_deref());
                output.push(markdown_text::heading(self.level + 1, &term::heading(&names), id));
                let synopses: Vec<&str> = names.iter().filter_map(|name| name.synopsis.as_deref()).collect();
                if !synopses.is_empty() {
                    output.push(fence::block("", &synopses.join("\n")));
                }
                self.level += 1;
                output.extend(self.nodes(body, true));
                self.level -= 1;
            }
            None => {
                output.push(label(terms));
                output.extend(self.nodes(body, true));
            }
        }
    }

    fn item(&mut self, marker: &str, label: Option<String>, body: Vec<Node>) -> String {
        let mut blocks = self.nodes(body, false);
        blocks.retain(|block| !block.is_empty());
        let has_text = blocks.first().is_some_and(|block| {
            !block.starts_with(['`', '|', '-']) || block.starts_with('`') && !block.starts_with("```")
        });
        let text = match (label, has_text) {
            (Some(label), true) => format!("{label}: {}", blocks.join("\n\n")),
            (Some(label), false) => format!("{label}\n\n{}", blocks.join("\n\n")).trim_end().to_owned(),
            (None, _) => blocks.join("\n\n"),
        };
        format!("{marker}{}", markdown_text::hang(&text, marker.len()))
    }
}

/// The lines of a synopsis are one block, whatever macros set them.
fn push_synopsis(code: &str, output: &mut Vec<String>) {
    let code = trimmed(code);
    let is_code = |block: &String| block.starts_with("```\n") && !code.contains("```");
    match output.last_mut().filter(|last| is_code(last)) {
        Some(last) => {
            last.truncate(last.len() - "\n```".len());
            last.push_str(&format!("\n\n{code}\n```"));
        }
        None => output.push(fence::block("", &code)),
    }
}

fn label(terms: &[Term]) -> String {
    let terms: Vec<String> = terms
        .iter()
        .map(|term| {
            let text = &term.text;
            match split_names(&text.plain(), text.is_code()) {
                Some(names) => term::heading(&names),
                None => text.markdown().trim().trim_matches('*').to_owned(),
            }
        })
        .filter(|term| !term.is_empty())
        .collect();
    let label = terms.join(", ");
    match label.is_empty() || label.starts_with('`') && label.ends_with('`') || label.contains('*') {
        true => label,
        false => format!("**{label}**"),
    }
}

/// A heading with the id that `mandoc` gives it.
fn heading(level: usize, text: &Text) -> String {
    let plain = text.plain();
    let id: Vec<&str> = plain.split_whitespace().collect();
    // Headings are bold anyway.
    markdown_text::heading(level, &markdown_text::escape(plain.trim()), Some(&id.join("_")))
}

fn paragraph(text: &Text) -> String {
    let markdown = text.markdown();
    let lines: Vec<String> = markdown
        .split('\n')
        .map(markdown_text::paragraph)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\\\n")
}

/// Removes surrounding blank lines.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
