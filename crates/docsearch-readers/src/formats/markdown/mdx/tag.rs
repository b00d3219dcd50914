//! Tags of components and of HTML.

#[derive(Debug)]
pub(super) struct Tag<'a> {
    /// Bytes from `<` to `>`.
    pub(super) length: usize,
    pub(super) name: &'a str,
    pub(super) attributes: &'a str,
    pub(super) closing: bool,
    pub(super) self_closing: bool,
}

impl Tag<'_> {
    /// Its id, as a link target.
    pub(super) fn target(&self) -> Option<String> {
        let names: &[&str] = if self.name == "a" { &["id", "name"] } else { &["id"] };
        let id = names.iter().find_map(|name| attribute(self.attributes, name))?;
        let valid = |c: char| !c.is_whitespace() && !c.is_control() && !"<>\"'{}`".contains(c);
        (!id.is_empty() && id.chars().all(valid)).then(|| format!("<a id=\"{id}\"></a>"))
    }
}

/// The value of `name="value"`.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    loop {
        let at = rest.find(name)?;
        let is_word = rest[..at].ends_with(char::is_whitespace);
        let value = &rest[at + name.len()..];
        if let (true, Some(value)) = (is_word, value.trim_start().strip_prefix('=')) {
            let value = value.trim_start().trim_start_matches('{');
            let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
            return value[1..].split_once(quote).map(|(value, _)| value);
        }
        rest = value;
    }
}

/// The tag that `text` opens with; `None` for a less-than sign or an autolink.
pub(super) fn tag(text: &str) -> Option<Tag<'_>> {
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

/// Offset of the `>` that ends the tag, after strings and braces.
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
