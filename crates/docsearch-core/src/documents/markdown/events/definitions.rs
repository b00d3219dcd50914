//! Link definitions, which apply to the whole document from any position.

use std::collections::HashMap;
use std::rc::Rc;

use pulldown_cmark::{BrokenLink, BrokenLinkCallback, CowStr, Parser};

use crate::values::interrupt::Interruptible;

/// Longest line of a definition, and most bytes of all.
const LINE_BYTES: usize = 4 << 10;
const ALL_BYTES: usize = 1 << 20;
/// Most lines of one definition: label, address and title may each be on a line.
const LINES: usize = 3;

/// Address and title by label, of lines that look like definitions. The first of a label counts.
pub(super) struct Definitions(HashMap<String, (String, String)>);

/// Resolves links of a part whose definition may be in another.
pub(super) struct Lookup(pub(super) Rc<Definitions>);

impl Definitions {
    pub(super) fn of(markdown: &str) -> Self {
        let mut found = HashMap::new();
        let (mut at, mut read) = (0, 0);
        for line in markdown.split_inclusive('\n').interruptible() {
            let start = at;
            at += line.len();
            if !looks_like_one(line) {
                continue;
            }
            let following = markdown[start..].split_inclusive('\n').take(LINES);
            let bytes: usize = following
                .take_while(|line| line.len() <= LINE_BYTES)
                .map(str::len)
                .sum();
            read += bytes;
            if read > ALL_BYTES {
                break;
            }
            let parser = Parser::new(&markdown[start..start + bytes]);
            for (label, definition) in parser.reference_definitions().iter() {
                let title = definition.title.as_deref().unwrap_or_default();
                let defined = || (definition.dest.to_string(), title.to_owned());
                found.entry(key(label)).or_insert_with(defined);
            }
        }
        Self(found)
    }
}

impl<'a> BrokenLinkCallback<'a> for Lookup {
    fn handle_broken_link(&mut self, link: BrokenLink<'a>) -> Option<(CowStr<'a>, CowStr<'a>)> {
        let (address, title) = self.0.0.get(&key(&link.reference))?;
        Some((address.clone().into(), title.clone().into()))
    }
}

/// Whether a line may begin a definition.
pub(super) fn looks_like_one(line: &str) -> bool {
    let inside = line.trim_start_matches(' ');
    line.len() <= LINE_BYTES && line.len() - inside.len() < 4 && inside.starts_with('[') && inside.contains("]:")
}

/// Labels are compared without case and white space.
fn key(label: &str) -> String {
    let words: Vec<&str> = label.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
