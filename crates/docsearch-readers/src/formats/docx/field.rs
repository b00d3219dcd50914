//! Fields: instructions whose results Word stores beside them.

use crate::bytes::xml::Element;

/// The fields that are open, from the outermost to the innermost.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Field>);

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    /// Whether its result is being read.
    is_result: bool,
    /// The text of a field without a stored result.
    form: Option<String>,
    address: Option<String>,
}

impl Fields {
    pub(super) fn begin(&mut self, start: &Element) {
        self.0.push(Field {
            form: start.child("ffData").and_then(form_text),
            ..Field::default()
        });
    }

    pub(super) fn instruct(&mut self, text: &str) {
        if let Some(field) = self.0.last_mut().filter(|field| !field.is_result) {
            field.instruction.push_str(text);
        }
    }

    pub(super) fn separate(&mut self) {
        if let Some(field) = self.0.last_mut() {
            field.is_result = true;
            field.address = target(&field.instruction);
        }
    }

    /// Ends a field; returns the text that Word makes from its instruction.
    pub(super) fn end(&mut self) -> Option<String> {
        let field = self.0.pop()?;
        field
            .form
            .or_else(|| (!field.is_result).then(|| made(&field.instruction))?)
    }

    /// Whether text is part of the instruction of an outer field.
    pub(super) fn hide_text(&self) -> bool {
        self.0.iter().rev().skip(1).any(|field| !field.is_result)
    }

    /// The target of the innermost link.
    pub(super) fn address(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|field| field.address.as_deref())
    }
}

/// The choice in a form: a box, or the entry of a list.
fn form_text(form: &Element) -> Option<String> {
    let value = |parent: &Element, name: &str| parent.child(name)?.attribute("val").map(str::to_owned);
    if let Some(check) = form.child("checkBox") {
        let state = check.child("checked").or_else(|| check.child("default"));
        let is_checked = state.is_some_and(|state| !matches!(state.attribute("val"), Some("0" | "false" | "off")));
        return Some(if is_checked { "☒" } else { "☐" }.to_owned());
    }
    let list = form.child("ddList")?;
    let chosen = value(list, "result").or_else(|| value(list, "default"));
    let at: usize = chosen.and_then(|at| at.parse().ok()).unwrap_or(0);
    let entry = list.elements().filter(|entry| entry.name == "listEntry").nth(at)?;
    entry.attribute("val").map(str::to_owned)
}

/// The text that an instruction contains: `MACROBUTTON Name text`.
fn made(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("MACROBUTTON")?.trim_start();
    let (_, text) = rest.split_once(char::is_whitespace)?;
    Some(text.trim().to_owned())
}

/// The target of a link: `HYPERLINK "address" \l "bookmark"`, each of which may be missing.
pub(super) fn target(instruction: &str) -> Option<String> {
    let mut rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let (mut address, mut bookmark) = (None, None);
    while let Some((word, after)) = word(rest) {
        rest = after;
        match word {
            "\\l" => (bookmark, rest) = self::word(rest).map_or((None, ""), |(name, after)| (Some(name), after)),
            // These have an argument: the frame, the coordinates and the tip of the link.
            "\\t" | "\\o" => rest = self::word(rest).map_or("", |(_, after)| after),
            word if word.starts_with('\\') && word.len() == 2 => {}
            word => address = address.or(Some(word)),
        }
    }
    let anchor = bookmark.map(|name| format!("#{name}")).unwrap_or_default();
    let target = format!("{}{anchor}", address.unwrap_or_default());
    (!target.is_empty()).then_some(target)
}

/// The first word, which may be in quotation marks, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        return Some(quoted.split_once('"').unwrap_or((quoted, "")));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_an_address_a_bookmark_or_both() {
        let of = |instruction| target(instruction);
        assert_eq!(
            of(" HYPERLINK \"https://a.test/x\" ").as_deref(),
            Some("https://a.test/x")
        );
        assert_eq!(of("HYPERLINK \\l \"start\" \\h").as_deref(), Some("#start"));
        assert_eq!(
            of("HYPERLINK https://a.test \\o \"tip\" \\l part").as_deref(),
            Some("https://a.test#part")
        );
        assert_eq!(of("HYPERLINK \"a b"), Some("a b".to_owned()));
        assert_eq!(of("HYPERLINK"), None);
        assert_eq!(of("PAGEREF x"), None);
    }
}
