//! Body elements: sections, paragraphs, lists, literal blocks.

use std::path::Path;

use super::context::PageContext;
use super::identifier::DefinitionContext;
use super::line::{adornment, dedent, fence, indentation, indented_extent, is_punctuation, outdent};
use super::reference::References;
use super::{directive, inline, table};
use crate::draft::front_matter::FrontMatter;
use crate::text::markdown_text::{self, hang};
use crate::text::term::opens_section;

/// Maximum nesting; deeper text is kept as paragraphs.
const MAX_DEPTH: usize = 24;
const MAX_HEADING_LEVEL: usize = 6;
/// Names of fields of the file rather than of the text.
const FILE_FIELDS: [&str; 4] = ["orphan", "tocdepth", "nocomments", "nosearch"];

/// The position of blocks.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    depth: usize,
    /// Whether sections are allowed.
    is_page: bool,
    /// Whether definitions are headings; not in a list item.
    pub(super) allows_headings: bool,
    /// Number of enclosing definitions.
    pub(super) definitions: usize,
    /// Name of the enclosing definition.
    pub(super) owner: Option<String>,
}

impl Scope {
    /// The top level of a page.
    pub(super) fn page() -> Self {
        Self {
            depth: 0,
            is_page: true,
            allows_headings: true,
            definitions: 0,
            owner: None,
        }
    }

    pub(super) fn nested(&self) -> Self {
        Self {
            depth: self.depth + 1,
            is_page: false,
            ..self.clone()
        }
    }

    /// The scope of the definition of `name`.
    pub(super) fn inside(&self, name: String) -> Self {
        Self {
            definitions: self.definitions + 1,
            owner: Some(name),
            ..self.nested()
        }
    }

    pub(super) fn item(&self) -> Self {
        Self {
            allows_headings: false,
            ..self.nested()
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct SectionStyle {
    adornment: char,
    overlined: bool,
}

/// The state of reading one page.
#[derive(Debug)]
pub(super) struct PageReader {
    pub(super) references: References,
    styles: Vec<SectionStyle>,
    level: usize,
    /// Language of literal blocks, from the last `highlight` directive.
    pub(super) language: String,
    /// Number of the last item of an enumerated list.
    enumerator: usize,
    pub(super) definition_context: DefinitionContext,
    context: PageContext,
    /// The files that could not be included, each with the reason.
    pub(super) missing: Vec<String>,
    /// What the page says of itself.
    pub(super) matter: FrontMatter,
}

/// Consumed lines, and their Markdown blocks.
pub(super) type Step = (usize, Vec<String>);

impl PageReader {
    pub(super) fn new(lines: &[String], added: &[String], context: PageContext) -> Self {
        Self {
            references: References::of_page(lines, added, &context),
            styles: Vec::new(),
            level: 0,
            language: String::new(),
            enumerator: 0,
            definition_context: DefinitionContext::default(),
            context,
            missing: Vec::new(),
            matter: FrontMatter::default(),
        }
    }

    /// The text of another file of the folder. If it cannot be read, that is recorded.
    pub(super) fn file(&mut self, file: &Path) -> Option<String> {
        let text = self.context.file(file);
        if text.is_none() {
            self.missing.push(format!("{} (cannot be read)", file.display()));
        }
        text
    }

    /// Converts `lines`, which have no common indentation, to Markdown blocks.
    pub(super) fn blocks(&mut self, lines: &[String], scope: &Scope) -> Vec<String> {
        if scope.depth > MAX_DEPTH {
            return lines
                .iter()
                .filter(|line| !line.is_empty())
                .map(|line| self.inline(line.trim()))
                .collect();
        }
        let mut blocks: Vec<String> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            if lines[at].is_empty() {
                at += 1;
                continue;
            }
            let (consumed, made) = self.step(&lines[at..], scope);
            let follows_directly = at > 0 && !lines[at - 1].is_empty();
            for block in made.into_iter().filter(|block| !block.is_empty()) {
                match blocks.last_mut() {
                    Some(list) if follows_directly && is_item(list) && is_item(&block) => {
                        list.push('\n');
                        list.push_str(&block);
                    }
                    _ => blocks.push(block),
                }
            }
            at += consumed.max(1);
        }
        blocks
    }

    pub(super) fn inline(&self, text: &str) -> String {
        inline::to_markdown(text, &self.references)
    }

    /// Converts an indented body to Markdown blocks.
    pub(super) fn body(&mut self, lines: &[String], scope: &Scope) -> Vec<String> {
        self.blocks(&dedent(lines), scope)
    }

    pub(super) fn heading(&self, text: &str, below_section: usize) -> String {
        let level = (self.level + below_section).clamp(1, MAX_HEADING_LEVEL);
        format!("{} {text}", "#".repeat(level))
    }

    fn step(&mut self, lines: &[String], scope: &Scope) -> Step {
        let first = lines[0].as_str();
        if first == ".." || first.starts_with(".. ") {
            return directive::explicit_markup(self, lines, scope);
        }
        if indentation(first) > 0 {
            let extent = indented_extent(lines, 0, 1);
            return (extent, self.body(&lines[..extent], &scope.nested()));
        }
        if scope.is_page
            && let Some(step) = self.section(lines)
        {
            return step;
        }
        if let Some(step) = table::drawn(self, lines, scope) {
            return step;
        }
        if first == "__" || first.starts_with("__ ") {
            return (1, Vec::new());
        }
        if adornment(first).is_some() && first.len() >= 4 && lines.get(1).is_none_or(|next| next.is_empty()) {
            return (1, vec!["---".to_owned()]);
        }
        self.list_item(lines, scope)
            .or_else(|| self.verbatim(lines))
            .or_else(|| self.definition(lines, scope))
            .unwrap_or_else(|| self.paragraph(lines))
    }

    fn section(&mut self, lines: &[String]) -> Option<Step> {
        let overline = adornment(&lines[0]);
        let text_at = usize::from(overline.is_some());
        let text = lines.get(text_at)?.trim();
        let underline = lines.get(text_at + 1)?;
        let style = SectionStyle {
            adornment: adornment(underline)?,
            overlined: overline.is_some(),
        };
        let underlined = underline.chars().count() >= text.chars().count().min(4);
        let matches_overline = overline.is_none_or(|adornment| adornment == style.adornment);
        if text.is_empty() || !underlined || !matches_overline || adornment(text).is_some() {
            return None;
        }
        let level = self.styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        self.level = level + 1;
        Some((text_at + 2, vec![self.heading(&self.inline(text), 0)]))
    }

    fn list_item(&mut self, lines: &[String], scope: &Scope) -> Option<Step> {
        let (marker, width) = if let Some(width) = bullet_width(&lines[0]) {
            ("- ".to_owned(), width)
        } else if let Some((number, width)) = enumerator(&lines[0]) {
            self.enumerator = number.unwrap_or(self.enumerator + 1);
            (format!("{}. ", self.enumerator), width)
        } else if let Some(width) = lines[0].starts_with("| ").then_some(2) {
            return Some(self.line_block(lines, width));
        } else {
            return self.field(lines, scope);
        };
        let number = self.enumerator;
        let extent = 1 + indented_extent(lines, 1, width.min(2));
        let mut content = vec![lines[0].get(width..).unwrap_or_default().trim_start().to_owned()];
        let text_indentation = match lines.get(1) {
            Some(next) if extent > 1 && !next.is_empty() => indentation(next),
            _ => width,
        };
        content.extend(
            lines[1..extent]
                .iter()
                .map(|line| outdent(line, text_indentation).to_owned()),
        );
        let inner = self.blocks(&content, &scope.item()).join("\n\n");
        self.enumerator = number;
        Some((extent, vec![format!("{marker}{}", hang(&inner, marker.len()))]))
    }

    fn line_block(&mut self, lines: &[String], width: usize) -> Step {
        let texts: Vec<String> = lines
            .iter()
            .take_while(|line| line.starts_with('|'))
            .map(|line| self.inline(line.get(width..).unwrap_or_default()))
            .collect();
        (texts.len(), vec![texts.join("\\\n")])
    }

    /// `:name: text` and `-o, --option  text`.
    fn field(&mut self, lines: &[String], scope: &Scope) -> Option<Step> {
        let (label, text) = match field_parts(&lines[0]) {
            Some((name, text)) => (self.field_label(name), text),
            None => {
                let (option, text) = option_parts(&lines[0])?;
                (format!("{}:", markdown_text::code(option)), text)
            }
        };
        let extent = 1 + indented_extent(lines, 1, 1);
        if field_parts(&lines[0]).is_some_and(|(name, _)| FILE_FIELDS.contains(&name) && text.is_empty()) {
            return Some((extent, Vec::new()));
        }
        let mut content = vec![text.to_owned()];
        content.extend(dedent(&lines[1..extent]));
        let inner = hang(&self.blocks(&content, &scope.item()).join("\n\n"), 2);
        Some((extent, vec![format!("- {label} {inner}").trim_end().to_owned()]))
    }

    fn field_label(&self, name: &str) -> String {
        match name.split_once(' ') {
            Some((
                "param" | "parameter" | "arg" | "argument" | "key" | "keyword" | "raises" | "ivar" | "var",
                rest,
            )) => match rest.rsplit_once(' ') {
                Some((kind, name)) => format!("{} ({}):", markdown_text::code(name), self.inline(kind)),
                None => format!("{}:", markdown_text::code(rest)),
            },
            _ => format!("**{}:**", self.inline(name)),
        }
    }

    /// A doctest block.
    fn verbatim(&mut self, lines: &[String]) -> Option<Step> {
        if !lines[0].starts_with(">>> ") {
            return None;
        }
        let extent = lines.iter().take_while(|line| !line.is_empty()).count();
        Some((extent, vec![fence("pycon", &lines[..extent])]))
    }

    fn definition(&mut self, lines: &[String], scope: &Scope) -> Option<Step> {
        let next = lines.get(1)?;
        if next.is_empty() || indentation(next) == 0 || lines[0].ends_with("::") {
            return None;
        }
        let extent = 1 + indented_extent(lines, 1, 1);
        let term = self.inline(&lines[0]);
        if scope.is_page && scope.allows_headings && opens_section(&term) {
            let mut blocks = vec![self.heading(&term, 1 + scope.definitions)];
            blocks.extend(self.body(&lines[1..extent], &scope.inside(term)));
            return Some((extent, blocks));
        }
        let term = if is_code(&term) { term } else { format!("**{term}**") };
        let text = hang(&self.body(&lines[1..extent], &scope.item()).join("\n\n"), 2);
        Some((extent, vec![format!("- {term}\n\n  {text}")]))
    }

    fn paragraph(&mut self, lines: &[String]) -> Step {
        let extent = lines
            .iter()
            .enumerate()
            .take_while(|(at, line)| !line.is_empty() && (*at == 0 || indentation(line) == 0))
            .count();
        let text = lines[..extent].join("\n");
        let Some(lead) = text.strip_suffix("::") else {
            return (extent, vec![guarded(self.inline(&text))]);
        };
        let literal = literal_extent(lines, extent);
        let lead = match lead.trim_end() {
            "" => String::new(),
            trimmed if trimmed.len() < lead.len() => self.inline(trimmed),
            trimmed => format!("{}:", self.inline(trimmed)),
        };
        let mut blocks = vec![lead];
        if literal > 0 {
            blocks.push(fence(&self.language, &dedent(&lines[extent..extent + literal])));
        }
        (extent + literal, blocks)
    }
}

/// Lines of the literal block after a `::` paragraph: indented, or quoted with one character.
fn literal_extent(lines: &[String], start: usize) -> usize {
    let indented = indented_extent(lines, start, 1);
    if indented > 0 {
        return indented;
    }
    let blanks = lines[start..].iter().take_while(|line| line.is_empty()).count();
    let quote = lines.get(start + blanks).and_then(|line| line.chars().next());
    let quote = quote.filter(|&first| is_punctuation(first));
    let quoted = lines[start + blanks..]
        .iter()
        .take_while(|line| quote.is_some_and(|quote| line.starts_with(quote)))
        .count();
    if quoted > 0 { blanks + quoted } else { 0 }
}

/// Escapes the start of a paragraph that Markdown would read as another block.
fn guarded(text: String) -> String {
    if text.starts_with(['#', '>']) || text.starts_with("+ ") {
        format!("\\{text}")
    } else {
        text
    }
}

fn is_code(text: &str) -> bool {
    text.len() > 2 && text.starts_with('`') && text.ends_with('`')
}

fn bullet_width(line: &str) -> Option<usize> {
    let mut characters = line.chars();
    let bullet = characters.next().filter(|first| "*-+•‣".contains(*first))?;
    match characters.next() {
        Some(' ') | None => Some(bullet.len_utf8() + 1),
        Some(_) => None,
    }
}

/// Whether a Markdown block is a list item.
pub(super) fn is_item(block: &str) -> bool {
    let digits = block.bytes().take_while(u8::is_ascii_digit).count();
    block.starts_with("- ") || (digits > 0 && block[digits..].starts_with(". "))
}

/// The number (`None` for `#`) and the width of an enumerator such as `1.`, `(2)`, `#.`, `a)`.
fn enumerator(line: &str) -> Option<(Option<usize>, usize)> {
    let (marker, text) = line.split_once(' ')?;
    let inner = match marker.strip_prefix('(') {
        Some(inner) => inner.strip_suffix(')')?,
        None => marker.strip_suffix(['.', ')'])?,
    };
    let number = match inner {
        "#" => None,
        _ if inner.len() == 1 && inner.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
            Some(usize::from(inner.as_bytes()[0] - b'a') + 1)
        }
        _ if inner.len() <= 3 => Some(inner.parse().ok()?),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some((number, marker.len() + 1))
}

fn field_parts(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.strip_prefix(':')?.split_once(':')?;
    let valid =
        !name.is_empty() && !name.starts_with(' ') && !name.contains('`') && (text.is_empty() || text.starts_with(' '));
    valid.then(|| (name, text.trim()))
}

fn option_parts(line: &str) -> Option<(&str, &str)> {
    let is_option = line.starts_with('-')
        && line
            .trim_start_matches('-')
            .starts_with(|first: char| first.is_ascii_alphanumeric());
    let (option, text) = line.split_once("  ")?;
    is_option.then(|| (option, text.trim()))
}
