//! Code blocks: their language, and their text without the markup of a highlighter.

use dom_query::{NodeRef, Selection};

use super::{escape, preformatted};

/// Elements around a block that may name its language.
const MAX_WRAPPERS: usize = 6;
const PREFIXES: [&str; 4] = ["language-", "lang-", "highlight-source-", "highlight-"];
/// Names that highlighters use for plain text.
const NO_LANGUAGE: [&str; 8] = [
    "default",
    "none",
    "text",
    "plaintext",
    "plain",
    "txt",
    "notranslate",
    "nohighlight",
];

/// Normalises each block to `<pre><code class="language-x">`, which the serializer expects.
pub(super) fn normalise(main: &NodeRef<'_>) {
    let main = Selection::from(*main);
    for pre in main.select("pre").nodes() {
        // mdBook wraps runnable blocks in a second one.
        if pre.descendants_it().any(|inner| inner.has_name("pre")) {
            pre.rename("div");
            continue;
        }
        let language = language(pre);
        let text = if pre.has_attr(preformatted::LINES) {
            preformatted::lines(pre)
        } else {
            end_lines(pre);
            pre.text().to_string()
        };
        let code = text.trim_matches('\n').trim_end();
        if code.is_empty() {
            pre.remove_from_parent();
            continue;
        }
        let class = language.map(|language| format!(" class=\"language-{}\"", escape(&language)));
        // The parser drops the first line feed in a block.
        pre.set_html(format!("<code{}>{}</code>", class.unwrap_or_default(), escape(code)));
    }
    // Line feeds of inline code are white space, and would make it a block.
    for code in main.select("code").nodes() {
        let text = code.text();
        let is_inline = !code.ancestors_it(Some(1)).any(|outer| outer.has_name("pre"));
        if is_inline && text.contains('\n') {
            code.set_text(super::collapse(&text));
        }
    }
}

/// Replaces line breaks and line elements by line feeds.
fn end_lines(pre: &NodeRef<'_>) {
    let inner: Vec<NodeRef<'_>> = pre.descendants_it().collect();
    // A break at the end of a line ends it already.
    for node in inner.iter().filter(|node| node.has_name("br")) {
        node.append_html("\n");
        node.rename("span");
    }
    for node in inner {
        let is_line = ["div", "li", "p", "tr"].iter().any(|name| node.has_name(name));
        let is_marked =
            || preformatted::is_line(&node) && !node.next_sibling().is_some_and(|next| next.text().starts_with('\n'));
        if (is_line || is_marked()) && !node.text().ends_with('\n') {
            node.append_html("\n");
        }
    }
}

fn language(pre: &NodeRef<'_>) -> Option<String> {
    let inner = pre.children_it(false).find(|child| child.has_name("code"));
    let around = pre.ancestors(Some(MAX_WRAPPERS));
    let named = inner
        .into_iter()
        .chain([*pre])
        .chain(around)
        .find_map(|node| named_by(&node))?;
    let plain = NO_LANGUAGE.contains(&named.as_str());
    (!plain).then(|| match named.as_str() {
        "python3" | "ipython3" | "ipython" => "python".to_owned(),
        _ => named,
    })
}

fn named_by(node: &NodeRef<'_>) -> Option<String> {
    for name in ["data-lang", "data-language"] {
        if let Some(language) = node.attr(name) {
            node.remove_attr(name);
            return word(&language);
        }
    }
    let class = node.class()?;
    let mut classes = class.split_whitespace();
    let is_block = node.has_name("pre") || node.has_name("code");
    let by_prefix = classes.clone().find_map(|class| {
        // Around a block, `lang-en` is the language of the page.
        let mut prefixes = PREFIXES.iter().filter(|prefix| is_block || **prefix != "lang-");
        prefixes.find_map(|prefix| class.strip_prefix(prefix))
    });
    match by_prefix {
        Some(language) => word(language),
        None if node.has_name("pre") && classes.any(|class| class == "rust") => Some("rust".to_owned()),
        None => None,
    }
}

fn word(language: &str) -> Option<String> {
    let end = language.find(|character: char| !(character.is_alphanumeric() || "+-_#.".contains(character)));
    let word = language[..end.unwrap_or(language.len())].to_lowercase();
    (!word.is_empty()).then_some(word)
}
