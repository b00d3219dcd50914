use proptest::prelude::*;

use docsearch_core::documents::markdown::{plain_text, sections};

use super::*;

fn html(markdown: &str) -> String {
    let sections = sections(markdown).into_iter().filter(|section| section.level > 0);
    let context = Context {
        anchors: sections.map(|section| section.anchor).collect(),
        aliases: BTreeMap::from([("two", vec!["old", "a\"b"])]),
        link: &|link| (link != "gone").then(|| link.to_owned()),
        image: &|link| Some(format!("https://kit.test/{link}")),
    };
    to_html(markdown, &context)
}

#[test]
fn markdown_is_shown_as_html() {
    for (markdown, expected) in [
        (
            "a *b* **c** `d`  \ne",
            "<p dir=\"auto\">a <em>b</em> <strong>c</strong> <code>d</code><br>e</p>",
        ),
        (
            "3. a\n4. b",
            "<ol start=\"3\"><li dir=\"auto\">a</li><li dir=\"auto\">b</li></ol>",
        ),
        (
            "```rust ignore\nx < y\n```",
            "<pre tabindex=\"0\"><code class=\"language-rust\">x &lt; y\n</code></pre>\n",
        ),
        (
            "[a](b \"t\") [](c/d.md) [g](gone)",
            "<p dir=\"auto\"><a href=\"b\" rel=\"noopener noreferrer\">a</a> \
          <a href=\"c/d.md\" rel=\"noopener noreferrer\">c/d.md</a> <a rel=\"noopener noreferrer\">g</a></p>",
        ),
        (
            "![a](i.png) ![](j.png?x)",
            "<p dir=\"auto\"><a class=\"image\" href=\"https://kit.test/i.png\" rel=\"noopener noreferrer\">a</a> \
          <a class=\"image\" href=\"https://kit.test/j.png?x\" rel=\"noopener noreferrer\">j.png</a></p>",
        ),
        (
            "# Two",
            "<h1 id=\"two\" dir=\"auto\"><span id=\"old\"></span><span id=\"a&quot;b\"></span>Two \
          <a class=\"anchor\" href=\"#two\" aria-label=\"Link to this section\" rel=\"noopener noreferrer\">#</a></h1>\n",
        ),
        (
            "| a |\n|---|\n| b |",
            "<table tabindex=\"0\"><thead><tr><th dir=\"auto\">a</th></tr></thead>\
          <tbody><tr><td dir=\"auto\">b</td></tr></tbody></table>",
        ),
    ] {
        assert_eq!(html(markdown), expected, "{markdown}");
    }
}

/// A tag of the output: its name and its attributes.
fn tags(html: &str) -> Vec<(String, Vec<String>)> {
    let tags = html
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .map(|(tag, _)| tag);
    tags.filter(|tag| !tag.starts_with('/'))
        .map(|tag| {
            let mut parts = tag.split('"').step_by(2).flat_map(str::split_whitespace);
            let name = parts.next().unwrap_or_default().to_owned();
            (
                name,
                parts
                    .map(|attribute| attribute.trim_end_matches('=').to_owned())
                    .collect(),
            )
        })
        .collect()
}

/// Pieces of attacks, which are joined in any order.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "</?(script|style|svg|math|iframe|img|a|p|div|table|td|textarea|title|noscript|template|select|x-y|b|details)[ />]",
        "(onerror|onclick|href|src|style|srcdoc|id|name|xlink:href|class|formaction)[ ]?=[ ]?[\"'`]?",
        "(javascript:|data:text/html,|vbscript:|//evil.test|&#106;avascript:|java\tscript:)",
        "([\"'<>`\n]|\n\n|\\]\\(|!?\\[|<!--|-->|<!\\[CDATA\\[|\\]\\]>|&lt;|&#x3c;|\\\\|\\{#|\\}|# |> |- |```|\\||\\|-\\|)",
        "[a-z]{1,4}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn nothing_in_the_output_runs_or_loads(markdown in hostile()) {
        let shown = html(&markdown);
        for (name, attributes) in tags(&shown) {
            prop_assert!(ELEMENTS.contains(&name.as_str()), "{name} in {shown}");
            for attribute in attributes {
                let known = ["href", "id", "dir", "tabindex", "rel", "class", "start", "aria-label"];
                prop_assert!(known.contains(&attribute.as_str()), "{attribute} in {shown}");
            }
        }
        let tags = shown.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag);
        let addresses = tags.flat_map(|tag| tag.split(" href=\"").skip(1)).filter_map(|rest| rest.split('"').next());
        for address in addresses {
            let compact: String = address.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
            let scheme = compact.split_once(':').map(|(scheme, _)| scheme.to_lowercase());
            let is_scheme = |scheme: &String| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
            let scheme = scheme.filter(is_scheme);
            prop_assert!(scheme.is_none_or(|scheme| ["http", "https", "mailto"].contains(&scheme.as_str())), "{address}");
        }
    }

    #[test]
    fn no_word_is_lost(markdown in "([a-z]{1,5}[ \n]|[#>*_`|-]|\n\n|</?(b|p|div|table|td|x-y|T|pre|li)>|\\[|\\]\\(a\\)){0,40}") {
        let shown = html(&markdown);
        let text: String = shown.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
        let letters = |text: &str| text.replace("&lt;", "").replace("&gt;", "").chars().filter(|c| c.is_alphabetic()).collect::<String>();
        for word in plain_text(&markdown).split(|c: char| !c.is_alphabetic()) {
            prop_assert!(letters(&text).contains(word), "{word} of {markdown:?} in {shown:?}");
        }
    }
}
