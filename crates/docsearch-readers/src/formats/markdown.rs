//! Converts Markdown with the extensions of site generators to plain Markdown. Containers, admonitions and tabs become
//! labels before their text, attributes and shortcodes are removed, definition lists become headings. Code blocks are
//! unchanged.

mod attribute;
mod code;
mod container;
mod context;
mod definition_list;
mod directive;
mod home_page;
pub(crate) mod mdx;
mod myst;
mod role;
mod shortcode;
#[cfg(test)]
pub(crate) mod tests;

use std::iter::Peekable;
use std::str::Lines;

use crate::draft::{Draft, Unreadable};
use crate::folder::include_reader;
use crate::folder::inclusion::{self, Language};
use crate::formats::format::{Format, LinkSyntax, Reader, SiteAnchors, TextSource};
use crate::formats::rst::LabelledFolders;
use crate::formats::rst::directive::vocabulary;
use crate::site::Extensions;
use crate::text::term;
use code::Block;
use context::PageContext;
use directive::Directive;
use mdx::indentation::{split, strip};
use mdx::partial;

pub(crate) static FORMAT: Format = Format {
    extensions: &["md", "markdown"],
    media_types: &["text/markdown", "text/x-markdown"],
    links: Some(LinkSyntax::Markdown),
    is_linked: true,
    includes: true,
    anchors: SiteAnchors::HeadingsAndQuotations,
    collect_shared: Some(|files| Box::new(LabelledFolders::of_files(files))),
    ..Format::new("markdown", "Markdown", "Markdown", Reader::Text(read))
};

fn read(source: &TextSource<'_>) -> Result<Vec<Draft>, Unreadable> {
    page(source, source.extensions)
}

/// Reads a page with its includes.
pub(crate) fn page(source: &TextSource<'_>, extensions: Extensions) -> Result<Vec<Draft>, Unreadable> {
    let mut context = PageContext::of(source, extensions);
    let mut draft = Draft::of_page(source.text, |text, matter| {
        context.add_substitutions(matter);
        let (text, missing) = partial::expand(source.folder, source.path, text);
        let is_code = vocabulary::is_code;
        let (text, warning) = inclusion::expand(source.folder, source.path, &text, Language::Markdown, is_code);
        let markdown = home_page::text(matter) + &converted(&text, &context);
        let of_parts = include_reader::warning(&context.missing());
        Ok((markdown, missing.or(warning).or(of_parts)))
    })?;
    context.describe(&mut draft);
    Ok(vec![draft])
}

/// Evidence in a line for Markdown.
pub(crate) fn evidence(line: &str) -> usize {
    let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
    let heading = (1..=6).contains(&hashes) && line[hashes..].starts_with(' ');
    let fence = line.starts_with("```");
    2 * usize::from(heading) + 2 * usize::from(fence) + 2 * usize::from(line.contains("]("))
}

/// Converts a page to plain Markdown.
fn converted(text: &str, context: &PageContext) -> String {
    let dialect = match context.extensions.mdx {
        true => Some(mdx::Dialect::Mdx),
        false => mdx::dialect(text),
    };
    let plain = match dialect {
        Some(dialect) => context.without_components(text, dialect),
        None => myst::without_comments(text, context).into_owned(),
    };
    let mut page = Converter {
        context,
        output: String::with_capacity(plain.len()),
        shifts: Vec::new(),
        level: 1,
        in_definition: false,
    };
    page.read(&mut plain.lines().peekable());
    page.output
}

struct Converter<'a> {
    context: &'a PageContext,
    output: String,
    /// Open admonitions: the column where their content begins, and the columns removed from its lines.
    shifts: Vec<(usize, usize)>,
    /// Level of the last heading.
    level: usize,
    /// Whether the next lines are part of a definition: a second definition has the same term.
    in_definition: bool,
}

impl Converter<'_> {
    fn read(&mut self, lines: &mut Peekable<Lines<'_>>) {
        while let Some(line) = lines.next() {
            let line = self.shifted(line);
            let (column, text) = split(&line);
            let mut values = String::new();
            if let Some(mut block) = Block::open(&line) {
                match directive::of(block.info()) {
                    Some(directive) => self.directive(&directive, &block, column, lines),
                    None => {
                        self.push(&line);
                        self.copy(&mut block, lines);
                    }
                }
            } else if column < 4 && self.opens_code(text) {
                self.code_of_shortcode(text, lines);
            } else if let Some(label) = container::indented(text) {
                let lost = self.shifts.last().map_or(0, |(_, lost)| *lost);
                self.shifts.push((column + lost + 4, lost + 4));
                self.label(column, label);
            } else if let Some(target) = directive::image_between_colons(text) {
                self.image(&target, column, lines);
            } else if let Some((directive, block)) = directive::in_colons(text) {
                self.directive(&directive, &block, column, lines);
            } else if let Some(label) = directive::between_colons(text) {
                self.record_unknown(text.trim_start_matches(':'));
                self.label(column, &label);
                while lines.next_if(|next| directive::is_option(next.trim())).is_some() {}
            } else if let Some(label) = container::fenced(text) {
                self.label(column, label);
            } else if let Some(name) = container::object(text) {
                self.label(column, &format!("`{name}`"));
                while lines
                    .peek()
                    .is_some_and(|next| split(next).0 > column || next.trim().is_empty())
                {
                    lines.next();
                }
                self.push("");
            } else if let Some(id) = attribute::of_block(text) {
                self.attribute(id);
            } else if let Some(definition) = definition_list::definition(text) {
                self.definition(column, definition);
            } else if self
                .context
                .substituted(&line, |text| values = converted(text, self.context))
                .is_some()
            {
                self.output.push_str(&values);
            } else {
                self.level = heading_level(text).unwrap_or(self.level);
                self.in_definition &= text.is_empty() || !self.shifts.is_empty();
                let line = shortcode::without(&line, self.context.extensions.liquid);
                let line = match heading_level(text) {
                    Some(_) => without_badges(&line),
                    None => line,
                };
                self.push(&attribute::without(&role::shown(&line, self.context)));
            }
        }
    }

    /// The line without the indentation of the admonition around it; closes admonitions that end before it.
    fn shifted(&mut self, line: &str) -> String {
        let (column, text) = split(line);
        if !text.is_empty() {
            while self.shifts.last().is_some_and(|(content, _)| *content > column) {
                self.shifts.pop();
            }
        }
        match self.shifts.last() {
            Some((_, lost)) => strip(line, *lost),
            None => line.to_owned(),
        }
    }

    fn push(&mut self, line: &str) {
        self.output.push_str(line);
        self.output.push('\n');
    }

    /// Writes a bold label between blank lines; nothing for an empty one.
    fn label(&mut self, column: usize, label: &str) {
        let label = label.trim();
        if label.is_empty() {
            return;
        }
        let indent = " ".repeat(column);
        let label = match label.starts_with('`') {
            true => label.to_owned(),
            false => format!("**{label}**"),
        };
        if !self.output.is_empty() && !self.output.ends_with("\n\n") {
            self.output.push('\n');
        }
        self.push(&format!("{indent}{label}"));
        self.push("");
    }

    /// Copies the lines of a code block, up to its closing fence.
    fn copy(&mut self, block: &mut Block, lines: &mut Peekable<Lines<'_>>) {
        for line in lines.by_ref() {
            let lost = self.shifts.last().map_or(0, |(_, lost)| *lost);
            let line = strip(line, lost);
            let closes = block.closes(&line);
            self.push(&line);
            if closes {
                return;
            }
        }
    }

    /// A MyST directive, which has the syntax of a code block.
    fn directive(&mut self, directive: &Directive, block: &Block, column: usize, lines: &mut Peekable<Lines<'_>>) {
        let lost = self.shifts.last().map_or(0, |(_, lost)| *lost);
        let mut content = Vec::new();
        for line in lines.by_ref() {
            let line = strip(line, lost + column);
            if block.closes(&line) {
                break;
            }
            content.push(line);
        }
        let parts = directive::Parts::of(&content);
        let is_text = directive::is_text(parts.content);
        if is_text || !matches!(directive, Directive::Unknown(_)) {
            self.record_unknown(block.info());
        }
        let body = match directive {
            Directive::Code(language) => {
                self.label(column, parts.option("caption").unwrap_or_default());
                block.fence(language, &parts.code())
            }
            Directive::Rst(opening) => {
                let text = parts.restructured_text(opening.as_deref());
                self.context.restructured_text(&text)
            }
            Directive::Nothing => return,
            Directive::Container(label) => {
                self.label(column, label);
                converted(&parts.text(), self.context)
            }
            Directive::Image(target) => {
                let below = converted(&parts.text(), self.context);
                format!("{}\n\n{below}", parts.image(target))
            }
            Directive::Unknown(label) if is_text => {
                self.label(column, label);
                converted(&format!("{}{}", parts.fields(), parts.text()), self.context)
            }
            Directive::Unknown(_) => block.fence(block.info(), &content.join("\n")),
        };
        let is_code = matches!(directive, Directive::Unknown(_)) && body.starts_with("```");
        let indent = " ".repeat(column);
        for line in body.lines() {
            self.push(&match line.is_empty() {
                true => String::new(),
                false => format!("{indent}{line}"),
            });
        }
        if !is_code {
            self.push("");
        }
    }

    /// The image of `:::{figure} target`, whose options follow.
    fn image(&mut self, target: &str, column: usize, lines: &mut Peekable<Lines<'_>>) {
        let mut options = Vec::new();
        while let Some(line) = lines.next_if(|next| directive::is_option_or_more(next.trim())) {
            options.push(line.trim().to_owned());
        }
        let image = directive::Parts::of(&options).image(target);
        if !image.is_empty() {
            self.push(&format!("{}{image}", " ".repeat(column)));
            self.push("");
        }
    }

    /// Records the name of the directive in the information of a fence, if it is not known.
    fn record_unknown(&self, information: &str) {
        if let Some(name) = directive::unknown_name(information) {
            self.context.unknown(&name);
        }
    }

    fn opens_code(&self, text: &str) -> bool {
        shortcode::language(text, self.context.extensions.liquid).is_some()
    }

    fn code_of_shortcode(&mut self, text: &str, lines: &mut Peekable<Lines<'_>>) {
        let language = shortcode::language(text, self.context.extensions.liquid).unwrap_or_default();
        let mut code: Vec<&str> = Vec::new();
        for line in lines.by_ref() {
            if shortcode::ends_code(line) {
                break;
            }
            code.push(line);
        }
        let code = code.join("\n");
        let block = crate::text::fence::block(language, code.trim_matches('\n'));
        self.push(&block);
    }

    /// Attributes on a line of their own: an identifier belongs to the heading before, or is a link target.
    fn attribute(&mut self, id: Option<&str>) {
        let Some(id) = id else {
            return;
        };
        let last = self.output.trim_end_matches('\n');
        let line = last.rfind('\n').map_or(0, |end| end + 1);
        if heading_level(&last[line..]).is_some() && last.len() + 1 == self.output.len() {
            self.output.truncate(last.len());
            self.push(&format!(" {{#{id}}}"));
        } else {
            self.push(&format!("<a id=\"{id}\"></a>"));
        }
    }

    /// The definition of the term on the line before. A name becomes a heading, so that it can be found and linked.
    fn definition(&mut self, column: usize, definition: &str) {
        let last = self.output.trim_end();
        let start = last.rfind('\n').map_or(0, |end| end + 1);
        let term = last[start..].to_owned();
        let is_term = !self.in_definition
            && !term.is_empty()
            && heading_level(&term).is_none()
            && !term.starts_with(['|', '>', '-', '*', '+']);
        if is_term {
            self.output.truncate(start);
            let level = self.level + 1;
            let shown = match term::opens_section(&term) && level <= 6 && column == 0 {
                true => format!("{} {}", "#".repeat(level), term.trim()),
                false if term.trim().starts_with('`') => term.trim().to_owned(),
                false => format!("**{}**", term.trim().trim_matches('*')),
            };
            self.push(&shown);
        }
        self.in_definition = true;
        self.push("");
        // The following lines of the definition are indented by four columns.
        let lost = self.shifts.last().map_or(0, |(_, lost)| *lost);
        self.shifts.push((column + lost + 2, lost + 4));
        let definition = shortcode::without(definition, self.context.extensions.liquid);
        self.push(&attribute::without(&role::shown(&definition, self.context)));
    }
}

/// A heading without components such as `<Badge text="new" />`, which are not part of its name.
fn without_badges(line: &str) -> String {
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let is_component = rest[at + 1..].starts_with(|first: char| first.is_ascii_uppercase());
        let in_code = rest[..at].matches('`').count() % 2 == 1;
        let Some(end) = rest[at..].find("/>").filter(|_| is_component && !in_code) else {
            output.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        output.push_str(rest[..at].trim_end_matches(' '));
        rest = &rest[at + end + 2..];
    }
    output.push_str(rest);
    output
}

fn heading_level(text: &str) -> Option<usize> {
    let hashes = text.bytes().take_while(|&byte| byte == b'#').count();
    ((1..=6).contains(&hashes) && text[hashes..].starts_with([' ', '\t'])).then_some(hashes)
}
