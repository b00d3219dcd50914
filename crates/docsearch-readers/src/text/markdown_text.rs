//! Functions that write Markdown, for the readers of other formats.

const MAX_HEADING_LEVEL: usize = 6;

/// `text` escaped for Markdown.
pub(crate) fn escape(text: &str) -> String {
    let mut output = String::with_capacity(text.len() + 8);
    let mut previous = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, next)| *next);
        let rest = &text[at..];
        let is_markup = match character {
            '\\' => next.is_ascii_punctuation(),
            '`' => true,
            '*' => !(previous.is_whitespace() && next.is_whitespace()),
            '_' => {
                let is_inside = previous.is_alphanumeric() && next.is_alphanumeric();
                let is_alone = previous.is_whitespace() && next.is_whitespace();
                !is_inside && !is_alone
            }
            '<' => next.is_ascii_alphabetic() || "/!?".contains(next),
            ']' => "(:".contains(next),
            '&' => begins_with_entity(rest),
            '~' => next == '~',
            _ => false,
        };
        if is_markup {
            output.push('\\');
        }
        output.push(character);
        previous = character;
    }
    output
}

fn begins_with_entity(text: &str) -> bool {
    let name = text[1..].split(';').next().unwrap_or_default();
    let name = name.strip_prefix('#').unwrap_or(name);
    let has_end = text[1..].contains(';');
    has_end && (1..=31).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The paragraph with lines escaped that Markdown would read as the start of a block.
pub(crate) fn paragraph(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            if opens_block(line) {
                escape_opening(line)
            } else {
                line.to_owned()
            }
        })
        .collect();
    lines.join("\n")
}

fn opens_block(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or_default();
    let followed_by_space = |length: usize| line.len() == length || line[length..].starts_with(' ');
    match first {
        b'#' => {
            let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
            hashes <= MAX_HEADING_LEVEL && followed_by_space(hashes)
        }
        b'-' | b'+' | b'*' => {
            followed_by_space(1) || (line.len() >= 3 && line.bytes().all(|byte| byte == first || byte == b' '))
        }
        b'>' => true,
        b'=' => line.bytes().all(|byte| byte == b'='),
        b'~' => line.starts_with("~~~"),
        b'0'..=b'9' => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            digits <= 9 && line[digits..].starts_with(['.', ')']) && followed_by_space(digits + 1)
        }
        _ => false,
    }
}

fn escape_opening(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    format!("{}\\{}", &line[..digits], &line[digits..])
}

/// Inline code, which may contain backticks; white space is collapsed.
pub(crate) fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return text;
    }
    if !text.contains('`') {
        return format!("`{text}`");
    }
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let marker = "`".repeat(longest + 1);
    format!("{marker} {text} {marker}")
}

/// A link with the Markdown `label`, or the URL alone if the label only repeats it.
pub(crate) fn link(label: &str, address: &str) -> String {
    let address: String = address
        .chars()
        .filter(|character| !character.is_control())
        .map(|character| {
            if character == ' ' {
                "%20".to_owned()
            } else {
                character.to_string()
            }
        })
        .collect();
    let is_absolute = address.starts_with("http://") || address.starts_with("https://");
    if label.is_empty() || label == escape(&address) || label == address {
        return match is_absolute && !address.contains(['<', '>']) {
            true => format!("<{address}>"),
            false => escape(&address),
        };
    }
    if address.is_empty() {
        return label.to_owned();
    }
    match address.contains(['(', ')', '<', '>']) {
        true => format!("[{label}](<{}>)", address.replace('<', "%3C").replace('>', "%3E")),
        false => format!("[{label}]({address})"),
    }
}

/// A heading with the id from the source. Levels above the maximum become the maximum.
pub(crate) fn heading(level: usize, text: &str, id: Option<&str>) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let marker = "#".repeat(level.clamp(1, MAX_HEADING_LEVEL));
    match id.filter(|id| is_id(id)) {
        Some(id) => format!("{marker} {text} {{#{id}}}"),
        None => format!("{marker} {text}"),
    }
}

/// Whether the chunker reads `{#id}` as an id.
fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id
            .chars()
            .all(|character| character.is_alphanumeric() || "-_.:=".contains(character))
}

/// Whether a heading one below `level` is possible.
pub(crate) fn has_level_below(level: usize) -> bool {
    level < MAX_HEADING_LEVEL
}

/// `text` with every line but the first indented by `width` spaces.
pub(crate) fn hang(text: &str, width: usize) -> String {
    let indent = " ".repeat(width);
    let mut output = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            output.push('\n');
            if !line.is_empty() {
                output.push_str(&indent);
            }
        }
        output.push_str(line);
    }
    output
}

/// Items of a list in Markdown, each with its marker; blank lines separate them if one has several blocks.
pub(crate) fn list(items: &[String]) -> String {
    let separator = if items.iter().any(|item| item.contains("\n\n")) {
        "\n\n"
    } else {
        "\n"
    };
    items.join(separator)
}

/// A table of Markdown cells; the first row is the header, which may have empty cells.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 {
        return String::new();
    }
    let line = |row: &[String]| {
        let cells: Vec<String> = (0..columns)
            .map(|column| row.get(column).map_or_else(String::new, |cell| cell_text(cell)))
            .collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![line(&rows[0]), format!("| {} |", vec!["---"; columns].join(" | "))];
    lines.extend(rows[1..].iter().map(|row| line(row)));
    lines.join("\n")
}

/// The cell on one line, with its bars escaped.
fn cell_text(cell: &str) -> String {
    let mut output = String::with_capacity(cell.len());
    for (number, word) in cell.split_whitespace().enumerate() {
        if number > 0 {
            output.push(' ');
        }
        output.push_str(word);
    }
    let mut escaped = String::with_capacity(output.len());
    let mut previous = ' ';
    for character in output.chars() {
        if character == '|' && previous != '\\' {
            escaped.push('\\');
        }
        escaped.push(character);
        previous = character;
    }
    escaped
}

/// Blocks as a page, with a line end after the last.
pub(crate) fn page(blocks: &[String]) -> String {
    let mut page = blocks.join("\n\n");
    if !page.is_empty() {
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_markdown_would_take_for_markup_is_escaped() {
        assert_eq!(
            escape("a*b snake_case_name __init__"),
            "a\\*b snake_case_name \\_\\_init\\_\\_"
        );
        assert_eq!(escape("1 * 2 < 3 & x"), "1 * 2 < 3 & x");
        assert_eq!(
            escape("<tag> &copy; `x` C:\\dir \\*"),
            "\\<tag> \\&copy; \\`x\\` C:\\dir \\\\\\*"
        );
        assert_eq!(escape("[a](b) [c]: d [e]"), "[a\\](b) [c\\]: d [e]");
    }

    #[test]
    fn lines_of_a_paragraph_open_no_blocks() {
        assert_eq!(
            paragraph("# a\n- b\n1. c\n  > d\n-x --y\n===\n#tag\n2.5 e"),
            "\\# a\n\\- b\n1\\. c\n\\> d\n-x --y\n\\===\n#tag\n2.5 e"
        );
    }

    #[test]
    fn links_without_text_show_their_url() {
        assert_eq!(link("a", "b c(d)"), "[a](<b%20c(d)>)");
        assert_eq!(link("", "https://a.test/x_y_"), "<https://a.test/x_y_>");
        assert_eq!(link("a", "b.html#c"), "[a](b.html#c)");
    }

    #[test]
    fn tables_are_as_wide_as_their_widest_row() {
        let rows = [vec!["a".to_owned()], vec!["b | c\nd".to_owned(), "`x\\|y`".to_owned()]];
        assert_eq!(table(&rows), "| a |  |\n| --- | --- |\n| b \\| c d | `x\\|y` |");
    }

    #[test]
    fn ids_that_the_chunker_does_not_know_are_left_out() {
        assert_eq!(heading(9, "a  b", Some("page=12")), "###### a b {#page=12}");
        assert_eq!(heading(1, "a", Some("x y")), "# a");
    }
}
