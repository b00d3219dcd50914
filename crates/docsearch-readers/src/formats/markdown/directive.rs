//! MyST directives, which have the syntax of code blocks: ```` ```{note} ````.

use std::borrow::Cow;

use super::code::Block;
use super::container;
use crate::formats::rst::directive::code;
use crate::formats::rst::directive::vocabulary::{self, Kind};
use crate::text::markdown_text;

/// What a directive shows.
#[derive(Debug, PartialEq)]
pub(super) enum Directive {
    /// Code in a language.
    Code(String),
    /// reStructuredText, or a directive of it with this first line.
    Rst(Option<String>),
    /// Markdown below a label, which may be empty.
    Container(String),
    /// An image, and Markdown below it.
    Image(String),
    /// Nothing: navigation, and settings.
    Nothing,
    /// A directive of an extension, or the code of a notebook. The argument is the label of text.
    Unknown(String),
}

/// The directive in the info string of a code block.
pub(super) fn of(info: &str) -> Option<Directive> {
    let (name, argument) = info.strip_prefix('{')?.split_once('}')?;
    let argument = argument.trim().to_owned();
    let name = name.to_lowercase();
    let opening = || Directive::Rst(Some(format!(".. {name}:: {argument}")));
    let titled = |label: &str| match (label, &*argument) {
        (label, "") => label.to_owned(),
        ("", title) => title.to_owned(),
        (label, title) => format!("{label}: {title}"),
    };
    Some(match (&*name, vocabulary::kind(&name)) {
        ("code-cell", _) => Directive::Code(argument),
        ("eval-rst", _) => Directive::Rst(None),
        ("tableofcontents", _) => Directive::Nothing,
        (_, Some(kind)) => match kind {
            Kind::Silent => Directive::Nothing,
            Kind::Code => Directive::Code(argument),
            Kind::CodeTab | Kind::ListTable | Kind::CsvTable => opening(),
            Kind::CodeIn(_) | Kind::Math => Directive::Code(name.clone()),
            Kind::ParsedLiteral => Directive::Code(String::new()),
            Kind::Labelled(label) => Directive::Container(match &*argument {
                "" => container::label(&name).unwrap_or(label).to_owned(),
                _ => argument,
            }),
            Kind::Change(label) => Directive::Container(format!("{label} {argument}").trim_end().to_owned()),
            Kind::Titled(label) => Directive::Container(titled(label)),
            Kind::Line | Kind::Text | Kind::Button | Kind::Table => Directive::Container(argument),
            Kind::Raw | Kind::Metadata => opening(),
            Kind::Layout => Directive::Container(String::new()),
            Kind::Image | Kind::Figure => Directive::Image(argument),
            Kind::Definition | Kind::Automatic => Directive::Container(match &*argument {
                "" => String::new(),
                name => format!("`{name}`"),
            }),
        },
        _ => match container::label(&name) {
            Some(label) if argument.is_empty() => Directive::Container(label.to_owned()),
            Some(_) => Directive::Container(argument),
            None => Directive::Unknown(argument),
        },
    })
}

/// The names of MyST that are not directives of reStructuredText.
const OWN: [&str; 5] = ["code-cell", "eval-rst", "tableofcontents", "div", "include"];

/// The name of a directive that is not known, in the information of a fence.
pub(super) fn unknown_name(information: &str) -> Option<String> {
    let (name, _) = information.strip_prefix('{')?.split_once('}')?;
    let is_name = name.starts_with(char::is_alphabetic) && !name.contains([' ', ',', '=']);
    let is_known = vocabulary::is_known(&name.to_lowercase()) || OWN.contains(&name) || container::is_known(name);
    (is_name && !is_known).then(|| name.to_owned())
}

/// A directive between lines of colons whose content is not Markdown, and its fence.
pub(super) fn in_colons(text: &str) -> Option<(Directive, Block)> {
    let block = Block::of_colons(text)?;
    let directive = of(block.info())?;
    let is_other = matches!(directive, Directive::Code(_) | Directive::Rst(_) | Directive::Nothing);
    is_other.then_some((directive, block))
}

/// The label of a directive between lines of colons, whose content is Markdown: `:::{note}`.
pub(super) fn between_colons(text: &str) -> Option<String> {
    let info = text.strip_prefix(":::")?.trim_start_matches(':');
    match of(info).filter(|_| info.starts_with('{') && !info.starts_with("{."))? {
        Directive::Container(label) | Directive::Unknown(label) => Some(label),
        Directive::Code(_) | Directive::Rst(_) | Directive::Image(_) | Directive::Nothing => None,
    }
}

/// The target of the image in `:::{figure} target`.
pub(super) fn image_between_colons(text: &str) -> Option<String> {
    let info = text.strip_prefix(":::")?.trim_start_matches(':');
    match of(info)? {
        Directive::Image(target) => Some(target),
        _ => None,
    }
}

/// Whether the information of a fence names a directive of MyST or Sphinx.
pub(super) fn is_known(info: &str) -> bool {
    let name = info.strip_prefix('{').and_then(|info| info.split_once('}'));
    name.is_some_and(|(name, _)| matches!(name, "eval-rst" | "code-cell") || vocabulary::kind(name).is_some())
}

/// `:name: value`.
pub(super) fn is_option(line: &str) -> bool {
    option(line).is_some()
}

/// Whether a line is an option, or goes on with the value of the one before.
pub(super) fn is_option_or_more(line: &str) -> bool {
    is_option(line) || line.starts_with(": ")
}

fn option(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then(|| (name, value.trim()))
}

/// The options and the content of a directive.
pub(super) struct Parts<'a> {
    options: Vec<(&'a str, Cow<'a, str>)>,
    pub(super) content: &'a [String],
}

impl<'a> Parts<'a> {
    /// Options are lines in colons, or YAML between lines of dashes.
    pub(super) fn of(lines: &'a [String]) -> Self {
        let is_dashes = |line: &String| line.trim_end() == "---";
        if lines.first().is_some_and(is_dashes)
            && let Some(end) = lines[1..].iter().position(is_dashes)
        {
            let pairs = lines[1..=end].iter().filter_map(|line| line.split_once(": "));
            return Self {
                options: pairs.map(|(name, value)| (name.trim(), value.trim().into())).collect(),
                content: &lines[end + 2..],
            };
        }
        let mut options: Vec<(&str, Cow<'_, str>)> = Vec::new();
        let mut count = 0;
        for line in lines {
            if let Some((name, value)) = option(line) {
                options.push((name, value.into()));
            } else if let Some((more, (_, value))) = line.strip_prefix(": ").zip(options.last_mut()) {
                // YAML, in which a backslash at the end of a line joins it with the next.
                let value = value.to_mut();
                match value.strip_suffix('\\') {
                    Some(joined) => value.truncate(joined.len()),
                    None => value.push(' '),
                }
                value.push_str(more.trim());
            } else {
                break;
            }
            count += 1;
        }
        Self {
            options,
            content: &lines[count..],
        }
    }

    pub(super) fn option(&self, name: &str) -> Option<&str> {
        let mut options = self.options.iter();
        options.find(|(known, _)| *known == name).map(|(_, value)| &**value)
    }

    /// The image with its text; nothing if it has none.
    pub(super) fn image(&self, target: &str) -> String {
        let text = self.option("alt").unwrap_or_default();
        let is_quoted = text.starts_with(['"', '\'']);
        let text = match serde_saphyr::from_str::<String>(text) {
            Ok(unquoted) if is_quoted => unquoted,
            _ => text.to_owned(),
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.is_empty() {
            true => String::new(),
            false => format!("![{}]({})", markdown_text::escape(&text), target.replace(' ', "%20")),
        }
    }

    pub(super) fn text(&self) -> String {
        self.content.join("\n")
    }

    pub(super) fn code(&self) -> String {
        self.text().trim_matches('\n').to_owned()
    }

    /// The options that readers see, as a list.
    pub(super) fn fields(&self) -> String {
        let shown = self
            .options
            .iter()
            .filter(|(name, value)| vocabulary::is_shown(name, value));
        let fields: String = shown.map(|(name, value)| format!("- **{name}:** {value}\n")).collect();
        if fields.is_empty() { fields } else { fields + "\n" }
    }

    /// The same in reStructuredText, below the first line of a directive, if it is one.
    pub(super) fn restructured_text(&self, opening: Option<&str>) -> String {
        let Some(opening) = opening else { return self.text() };
        let mut text = format!("{opening}\n");
        for (name, value) in &self.options {
            text += &format!("   :{name}: {value}\n");
        }
        text.push('\n');
        for line in self.content {
            text += &format!("   {line}\n");
        }
        text
    }
}

/// Whether the content of an unknown directive is sentences rather than code.
pub(super) fn is_text(content: &[String]) -> bool {
    let is_sentence = |line: &String| {
        let line = line.trim_end();
        line.ends_with(['.', '!', '?', ':']) && line.split(' ').count() >= 3
    };
    let has_text = content.iter().any(|line| !line.trim().is_empty());
    !has_text || content.iter().any(is_sentence) && !code::is_code(content)
}
