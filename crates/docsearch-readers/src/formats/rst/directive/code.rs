//! Directives that show code.

use super::Directive;
use crate::formats::rst::block::PageReader;
use crate::formats::rst::inline;
use crate::formats::rst::line::fence;

/// Maximum lines that decide whether a text is code.
const MAX_EXAMINED: usize = 40;

/// A block of code below its caption.
pub(super) fn block(reader: &PageReader, directive: &Directive, language: &str) -> Vec<String> {
    let language = match language {
        "text" | "none" | "default" => "",
        language => language,
    };
    let mut blocks = caption(reader, directive);
    let is_replaced = directive.options.iter().any(|(name, _)| name == "substitutions");
    let replaced: Vec<String>;
    let lines = match (directive.content.is_empty(), is_replaced) {
        (true, _) => &directive.arguments,
        (false, true) => {
            let lines = directive.content.iter();
            replaced = lines
                .map(|line| inline::substituted(line, &reader.references))
                .collect();
            &replaced
        }
        (false, false) => &directive.content,
    };
    if !lines.is_empty() {
        blocks.push(fence(language, lines));
    }
    blocks
}

/// The argument of these directives is the language, not code.
pub(super) fn block_in_argument(reader: &PageReader, directive: &Directive) -> Vec<String> {
    match directive.content.is_empty() {
        true => caption(reader, directive),
        false => block(reader, directive, &directive.argument()),
    }
}

/// `.. code-tab:: c Title`.
pub(super) fn tab(reader: &PageReader, directive: &Directive) -> Vec<String> {
    let argument = directive.argument();
    let (language, title) = argument.split_once(' ').unwrap_or((&argument, &argument));
    let mut blocks = vec![format!("**{}**", reader.inline(title))];
    blocks.extend(block(reader, directive, language));
    blocks
}

pub(super) fn math(directive: &Directive) -> Vec<String> {
    let parts = [&directive.arguments, &directive.content];
    let parts: Vec<String> = parts
        .iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines.join("\n"))
        .collect();
    match parts.is_empty() {
        true => Vec::new(),
        false => vec![fence("math", &[parts.join("\n\n")])],
    }
}

/// Code with markup in it, which is removed.
pub(super) fn parsed_literal(reader: &PageReader, directive: &Directive) -> Vec<String> {
    let lines = [&directive.arguments[..], &directive.content].concat();
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![fence("", &[inline::plain(&lines.join("\n"), &reader.references)])],
    }
}

fn caption(reader: &PageReader, directive: &Directive) -> Vec<String> {
    let caption = directive.option("caption").filter(|caption| !caption.is_empty());
    caption
        .map(|caption| format!("**{}**", reader.inline(caption)))
        .into_iter()
        .collect()
}

/// Whether the text of an unknown directive is code: at least half of its lines are, and none has markup. Its beginning
/// decides: directives may be nested deeply.
pub(crate) fn is_code<T: AsRef<str>>(lines: &[T]) -> bool {
    let lines = lines.iter().map(|line| line.as_ref().trim());
    let lines = lines.filter(|line| !line.is_empty()).take(MAX_EXAMINED);
    let (mut code, mut others) = (0, 0);
    for line in lines {
        if crate::formats::rst::evidence(line) > 0 || is_list_item(line) {
            return false;
        }
        match is_code_line(line) {
            true => code += 1,
            false => others += 1,
        }
    }
    code > 0 && code >= others
}

fn is_list_item(line: &str) -> bool {
    ["* ", "- ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Whether a line is a statement, a command or data rather than a sentence.
fn is_code_line(line: &str) -> bool {
    const STARTS: [&str; 15] = [
        ">>>", "...", "$ ", "% ", "# ", "//", "@", "import ", "from ", "def ", "class ", "return ", "#include", "In [",
        "<",
    ];
    let ends_as_sentence = line.ends_with(['.', '!', '?']) && line.contains(' ');
    let has_assignment = line.contains(['=', '-'])
        && [" = ", " := ", " => ", " -> ", " <- ", " += ", " == "]
            .iter()
            .any(|sign| line.contains(sign));
    let is_call = line.ends_with(')') && line.find('(').is_some_and(|at| at > 0 && !line[..at].contains(' '));
    STARTS.iter().any(|start| line.starts_with(start))
        || line.ends_with([';', '{', '}', '[', ']', '\\'])
        || !ends_as_sentence && (has_assignment || is_call)
}

#[cfg(test)]
mod tests {
    #[test]
    fn code_of_unknown_directives_is_recognised() {
        let is_code = |text: &str| super::is_code(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        for code in [
            "import kit\nkit.fire()",
            "x = 1\nx",
            "@command()\ndef fire(hot):\n    '''Fire it.'''\n    print(hot)",
            "$ kit fire",
            "int main() {\n  return 0;\n}",
            "{\"a\": [\n1\n]}",
        ] {
            assert!(is_code(code), "{code}");
        }
        for text in [
            "Fire the kiln.",
            "Fire (slowly) the kiln, as in\nfire(); it takes long.\nThen wait.",
            "* a = b\n* c = d",
            "See :func:`kit.fire`\nx = 1",
            "",
        ] {
            assert!(!is_code(text), "{text}");
        }
    }
}
