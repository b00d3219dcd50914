//! The attributes of a component, and the text in them that readers see.

use super::attribute::{Value, all, literal, string_length, unescaped};

/// Attributes of any element that readers see on the page.
const PROSE_ATTRIBUTES: [&str; 8] = [
    "title",
    "label",
    "header",
    "heading",
    "caption",
    "alt",
    "summary",
    "description",
];
/// String attributes that show something to type.
const CODE_ATTRIBUTES: [&str; 3] = ["text", "code", "command"];
/// Attributes of components whose short values readers see beside their name.
const LABELLED_ATTRIBUTES: [&str; 13] = [
    "version",
    "since",
    "until",
    "use",
    "keys",
    "shortcut",
    "package",
    "option",
    "env",
    "file",
    "filename",
    "default",
    "defaultValue",
];
/// Attributes with the name of what an element with a type describes, such as a parameter.
const NAME_ATTRIBUTES: [&str; 5] = ["name", "path", "query", "body", "header"];
/// Keys that start an entry in a list of objects.
const ENTRY_KEYS: [&str; 3] = ["name", "title", "label"];
/// Parts of names of attributes that are for the browser or for a program.
const TECHNICAL_PARTS: [&str; 19] = [
    "class", "style", "href", "src", "url", "path", "link", "icon", "color", "image", "img", "width", "height", "size",
    "key", "query", "viewbox", "target", "font",
];
/// Whole names of such attributes.
const TECHNICAL_NAMES: [&str; 14] = [
    "id",
    "to",
    "rel",
    "d",
    "as",
    "is",
    "ref",
    "type",
    "lang",
    "language",
    "value",
    "values",
    "groupId",
    "transform",
];
/// Maximum signs in an expression that only look like tags.
const MAX_UNCLOSED: usize = 20;

/// What has the attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// An element of HTML.
    Html,
    /// A component, whose attributes of own names may be texts.
    Component { has_children: bool },
}

/// The visible text as Markdown. `element` makes Markdown of elements in a value.
pub(super) fn text(source: &str, owner: Owner, element: &mut impl FnMut(&str) -> String) -> String {
    let attributes = all(source);
    let is_component = owner != Owner::Html;
    let mut output = Output::default();
    let name = name(&attributes, owner);
    output.blocks.extend(name.as_ref().map(|(_, shown)| shown.clone()));
    let request = request(&attributes).filter(|_| is_component && name.is_none());
    output.blocks.extend(request);
    for (key, value) in attributes {
        match value {
            _ if name.as_ref().is_some_and(|(own, shown)| {
                *own == key || key.starts_with("default") && shown.contains(", default ")
            }) => {}
            Value::Text(text) => output.push(key, text, is_component),
            Value::Expression(expression) => output.expression(key, expression, is_component, element),
            Value::Flag => {}
        }
    }
    output.finish()
}

/// The name of what a component describes, with its type, and the attribute that has it.
fn name<'a>(attributes: &[(&'a str, Value<'a>)], owner: Owner) -> Option<(&'a str, String)> {
    let Owner::Component { has_children } = owner else {
        return None;
    };
    let value = |name: &str| {
        attributes.iter().find_map(|(key, value)| match value {
            Value::Text(text) if *key == name && !text.trim().is_empty() => Some((*key, line(text))),
            _ => None,
        })
    };
    let required = match attributes.contains(&("required", Value::Flag)) {
        true => ", required",
        false => "",
    };
    match value("type") {
        Some((_, kind)) => {
            let (key, name) = NAME_ATTRIBUTES.iter().find_map(|name| value(name))?;
            let default = default(attributes).map_or_else(String::new, |value| format!(", default `{value}`"));
            Some((key, format!("`{name}` (`{kind}`{required}{default})")))
        }
        None => {
            let (key, name) = value("name").filter(|(_, name)| has_children && !is_prose(name))?;
            Some((key, format!("`{name}`")))
        }
    }
}

/// The request of a component that describes one: `GET /users`.
fn request(attributes: &[(&str, Value<'_>)]) -> Option<String> {
    let value = |names: &[&str]| {
        attributes.iter().find_map(|(key, value)| match value {
            Value::Text(text) if names.contains(key) => Some(text.trim()),
            _ => None,
        })
    };
    let method =
        value(&["method"]).filter(|method| !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase()))?;
    let path = value(&["path", "endpoint", "url"]).filter(|path| !path.is_empty() && !path.contains('`'))?;
    Some(format!("`{method} {path}`"))
}

/// The default of a parameter, as it is typed.
fn default(attributes: &[(&str, Value<'_>)]) -> Option<String> {
    let of = |names: &[&str]| {
        let found = attributes.iter().find(|(key, _)| names.contains(key));
        match found?.1 {
            Value::Text(text) => Some(line(text)),
            Value::Expression(expression) => Some(literal(expression).unwrap_or_else(|| line(expression))),
            Value::Flag => None,
        }
    };
    of(&["default", "defaultValue"]).filter(|value| !value.is_empty() && !value.contains('`') && !is_sentence(value))
}

#[derive(Default)]
struct Output {
    blocks: Vec<String>,
    /// The list of objects that was written last.
    entries: String,
}

impl Output {
    fn finish(mut self) -> String {
        self.close_entries();
        self.blocks.join("\n\n")
    }

    fn close_entries(&mut self) {
        if !self.entries.is_empty() {
            self.blocks.push(std::mem::take(&mut self.entries));
        }
    }

    fn push(&mut self, key: &str, value: &str, is_component: bool) {
        let value = line(value);
        if value.is_empty() {
            return;
        }
        if CODE_ATTRIBUTES.contains(&key) && !is_sentence(&value) {
            self.blocks.push(format!("`{value}`"));
        } else if is_shown(key, &value, is_component) {
            self.blocks.push(value);
        } else if is_component && !value.contains('`') {
            if LABELLED_ATTRIBUTES.contains(&key) {
                self.blocks.push(format!("{key}: `{value}`"));
            } else if key == "name" && is_code(&value) {
                self.blocks.push(format!("`{value}`"));
            }
        }
    }

    fn expression(
        &mut self,
        key: &str,
        expression: &str,
        is_component: bool,
        element: &mut impl FnMut(&str) -> String,
    ) {
        if let Some(text) = literal(expression) {
            self.push(key, &text, is_component);
        } else if expression.starts_with('<') {
            if !is_technical(key) {
                let text = element(expression);
                self.blocks
                    .extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
            }
        } else if expression.starts_with(['[', '{']) {
            self.literals(key, expression, is_component, element);
        } else if !expression.contains("=>") {
            self.choices(key, expression, is_component);
        }
    }

    /// The texts among which an expression chooses: `wide ? 'a' : 'b'`.
    fn choices(&mut self, key: &str, expression: &str, is_component: bool) {
        let mut at = 0;
        while let Some(offset) = expression[at..].find(['"', '\'', '`']) {
            let open = at + offset;
            let quote = expression[open..].chars().next().unwrap_or('"');
            let Some(length) = string_length(&expression[open + 1..], quote) else {
                return;
            };
            if expression[..open].trim_end().ends_with(['?', ':', '|', '&']) {
                self.push(key, &unescaped(&expression[open + 1..open + 1 + length]), is_component);
            }
            at = open + 1 + length + 1;
        }
    }

    /// Lists and objects: `['a', 'b']`, `[{name: 'a', description: 'b'}]`.
    fn literals(&mut self, key: &str, expression: &str, is_component: bool, element: &mut impl FnMut(&str) -> String) {
        let (mut at, mut items) = (0, Vec::new());
        let mut unclosed = 0;
        while let Some(offset) = expression[at..].find(['"', '\'', '`', '<']) {
            let open = at + offset;
            let before = expression[..open].trim_end();
            if expression[open..].starts_with('<') {
                let is_value = unclosed < MAX_UNCLOSED && before.ends_with([':', ',', '[', '(']);
                let length = if is_value {
                    element_length(&expression[open..])
                } else {
                    1
                };
                unclosed += usize::from(is_value && length == 1);
                if length > 1 {
                    let shown = element(&expression[open..open + length]);
                    self.value(key_before(before).unwrap_or(key), &line(&shown), is_component, before);
                }
                at = open + length;
                continue;
            }
            let quote = expression[open..].chars().next().unwrap_or('"');
            let Some(length) = string_length(&expression[open + 1..], quote) else {
                break;
            };
            let value = line(&unescaped(&expression[open + 1..open + 1 + length]));
            at = open + 1 + length + 1;
            if before.ends_with(':') {
                self.value(key_before(before).unwrap_or_default(), &value, is_component, before);
            } else if before.ends_with(['[', ','])
                && !expression[at..].trim_start().starts_with(':')
                && !value.is_empty()
            {
                items.push(value);
            }
        }
        self.close_entries();
        if is_technical(key) && !items.iter().any(|item| is_prose(item)) || items.is_empty() {
            return;
        }
        match items.iter().any(|item| is_prose(item)) {
            true => {
                let items: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
                self.blocks.push(items.join("\n"));
            }
            false => self.blocks.push(items.join(", ")),
        }
    }

    /// The value of a key in an object.
    fn value(&mut self, key: &str, value: &str, is_component: bool, before: &str) {
        if value.is_empty() {
            return;
        }
        if !before.ends_with(':') {
            self.close_entries();
            self.blocks.push(value.to_owned());
            return;
        }
        let last = self.entries.rsplit('\n').next().unwrap_or_default();
        // An object with a type and no name is a variant of the entry before it.
        let is_variant = key == "type" && last.contains(" (`");
        if ENTRY_KEYS.contains(&key) || is_variant {
            match is_prose(value) {
                true => self.open_entry(value),
                false => self.open_entry(&format!("`{value}`")),
            }
        } else if key == "type" && !last.is_empty() {
            self.entries.push_str(&format!(" (`{value}`)"));
        } else if PROSE_ATTRIBUTES.contains(&key) || is_shown(key, value, is_component) {
            match last.is_empty() || opens_object(before) {
                true => self.open_entry(value),
                false => self.entries.push_str(&format!(": {value}")),
            }
        }
    }

    fn open_entry(&mut self, value: &str) {
        if !self.entries.is_empty() {
            self.entries.push('\n');
        }
        self.entries.push_str(&format!("- {value}"));
    }
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether an attribute holds text of the page. Own names of components mostly do if they hold several words.
fn is_shown(key: &str, value: &str, is_component: bool) -> bool {
    PROSE_ATTRIBUTES.contains(&key) || is_component && !is_technical(key) && is_prose(value)
}

fn is_technical(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    TECHNICAL_NAMES.contains(&key)
        || TECHNICAL_PARTS.iter().any(|part| lower.contains(part))
        || ["data-", "aria-", "on", "v-", "client:"].iter().any(|start| {
            key.strip_prefix(start)
                .is_some_and(|rest| *start != "on" || rest.starts_with(char::is_uppercase))
        })
}

/// Whether a text is written for readers: several words, or one that begins or ends as a sentence does.
fn is_prose(value: &str) -> bool {
    let is_word = |word: &str| word.chars().any(char::is_alphabetic);
    let words = value.split_whitespace().filter(|word| is_word(word)).count();
    let is_address = value.contains("://") || value.starts_with(['/', '.', '#']);
    let is_phrase = value.starts_with(char::is_uppercase) && !value.chars().skip(1).any(char::is_uppercase)
        || value.ends_with(['.', '!', '?'])
        || !value.is_ascii();
    !is_address && (words > 1 || words == 1 && is_phrase && !value.contains(['_', '=', '(', '{']))
}

/// Whether a word has signs or capitals that words of prose and names of icons do not have: `index.js`, `KIT_HOME`.
fn is_code(value: &str) -> bool {
    let is_sign = |character: char| "._/()@".contains(character);
    value.contains(is_sign) && !value.contains("://") || value.chars().skip(1).any(char::is_uppercase)
}

/// Whether several words begin or end as a sentence does.
fn is_sentence(value: &str) -> bool {
    value.contains(' ') && (value.starts_with(char::is_uppercase) || value.ends_with(['.', '!', '?']))
}

/// Whether the key before a value is the first of its object.
fn opens_object(before: &str) -> bool {
    let key = key_before(before).unwrap_or_default();
    let rest = before.trim_end_matches(':').trim_end().trim_end_matches(['"', '\'']);
    let rest = rest.strip_suffix(key).unwrap_or(rest);
    rest.trim_end_matches(['"', '\'']).trim_end().ends_with('{')
}

/// The key of an object before a value.
fn key_before(before: &str) -> Option<&str> {
    let name = before.strip_suffix(':')?.trim_end().trim_end_matches(['"', '\'']);
    let start = name
        .rfind(|character: char| !(character.is_alphanumeric() || character == '_' || character == '-'))
        .map_or(0, |offset| {
            offset + name[offset..].chars().next().map_or(1, char::len_utf8)
        });
    Some(&name[start..])
}

/// Length of the element, with all in it, that `source` opens with; 1 if it is none.
fn element_length(source: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(offset) = source[at..].find('<') {
        let open = at + offset;
        let Some(tag) = super::tag::tag(&source[open..]) else {
            return if depth == 0 { 1 } else { source.len() };
        };
        at = open + tag.length;
        match (tag.closing, tag.self_closing) {
            (true, _) => depth = depth.saturating_sub(1),
            (false, true) => {}
            (false, false) => depth += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    source.len()
}
