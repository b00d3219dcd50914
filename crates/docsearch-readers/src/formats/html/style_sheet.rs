//! What the style sheets in a page say of code.

use dom_query::Document;

use super::is_selector;
use super::vocabulary::Vocabulary;

/// Maximum rules of a page that count.
const MAX_RULES: usize = 20;

/// Gives elements that a style sheet of the page shows with their white space that style of their own.
pub(super) fn apply(page: &Document, vocabulary: &Vocabulary) {
    let sheets: String = page
        .select("style")
        .iter()
        .map(|sheet| sheet.text().to_string())
        .collect();
    if !sheets.contains("white-space") {
        return;
    }
    let sheets = without_comments(&sheets.to_lowercase());
    for selector in code_selectors(&sheets).take(MAX_RULES) {
        if !is_selector(selector) || !vocabulary.may_match(selector) {
            continue;
        }
        for node in page.select(selector).nodes() {
            let own = node.attr("style").unwrap_or_default();
            if !own.contains("white-space") {
                node.set_attr("style", &format!("{own};white-space:pre"));
            }
        }
    }
}

fn without_comments(sheet: &str) -> String {
    let mut text = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    text + rest
}

/// The selectors of rules that keep white space. Rules within `@media` and the like count, too.
fn code_selectors(sheet: &str) -> impl Iterator<Item = &str> {
    let rules = sheet.split('}').filter_map(|rule| rule.rsplit_once('{'));
    let of_code = rules.filter(|(_, declarations)| keeps_space(declarations));
    of_code.flat_map(|(names, _)| {
        let names = names.rsplit(['{', ';']).next().unwrap_or_default();
        names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.contains([':', '@']))
    })
}

/// `pre-wrap` is for inline code, too, unless that is a block.
fn keeps_space(declarations: &str) -> bool {
    let has = |name: &str, value: &str| {
        let mut all = declarations
            .split(';')
            .filter_map(|declaration| declaration.split_once(':'));
        all.any(|(own, given)| own.trim() == name && given.trim().trim_end_matches("!important").trim_end() == value)
    };
    has("white-space", "pre") || has("white-space", "pre-wrap") && has("display", "block")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_keep_white_space_count() {
        let sheet = "p{color:red}.a, div .b:hover{white-space:pre}@media print{.c{display:block;white-space:pre-wrap !important}}\
                     @charset 'x';.d{white-space:pre-wrap}.e{white-space: nowrap}code{white-space: pre;}.f{white-space:pre";
        assert_eq!(code_selectors(sheet).collect::<Vec<_>>(), [".a", ".c", "code", ".f"]);
        assert_eq!(without_comments("a/* b{} */c/* d"), "ac");
    }

    #[test]
    fn a_style_of_its_own_wins() {
        let page = Document::from(
            "<style>.a{white-space:pre}</style><i class=a></i><i class=a style='white-space:normal'></i><i></i>",
        );
        apply(&page, &Vocabulary::of(&page));
        let styles: Vec<Option<String>> = page
            .select("i")
            .iter()
            .map(|node| node.attr("style").map(|style| style.to_string()))
            .collect();
        assert_eq!(
            styles,
            [
                Some(";white-space:pre".to_owned()),
                Some("white-space:normal".to_owned()),
                None
            ]
        );
    }
}
