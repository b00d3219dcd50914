//! Parts of a line of the source: its comment, its arguments, and the blocks that it opens.

/// The number of blocks that the text opens, less those that it closes.
pub(super) fn braces(text: &str) -> isize {
    text.matches("\\{").count() as isize - text.matches("\\}").count() as isize
}

/// The line without the end of the block that was entered.
pub(super) fn without_brace(line: &str) -> String {
    match line.contains("\\}") {
        true => line.replace("\\}", "").trim_end().to_owned(),
        false => line.to_owned(),
    }
}

pub(super) fn without_comment(text: &str) -> String {
    let mut from = 0;
    while let Some(at) = text[from..].find("\\\"").map(|at| from + at) {
        let backslashes = text[..at].len() - text[..at].trim_end_matches('\\').len();
        if backslashes.is_multiple_of(2) {
            return text[..at].to_owned();
        }
        from = at + 2;
    }
    text.to_owned()
}

/// Splits a line into words; quotation marks enclose words with spaces, and `""` in them is one.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut characters = text.chars().peekable();
    loop {
        while characters
            .next_if(|character| matches!(character, ' ' | '\t'))
            .is_some()
        {}
        if characters.peek().is_none() {
            return arguments;
        }
        let mut argument = String::new();
        let is_quoted = characters.next_if_eq(&'"').is_some();
        while let Some(character) = characters.next() {
            match character {
                '"' if is_quoted => {
                    if characters.next_if_eq(&'"').is_none() {
                        break;
                    }
                    argument.push('"');
                }
                ' ' | '\t' if !is_quoted => break,
                '\\' => {
                    argument.push('\\');
                    let escape = characters.next();
                    argument.extend(escape);
                    // The name of a character may have spaces: `\[e aa]`.
                    while escape == Some('[') && characters.peek().is_some_and(|next| *next != ']') {
                        argument.extend(characters.next());
                    }
                }
                other => argument.push(other),
            }
        }
        arguments.push(argument);
    }
}
