//! Blocks: sections, paragraphs, code and their containers.

use asciidoc_parser::attributes::Attrlist;
use asciidoc_parser::blocks::{
    AdmonitionBlock, Block, BreakType, CompoundDelimitedBlock, ContentModel, IsBlock, ListItem, MediaBlock, MediaType,
    QuoteBlock, QuoteType, RawDelimitedBlock, SectionBlock, SimpleBlock, SimpleBlockStyle,
};
use asciidoc_parser::content::Content;

use super::scope::Scope;
use super::{inline, list, table};
use crate::text::{fence, markdown_text};

/// Maximum nesting; deeper text is kept as paragraphs.
const MAX_DEPTH: usize = 24;

/// Converts `blocks` to Markdown blocks.
pub(super) fn all<'a>(blocks: impl Iterator<Item = &'a Block<'a>>, scope: Scope) -> Vec<String> {
    if scope.depth > MAX_DEPTH {
        return Vec::new();
    }
    let mut output = Vec::new();
    for block in blocks {
        one(block, scope, &mut output);
    }
    output.retain(|block| !block.is_empty());
    output
}

fn cell_blocks<'a>(blocks: &'a [Block<'a>], scope: Scope) -> Vec<String> {
    all(blocks.iter(), scope)
}

fn item_blocks<'a>(item: &'a ListItem<'a>, scope: Scope) -> Vec<String> {
    all(item.child_blocks(), scope)
}

fn one<'a>(block: &'a Block<'a>, scope: Scope, output: &mut Vec<String>) {
    match block {
        Block::Section(section) => output.extend(self::section(section, scope)),
        Block::Preamble(preamble) => output.extend(all(preamble.child_blocks(), scope)),
        Block::Simple(simple) => output.extend(self::simple(simple)),
        Block::RawDelimited(raw) => output.extend(self::raw(raw)),
        Block::CompoundDelimited(compound) => output.extend(self::compound(compound, scope)),
        Block::Admonition(admonition) => output.extend(self::admonition(admonition, scope)),
        Block::Quote(quote) => output.extend(self::quote(quote, scope)),
        Block::List(list) => {
            output.extend(title(block));
            output.extend(list::blocks(list, scope, item_blocks));
        }
        Block::ListItem(item) => output.extend(all(item.child_blocks(), scope.enclosed())),
        Block::Table(table) => {
            output.extend(title(block));
            output.extend(table::blocks(table, scope, cell_blocks));
        }
        Block::Media(media) => {
            output.extend(self::media(media));
            output.extend(title(block));
        }
        Block::Break(line) if line.type_() == BreakType::Thematic => output.push("---".to_owned()),
        _ => {}
    }
}

fn section<'a>(section: &'a SectionBlock<'a>, scope: Scope) -> Vec<String> {
    let level = section.level() + 1;
    let id = section.id();
    let text = inline::title(section.section_title());
    let mut output = Vec::new();
    if !text.trim().is_empty() {
        output.push(markdown_text::heading(level, &text, id));
    }
    let mut inner = scope.below(level);
    // The nesting of sections is limited by their levels.
    inner.depth = scope.depth;
    inner.is_synopsis = text.eq_ignore_ascii_case("synopsis");
    output.extend(all(section.child_blocks(), inner));
    output
}

/// The title of a block.
fn title<'a>(block: &'a Block<'a>) -> Option<String> {
    title_of(block.title_content(), block.title(), block.attrlist())
}

/// `[caption="Recipe: "]` precedes the title.
fn title_of(
    content: Option<&Content<'_>>,
    rendered: Option<&str>,
    attributes: Option<&Attrlist<'_>>,
) -> Option<String> {
    let text = match content {
        Some(content) => inline::markdown(content.inlines()),
        None => inline::title(rendered?),
    };
    let caption = attributes.and_then(|attributes| attributes.named_attribute("caption"));
    let caption = markdown_text::escape(caption.map_or("", |caption| caption.value()));
    let text = format!("{caption}{}", text.trim().trim_matches('*'));
    let text = text.trim();
    (!text.is_empty()).then(|| format!("**{text}**"))
}

/// A paragraph of Markdown.
pub(super) fn paragraph(content: &Content<'_>) -> String {
    markdown_text::paragraph(&inline::markdown(content.inlines()))
}

fn simple<'a>(block: &'a SimpleBlock<'a>) -> Vec<String> {
    let style = block.attrlist().and_then(Attrlist::block_style);
    if style == Some("comment") {
        return Vec::new();
    }
    let mut output: Vec<String> = title_of(block.title_content(), block.title(), block.attrlist())
        .into_iter()
        .collect();
    output.push(match block.style() {
        SimpleBlockStyle::Paragraph if block.content_model() != ContentModel::Simple => code("", block.content()),
        SimpleBlockStyle::Paragraph if matches!(style, Some("stem" | "latexmath" | "asciimath")) => {
            code("", block.content())
        }
        SimpleBlockStyle::Paragraph => paragraph(block.content()),
        SimpleBlockStyle::Literal => code("", block.content()),
        _ => code(&language(block.attrlist()), block.content()),
    });
    output
}

fn raw<'a>(block: &'a RawDelimitedBlock<'a>) -> Vec<String> {
    let context = block.resolved_context();
    let mut output: Vec<String> = title_of(block.title_content(), block.title(), block.attrlist())
        .into_iter()
        .collect();
    match &*context {
        "comment" => return Vec::new(),
        // It may be HTML in Markdown, which a blank line would end.
        "pass" => output.push(
            block
                .content()
                .original()
                .data()
                .lines()
                .filter(|line| !line.trim().is_empty())
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        "literal" => output.push(code("", block.content())),
        _ => output.push(code(&language(block.attrlist()), block.content())),
    }
    output
}

pub(super) fn code(language: &str, content: &Content<'_>) -> String {
    fence::block(language, inline::plain(content.inlines()).trim_end_matches('\n'))
}

/// The language of a code block: the second word of `[source,ruby]`, or the value of `language=`.
fn language(attributes: Option<&Attrlist<'_>>) -> String {
    let Some(attributes) = attributes else {
        return String::new();
    };
    let named = attributes
        .named_attribute("language")
        .map(|attribute| attribute.value());
    let is_code = matches!(attributes.block_style(), Some("source" | "listing") | None);
    let positional = attributes
        .nth_attribute(2)
        .filter(|attribute| is_code && attribute.name().is_none())
        .map(|attribute| attribute.value());
    let language = named.or(positional).unwrap_or_default();
    let is_name = language
        .chars()
        .all(|character| character.is_alphanumeric() || "+-#._".contains(character));
    if is_name { language.to_owned() } else { String::new() }
}

fn compound<'a>(block: &'a CompoundDelimitedBlock<'a>, scope: Scope) -> Vec<String> {
    let mut output: Vec<String> = title_of(block.title_content(), block.title(), block.attrlist())
        .into_iter()
        .collect();
    output.extend(all(block.child_blocks(), scope.below(scope.level)));
    output
}

fn admonition<'a>(block: &'a AdmonitionBlock<'a>, scope: Scope) -> Vec<String> {
    let mut body = match block.content() {
        Some(content) => vec![paragraph(content)],
        None => all(block.child_blocks(), scope.enclosed()),
    };
    let caption = block
        .attrlist()
        .and_then(|attributes| attributes.named_attribute("caption"));
    let label = caption.map_or_else(|| block.label().to_string(), |caption| caption.value().to_owned());
    let label = match title_of(block.title_content(), block.title(), None) {
        Some(title) => format!("**{label}:** {title}"),
        None => format!("**{label}:**"),
    };
    // A fence, a table or a list cannot follow the label on the same line.
    match body.first_mut() {
        Some(first) if first.starts_with(|start: char| start.is_alphabetic() || "\"'(*".contains(start)) => {
            *first = format!("{label} {first}");
        }
        _ => body.insert(0, label),
    }
    body
}

fn quote<'a>(block: &'a QuoteBlock<'a>, scope: Scope) -> Vec<String> {
    let mut output: Vec<String> = title_of(block.title_content(), block.title(), block.attrlist())
        .into_iter()
        .collect();
    let mut body = match block.content() {
        Some(content) if block.type_() == QuoteType::Verse && scope.is_synopsis => {
            let text = inline::plain(content.inlines()).replace('\'', "");
            output.push(fence::block("", text.trim()));
            return output;
        }
        Some(content) if block.type_() == QuoteType::Verse => {
            vec![inline::markdown(content.inlines()).trim().replace('\n', "\\\n")]
        }
        Some(content) => vec![paragraph(content)],
        None => {
            // Both are the blocks in a quotation.
            match block.child_blocks().next() {
                Some(_) => all(block.child_blocks(), scope.enclosed()),
                None => all(block.blocks().iter(), scope.enclosed()),
            }
        }
    };
    let source: Vec<String> = [block.attribution(), block.citetitle()]
        .into_iter()
        .flatten()
        .map(|text| markdown_text::escape(&inline::without_tags(text)))
        .collect();
    if !source.is_empty() {
        body.push(format!("— {}", source.join(", ")));
    }
    let lines: Vec<String> = body
        .join("\n\n")
        .lines()
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    output.push(lines.join("\n"));
    output
}

fn media<'a>(block: &'a MediaBlock<'a>) -> Option<String> {
    let target = block.resolved_target();
    let attributes = block.macro_attrlist();
    let alt = attributes
        .named_attribute("alt")
        .or_else(|| attributes.nth_attribute(1))
        .map_or("", |attribute| attribute.value());
    (!target.is_empty()).then(|| {
        let link = format!("[{}]({})", markdown_text::escape(alt), target.replace(' ', "%20"));
        match block.type_() {
            MediaType::Image => format!("!{link}"),
            _ => markdown_text::link(&markdown_text::escape(target), target),
        }
    })
}
