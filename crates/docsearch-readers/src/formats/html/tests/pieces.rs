//! Elements that are text although no Markdown has them, and code that is in no `pre`.

use super::draft;

fn body(content: &str) -> String {
    draft(&format!("<main><h1>Kit</h1>{content}</main>")).body
}

fn after_title(content: &str) -> String {
    let body = body(content);
    body.strip_prefix("# Kit\n\n")
        .unwrap_or(&body)
        .trim_matches('\n')
        .to_owned()
}

#[test]
fn words_of_neighbours_stay_apart() {
    for (html, expected) in [
        (
            "<details><summary>One</summary><details><summary>Two</summary><p>Deep.</p></details></details>",
            "One\n\nTwo\n\nDeep.",
        ),
        (
            "<fieldset><legend>Size</legend><label>Name</label><label>Colour</label></fieldset>",
            "Size\n\nName Colour",
        ),
        (
            "<p>Choose <select><option>small<option>large</select></p>",
            "Choose small, large",
        ),
        (
            "<figure><img alt=Plan src=p.png><figcaption>The plan</figcaption></figure>Text",
            "![Plan](p.png)\n\nThe plan\n\nText",
        ),
        (
            "<hgroup><h2>Part</h2><p>A subtitle</p></hgroup>",
            "## Part\n\nA subtitle",
        ),
        (
            "<a href=x.html><div>Install</div><div>in a minute</div></a>",
            "[Install in a minute](x.html)",
        ),
        (
            "<a href=x.html><h3>Install</h3><p>In a minute.</p></a>",
            "### Install\n\nIn a minute.",
        ),
        ("<a href=a>one</a><a href=b>two</a>", "[one](a) [two](b)"),
        ("<b><p>One.</p><p>Two.</p></b>", "One.\n\nTwo."),
        ("<h2 id=x>Ferry<br>to <div>Orkney</div></h2>", "## Ferry to Orkney {#x}"),
        (
            "<my-note>Beware.</my-note><my-note>Of gulls.</my-note>",
            "Beware.\n\nOf gulls.",
        ),
        ("Of<my-mark>one</my-mark><my-mark>kind</my-mark>.", "Of one kind."),
        (
            "<ruby>漢<rt>kan</rt>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>",
            "漢(kan)字(ji)",
        ),
        ("<p>Use <my-code>x</my-code>.</p>", "Use x."),
        ("<dl><dt>a</dt></dl><menu><li>b</li></menu>", "**a**\n\n- b"),
        (
            "<h2>Accordion</h2><h3><button>Why?</button></h3><p>Because.</p>",
            "## Accordion\n\n### Why?\n\nBecause.",
        ),
        (
            "<p>Press <button>Save</button> to go on.</p><div><button>Copy</button></div>",
            "Press Save to go on.",
        ),
        (
            "<div role=heading aria-level=3>Wind</div><p>Blows.</p>",
            "### Wind\n\nBlows.",
        ),
        (
            "<ul><li>a</li>beside <b>it</b><li>b</li></ul>",
            "- a\n- beside **it**\n- b",
        ),
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n    - b\n- c"),
        (
            "<p>Rule:<svg><text>CREATE</text><path d=M0 /><text>name</text></svg></p>",
            "Rule: CREATE name",
        ),
        ("<dialog open><p>Sure?</p></dialog><dialog>No.</dialog>", "Sure?"),
    ] {
        assert_eq!(after_title(html), expected, "{html}");
    }
}

#[test]
fn code_is_code_without_an_element_that_says_so() {
    for (html, expected) in [
        (
            "<code style='display: block; white-space: pre'>a {\n  b\n}</code>",
            "```\na {\n  b\n}\n```",
        ),
        (
            "<p>Run:</p><code>cd kit<br>\n&nbsp; make</code>",
            "Run:\n\n```\ncd kit\n  make\n```",
        ),
        ("<samp>one<br>two</samp>", "```\none\ntwo\n```"),
        ("<p>Prints <samp>done</samp>.</p>", "Prints `done`."),
        (
            "<div class=sourceCode><code class=language-sh>cd kit\n  make</code></div>",
            "```sh\ncd kit\n  make\n```",
        ),
        ("<listing>if (a)\n  b;</listing>", "```\nif (a)\n  b;\n```"),
        ("<xmp><b>x</b>\n  y</xmp>", "```\n<b>x</b>\n  y\n```"),
        ("<textarea>key: 1\nother: 2</textarea>", "```\nkey: 1\nother: 2\n```"),
        (
            "<div class=highlight><code class=language-c>int a;<br>int b;</code></div>",
            "```c\nint a;\nint b;\n```",
        ),
        (
            "<div class=fragment><div class=line>int a;</div><div class=line>  int b;</div></div>",
            "```\nint a;\n  int b;\n```",
        ),
        (
            "<div class=highlight>let a = 1;\n  let b = [a];</div>",
            "```\nlet a = 1;\n  let b = [a];\n```",
        ),
        ("<div class=highlight>Remember\nto save.</div>", "Remember to save."),
        ("<code><pre>a\n  b</pre></code>", "```\na\n  b\n```"),
        (
            "<pre><code><table><tr><td class=hljs-ln-numbers>1</td><td>a</td></tr><tr><td>b</td></tr></table></code></pre>",
            "```\na\nb\n```",
        ),
        (
            "<div style='white-space:pre; font-family: monospace'>a\n b</div>",
            "```\na\n b\n```",
        ),
        (
            "<p style='white-space: pre-wrap'>Prose of\na letter.</p>",
            "Prose of a letter.",
        ),
        (
            "<code><span class=line>a</span><span class=line>b</span></code>",
            "```\na\nb\n```",
        ),
        (
            "<style>.shell, .x { white-space: pre; }</style><div class=shell>cd kit\n  make</div>",
            "```\ncd kit\n  make\n```",
        ),
        (
            "<p><code class=language-c>int a;\n  int b;</code></p>",
            "```c\nint a;\n  int b;\n```",
        ),
        ("<p><code>\nint a;\n  int b;\n</code></p>", "```\nint a;\n  int b;\n```"),
        (
            "<p><code>Error: [1] Access\nis denied</code></p>",
            "`Error: [1] Access is denied`",
        ),
        ("<p>See <code>int a;\nint b;</code></p>", "See `int a; int b;`"),
        (
            "<p><font face='Courier New'>a = 1;<br>b = 2;</font></p>",
            "```\na = 1;\nb = 2;\n```",
        ),
        (
            "<div><code>cd kit</code><br><code>make</code></div>",
            "```\ncd kit\nmake\n```",
        ),
        ("<p><code>cd</code> or<br><code>make</code></p>", "`cd` or  \n`make`"),
        (
            "<p class=programlisting>int a;<br>\nint b;<br></p>",
            "```\nint a;\nint b;\n```",
        ),
        (
            "<ol class=codeLines><li><code>a();</code></li><li><code>b();</code></li></ol>",
            "```\na();\nb();\n```",
        ),
        (
            "<table class=code><tr><td class=lineno>1</td><td><code>a()</code></td></tr><tr><td class=lineno>2</td><td><code>b()</code></td></tr></table>",
            "```\na()\nb()\n```",
        ),
        (
            "<rh-code-block>a {\n  b: [c]\n}</rh-code-block>",
            "```\na {\n  b: [c]\n}\n```",
        ),
        (
            "<p class=code-of-conduct>Be kind.<br>Be brief.</p>",
            "Be kind.  \nBe brief.",
        ),
        (
            "<table><tr><th>Type</th></tr><tr><td><code>a<br>b</code></td></tr></table>",
            "| Type |\n| ---- |\n| `a`  <br>`b` |",
        ),
    ] {
        assert_eq!(after_title(html), expected, "{html}");
    }
}

#[test]
fn the_id_of_a_section_is_that_of_its_first_heading() {
    for (html, expected) in [
        (
            "<section id=x><p>Guide</p><h2>One</h2><p>a</p><h2>Two</h2></section>",
            "Guide\n\n## One {#x}\n\na\n\n## Two",
        ),
        (
            "<section id=x><div><h2>One</h2></div><p></p><h2>Two</h2></section>",
            "## One {#x}\n\n## Two",
        ),
        (
            "<section id=x>Prose.<p>More.</p><h2>One</h2></section>",
            "Prose.\n\nMore.\n\n## One",
        ),
        ("<div id=x><p>Guide</p><h2>One</h2></div>", "Guide\n\n## One"),
        ("<div id=x>Guide <a></a><h2>One</h2></div>", "Guide\n\n## One"),
    ] {
        let text = after_title(html);
        assert_eq!(crate::text::target::take(&text).0, expected, "{html}");
    }
}

#[test]
fn an_id_is_that_of_the_first_element_that_has_it() {
    let body = body("<h2 id=x>One</h2><p>a</p><h2 id=x>Two</h2><p>b</p><section id=y><h2 id=y>Three</h2></section>");
    assert_eq!(body, "# Kit\n\n## One {#x}\n\na\n\n## Two\n\nb\n\n## Three {#y}\n");
}

#[test]
fn every_id_of_a_heading_is_its_fragment() {
    use docsearch_core::documents::markdown::sections;
    for id in [
        "operation/getUser",
        "add(int,java.lang.Object)",
        "<init>(java.lang.String)",
        "x[y]",
        "$top",
        "with space",
        "tilde~x",
        "~~",
        "plus+x",
        "percent%20x",
        "at@x",
        "semi;x",
        "quote\"x",
        "it's",
        "{braces}",
        "emoji-😀",
        "a|b",
        "back\\slash",
        "a&b&amp;c",
        "!pet",
        "a_b*c_d*",
        "`x`",
        "#",
    ] {
        let escaped = id.replace('&', "&amp;").replace('"', "&quot;");
        let body = body(&format!("<h2 id=\"{escaped}\">Alpha <em>call</em></h2><p>Text.</p>"));
        let section = &sections(&body)[1];
        assert_eq!(section.anchor, id, "{body}");
        assert_eq!(section.heading_path, ["Kit", "Alpha call"]);
    }
}

#[test]
fn lines_of_a_heading_stay_apart_and_parts_of_words_together() {
    for (html, expected) in [
        (
            "<h2><span class='name clip'>Kit</span><span class=text>A kit.</span></h2>",
            "## Kit A kit.",
        ),
        (
            "<h2><a href=x.html><span>Fast boats.</span><span>Red sails</span></a></h2>",
            "## Fast boats. Red sails",
        ),
        (
            "<h2><span style='display: block'>Kit</span><span>Docs</span></h2>",
            "## Kit Docs",
        ),
        (
            "<h2><span><span>For every boat</span><span>Berths</span></span></h2>",
            "## For every boat Berths",
        ),
        ("<h2><span>Open</span><span>Boat</span></h2>", "## OpenBoat"),
        (
            "<h2><span>H</span><span>oist the sails</span></h2>",
            "## Hoist the sails",
        ),
        (
            "<h2><span>kit.</span><span>sail</span><span>(to the sea)</span></h2>",
            "## kit.sail(to the sea)",
        ),
        ("<h2>Un<span>reef the</span><span>sail</span></h2>", "## Unreef thesail"),
    ] {
        assert_eq!(after_title(html), expected, "{html}");
    }
}
