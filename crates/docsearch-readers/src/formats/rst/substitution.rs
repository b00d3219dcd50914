//! Definitions of substitutions.

/// The name and the replacement that `.. |name| replace:: text` and similar directives define; `following` are the
/// indented lines below.
pub(super) fn definition<'a>(markup: &'a str, following: impl Iterator<Item = &'a str>) -> Option<(&'a str, String)> {
    let (name, directive) = markup.strip_prefix('|')?.split_once('|')?;
    let (kind, argument) = directive.trim_start().split_once("::")?;
    let lines: Vec<&str> = std::iter::once(argument.trim())
        .chain(following.map(str::trim))
        .collect();
    let text = match kind {
        "replace" => lines.join(" ").trim().to_owned(),
        "unicode" => {
            let codes = argument.split(" .. ").next().unwrap_or_default();
            codes.split_whitespace().map(character).collect()
        }
        "image" => {
            let text = lines.iter().find_map(|line| line.strip_prefix(":alt:"));
            text.unwrap_or(name).trim().to_owned()
        }
        _ => return None,
    };
    Some((name, text))
}

/// A character by its code, such as `U+00A9`, `0xA9` or `169`; other text is kept.
fn character(code: &str) -> String {
    const PREFIXES: [&str; 7] = ["0x", "x", "\\x", "U+", "u", "\\u", "&#x"];
    let hexadecimal = PREFIXES.iter().find_map(|prefix| code.strip_prefix(prefix));
    let number = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits.trim_end_matches(';'), 16),
        None => code.parse(),
    };
    let known = number.ok().and_then(char::from_u32);
    known.map_or_else(|| code.to_owned(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_give_text() {
        for (markup, following, expected) in [
            ("|kit| replace:: Harbour", vec!["   Kit"], Some(("kit", "Harbour Kit"))),
            ("|c| unicode:: U+00A9 .. copyright", vec![], Some(("c", "©"))),
            ("|tm| unicode:: 0x2122", vec![], Some(("tm", "™"))),
            ("|b| unicode:: BogusMegaCorp", vec![], Some(("b", "BogusMegaCorp"))),
            (
                "|logo| image:: logo.png",
                vec!["   :alt: A kiln"],
                Some(("logo", "A kiln")),
            ),
            ("|logo| image:: logo.png", vec![], Some(("logo", "logo"))),
            ("|day| date:: %Y", vec![], None),
            ("text", vec![], None),
        ] {
            let found = definition(markup, following.into_iter());
            assert_eq!(
                found.as_ref().map(|(name, text)| (*name, &**text)),
                expected,
                "{markup}"
            );
        }
    }
}
