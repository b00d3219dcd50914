//! MDX to markdown: import and export statements go, component tags go, their text stays.

/// String attributes that a reader sees on the page.
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
/// Keys that open an entry in a list of objects handed to a component.
const ENTRY_KEYS: [&str; 3] = ["name", "title", "label"];
/// Content of nested components is indented by this much.
const INDENT_WIDTH: usize = 2;
const LITERAL_SPACES: [&str; 3] = ["{' '}", "{\" \"}", "{` `}"];
/// Tags and comments of a page that never close; looking for the end of more would take time that
/// grows with the square of the page.
const MAX_UNCLOSED: usize = 100;

/// The markdown of an MDX page.
pub(crate) fn to_markdown(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut prose = String::new();
    let mut depth = 0;
    let mut lines = text.lines().peekable();
    let mut after_blank = true;
    while let Some(line) = lines.next() {
        if let Some(marker) = fence_marker(line) {
            strip_tags(&prose, &mut depth, &mut output);
            prose.clear();
            push_line(&mut output, dedent(line, depth));
            for line in lines.by_ref() {
                push_line(&mut output, dedent(line, depth));
                let closing = line.trim();
                if closing.len() >= marker.len()
                    && closing.starts_with(marker)
                    && closing.trim_matches('`').trim_matches('~').is_empty()
                {
                    break;
                }
            }
            after_blank = true;
        } else if after_blank && is_module_statement(line) {
            skip_statement(line, &mut lines);
        } else {
            after_blank = line.trim().is_empty();
            push_line(&mut prose, line);
        }
    }
    strip_tags(&prose, &mut depth, &mut output);
    without_blank_runs(&output)
}

fn push_line(output: &mut String, line: &str) {
    output.push_str(line);
    output.push('\n');
}

fn fence_marker(line: &str) -> Option<&str> {
    let trimmed = line.trim_start();
    let first = trimmed.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = trimmed.chars().take_while(|&character| character == first).count();
    (length >= 3).then(|| &trimmed[..length])
}

fn is_module_statement(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("import ") {
        return rest.starts_with(['{', '*', '"', '\'']) || rest.contains(" from ") || rest.ends_with('{');
    }
    line.strip_prefix("export ").is_some_and(|rest| {
        let word = rest.split([' ', '(']).next().unwrap_or_default();
        matches!(
            word,
            "const" | "let" | "var" | "function" | "default" | "class" | "async" | "type" | "interface" | "{" | "*"
        ) || rest.starts_with('{')
    })
}

/// Drops the lines of a statement: until its brackets are closed.
fn skip_statement<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) {
    let balance = |line: &str| {
        line.chars().fold(0_i64, |sum, character| match character {
            '{' | '(' | '[' => sum + 1,
            '}' | ')' | ']' => sum - 1,
            _ => sum,
        })
    };
    let mut open = balance(first);
    while open > 0 {
        match lines.next() {
            Some(line) => open += balance(line),
            None => break,
        }
    }
}

/// Appends `prose` without its tags; `depth` counts the components that are open.
fn strip_tags(prose: &str, depth: &mut usize, output: &mut String) {
    let mut rest = prose;
    let mut line_start = true;
    let mut unclosed = 0;
    while let Some(character) = rest.chars().next() {
        if line_start {
            rest = dedent_first(rest, *depth);
            line_start = false;
            continue;
        }
        let length = match character {
            '`' => code_span(rest),
            '{' | '<' if unclosed < MAX_UNCLOSED => match element(rest, depth, output) {
                Some(length) => {
                    rest = &rest[length..];
                    continue;
                }
                None => {
                    unclosed += usize::from(opens_without_end(rest));
                    1
                }
            },
            other => other.len_utf8(),
        };
        let span = &rest[..length];
        output.push_str(span);
        line_start = span == "\n";
        rest = &rest[length..];
    }
}

/// Renders the tag or the invisible expression that `text` opens with; returns its length.
fn element(text: &str, depth: &mut usize, output: &mut String) -> Option<usize> {
    if text.starts_with('{') {
        let (length, shown) = invisible_expression(text)?;
        output.push_str(shown);
        return Some(length);
    }
    let tag = tag(text)?;
    apply(&tag, depth, output);
    Some(tag.length)
}

/// Length of the code span that `text` opens, or of its backticks when it does not close.
fn code_span(text: &str) -> usize {
    let run_length = |at: usize| text[at..].bytes().take_while(|&byte| byte == b'`').count();
    let ticks = run_length(0);
    let mut at = ticks;
    while let Some(offset) = text[at..].find('`') {
        let start = at + offset;
        if text[at..start].contains("\n\n") {
            break;
        }
        at = start + run_length(start);
        if at - start == ticks {
            return at;
        }
    }
    ticks
}

/// Length and rendering of `{/* comment */}` and of a literal space, `{' '}`.
fn invisible_expression(text: &str) -> Option<(usize, &'static str)> {
    if text[1..].starts_with("/*") {
        let close = text.find("*/}")?;
        return Some((close + 3, ""));
    }
    LITERAL_SPACES
        .iter()
        .find(|literal| text.starts_with(**literal))
        .map(|literal| (literal.len(), " "))
}

/// Whether `text`, which opens neither a tag nor a comment that ends, looks like one.
fn opens_without_end(text: &str) -> bool {
    text.starts_with("{/*") || text[1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/')
}

struct Tag<'a> {
    /// Bytes from `<` to `>`.
    length: usize,
    name: &'a str,
    attributes: &'a str,
    closing: bool,
    self_closing: bool,
}

/// The tag that `text` opens with; `None` for a less-than sign or an autolink.
fn tag(text: &str) -> Option<Tag<'_>> {
    let closing = text[1..].starts_with('/');
    let name_start = 1 + usize::from(closing);
    let name_length = text[name_start..]
        .find(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')))?;
    let name = &text[name_start..name_start + name_length];
    let attributes_start = name_start + name_length;
    let next = text[attributes_start..].chars().next()?;
    let fragment = name.is_empty() && next == '>';
    let named = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && (next.is_whitespace() || matches!(next, '>' | '/'));
    if !fragment && !named {
        return None;
    }
    let end = attributes_start + tag_end(&text[attributes_start..])?;
    let attributes = &text[attributes_start..end];
    let self_closing = attributes.ends_with('/') || matches!(name, "br" | "img" | "hr" | "input");
    Some(Tag {
        length: end + 1,
        name,
        attributes: attributes.trim_end_matches('/'),
        closing,
        self_closing,
    })
}

/// Offset of the `>` that ends the tag, past strings and braces.
fn tag_end(text: &str) -> Option<usize> {
    let mut braces = 0_usize;
    let mut quote = None;
    let mut previous = ' ';
    for (offset, character) in text.char_indices() {
        match quote {
            Some(open) if character == open && previous != '\\' => quote = None,
            Some(_) => {}
            None => match character {
                '{' => braces += 1,
                '}' => braces = braces.saturating_sub(1),
                '"' | '\'' | '`' if braces > 0 || previous == '=' => quote = Some(character),
                '>' if braces == 0 => return Some(offset),
                _ => {}
            },
        }
        previous = character;
    }
    None
}

fn apply(tag: &Tag<'_>, depth: &mut usize, output: &mut String) {
    if tag.closing {
        *depth = depth.saturating_sub(1);
        return;
    }
    if !tag.self_closing {
        *depth += 1;
    }
    let line_start = output.rfind('\n').map_or(0, |end| end + 1);
    let line = &output[line_start..];
    let text = attribute_text(tag.attributes);
    if line.trim().is_empty() && !text.is_empty() {
        output.push_str(&text);
        output.push_str("\n\n");
    } else if !text.is_empty() {
        output.push_str(&text.replace('\n', " "));
    } else if tag.self_closing && line.starts_with('|') {
        // A mark in a table cell (<Check />, <Cross />) says something by its name alone.
        output.push_str(tag.name);
    }
}

/// What a reader sees of a component's attributes, as markdown.
fn attribute_text(attributes: &str) -> String {
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
    // An object that has a type and no name is a variant of the entry before it.
    let is_variant = key == "type" && last.contains(" (`");
    if ENTRY_KEYS.contains(&key) || is_variant {
        if !entries.is_empty() {
            entries.push('\n');
        }
        entries.push_str(&format!("- `{value}`"));
    } else if entries.is_empty() {
        // An entry without a name has nothing to attach its parts to.
    } else if key == "type" {
        entries.push_str(&format!(" (`{value}`)"));
    } else if key == "description" {
        entries.push_str(&format!(": {value}"));
    }
}

/// Every `key="text"`, `key={'text'}` and `key: 'text'` in order; the flag marks the last form.
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
                .map_or(0, |place| {
                    place + name[place..].chars().next().map_or(1, char::len_utf8)
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

fn dedent(line: &str, depth: usize) -> &str {
    let spaces = line.bytes().take_while(|&byte| byte == b' ').count();
    &line[spaces.min(depth * INDENT_WIDTH)..]
}

/// `text` without the indentation of its first line; a closing tag stands one level further out,
/// so it loses what it has.
fn dedent_first(text: &str, depth: usize) -> &str {
    let line = text.split('\n').next().unwrap_or_default();
    if line.trim_start().starts_with('<') {
        return text.trim_start_matches(' ');
    }
    &text[line.len() - dedent(line, depth).len()..]
}

/// At most one blank line in a row outside fences, which tags leave behind in numbers.
fn without_blank_runs(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut blank = true;
    for line in text.lines() {
        match (fence, fence_marker(line)) {
            (None, marker) => fence = marker,
            (Some(open), Some(close)) if close.starts_with(open) => fence = None,
            _ => {}
        }
        let line = if fence.is_none() { line.trim_end() } else { line };
        if fence.is_none() && line.is_empty() && blank {
            continue;
        }
        blank = line.is_empty();
        push_line(&mut output, line);
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_statements_go_and_code_stays() {
        let page = "import { Tabs } from 'nextra/components';\nimport Chart, {\n  Axis,\n} from '../chart'\n\nexport const meta = {\n  draft: false,\n};\n\n# Streaming\n\nimport statements are described below.\n\n```ts\nimport { x } from 'y';\n\n\n<Tag />\n```\n";
        assert_eq!(
            to_markdown(page),
            "# Streaming\n\nimport statements are described below.\n\n```ts\nimport { x } from 'y';\n\n\n<Tag />\n```\n"
        );
    }

    #[test]
    fn components_leave_their_text_without_its_indentation() {
        let page = "<Tabs items={['npm', 'yarn']}>\n  <Tab>\n    Run it with `<Tab>`:\n\n    ```sh\n    npm  start\n    ```\n    <Snippet text=\"npm install ai\" dark />\n  </Tab>\n</Tabs>\n\n{/* hidden */}\nUse <Link href=\"/x\">the page</Link>{' '}if a < b, see <https://example.test/a>.\n";
        assert_eq!(
            to_markdown(page),
            "Run it with `<Tab>`:\n\n```sh\nnpm  start\n```\n`npm install ai`\n\nUse the page if a < b, see <https://example.test/a>.\n"
        );
    }

    #[test]
    fn tables_of_properties_become_lists() {
        let page = "### Parameters\n\n<PropertiesTable\n  content={[\n    {\n      name: 'model',\n      type: 'LanguageModel',\n      description:\n        \"The model. Example: openai('gpt')\",\n    },\n    { name: 'onFinish', isOptional: true, type: '(result) => void' },\n  ]}\n/>\n\n| a | <Check size={18} /> |\n";
        assert_eq!(
            to_markdown(page),
            "### Parameters\n\n- `model` (`LanguageModel`): The model. Example: openai('gpt')\n- `onFinish` (`(result) => void`)\n\n| a | Check |\n"
        );
    }

    #[test]
    fn an_unclosed_tag_is_text() {
        assert_eq!(to_markdown("Compare x <y and\nmore"), "Compare x <y and\nmore\n");
    }
}
