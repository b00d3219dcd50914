//! The visible text in the attributes of a component.

/// String attributes that readers see on the page.
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
/// Keys that start an entry in a list of objects.
const ENTRY_KEYS: [&str; 3] = ["name", "title", "label"];

/// The visible text as Markdown.
pub(super) fn text(attributes: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut entries = String::new();
    for (key, value, in_object) in string_values(attributes) {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if value.is_empty() {
            continue;
        }
        if in_object {
            push_entry(&mut entries, key, &value);
        } else if CODE_ATTRIBUTES.contains(&key) {
            blocks.push(format!("`{value}`"));
        } else if PROSE_ATTRIBUTES.contains(&key) {
            blocks.push(value);
        }
    }
    if !entries.is_empty() {
        blocks.push(entries);
    }
    blocks.join("\n\n")
}

fn push_entry(entries: &mut String, key: &str, value: &str) {
    let last = entries.rsplit('\n').next().unwrap_or_default();
    // An object with a type and no name is a variant of the entry before it.
    let is_variant = key == "type" && last.contains(" (`");
    if ENTRY_KEYS.contains(&key) || is_variant {
        if !entries.is_empty() {
            entries.push('\n');
        }
        entries.push_str(&format!("- `{value}`"));
    } else if entries.is_empty() {
        // Parts need an entry with a name.
    } else if key == "type" {
        entries.push_str(&format!(" (`{value}`)"));
    } else if key == "description" {
        entries.push_str(&format!(": {value}"));
    }
}

/// Every `key="text"`, `key={'text'}` and `key: 'text'` in order; the flag is set for the last form.
fn string_values(source: &str) -> Vec<(&str, &str, bool)> {
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(offset) = source[at..].find(['"', '\'', '`']) {
        let open = at + offset;
        let quote = &source[open..=open];
        let Some(length) = string_length(&source[open + 1..], quote) else {
            break;
        };
        let before = source[..open].trim_end().trim_end_matches('{').trim_end();
        let in_object = before.ends_with(':');
        if in_object || before.ends_with('=') {
            let name = before[..before.len() - 1].trim_end();
            let start = name
                .rfind(|character: char| !(character.is_alphanumeric() || character == '_'))
                .map_or(0, |offset| {
                    offset + name[offset..].chars().next().map_or(1, char::len_utf8)
                });
            values.push((&name[start..], &source[open + 1..open + 1 + length], in_object));
        }
        at = open + 1 + length + 1;
    }
    values
}

fn string_length(source: &str, quote: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + source[at..].find(quote)?;
        if !source[..found].ends_with('\\') {
            return Some(found);
        }
        at = found + 1;
    }
}
