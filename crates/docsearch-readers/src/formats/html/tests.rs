//! Pages in the form that generators write.

mod conservation;
mod containers;
mod doxygen;
mod pieces;
mod tables;

use super::*;

fn read_page(path: &Path, html: &str) -> Result<Draft, Unreadable> {
    read(path, html, None, &Frame::default())
}

fn draft(html: &str) -> Draft {
    let mut draft = read_page(Path::new("guide/page.html"), html).unwrap();
    draft.body = crate::text::target::take(&draft.body).0;
    draft
}

#[test]
fn sphinx() {
    let page = draft(
        r##"<!DOCTYPE html><html><head><meta charset="utf-8"><title>kit.json — JSON — Kit 1.0 documentation</title>
        <meta name="description" content="Kit documentation, the best there is anywhere">
        <link rel="canonical" href="https://docs.kit.test/json.html"></head>
        <body><div class="related" role="navigation"><h3>Navigation</h3><ul><li><a href="genindex.html">index</a></li></ul></div>
        <div class="document"><div class="body" role="main"><section id="module-kit.json"><span id="json"></span>
        <h1><code class="docutils literal"><span class="pre">kit.json</span></code> — JSON<a class="headerlink" href="#module-kit.json" title="Permalink">¶</a></h1>
        <p>Reads <a class="reference internal" href="#kit.json.load" title="kit.json.load"><code class="xref py"><span class="pre">load()</span></code></a>.</p>
        <div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span><span class="gp">&gt;&gt;&gt; </span><span class="kn">import</span> kit

<span class="n">x</span></pre></div></div>
        <div class="admonition note"><p class="admonition-title">Note</p><p>Beware.</p></div>
        <dl class="py class"><dt class="sig sig-object py" id="kit.json.Reader"><em class="property"><span class="pre">class</span> </em><span class="sig-prename descclassname"><span class="pre">kit.json.</span></span><span class="sig-name descname"><span class="pre">Reader</span></span><span class="sig-paren">(</span><em class="sig-param"><span class="n">fp</span></em><span class="sig-paren">)</span><a class="reference internal" href="_modules/kit.html"><span class="viewcode-link">[source]</span></a><a class="headerlink" href="#kit.json.Reader">¶</a></dt>
        <dd><p>Reads a file.</p><dl class="field-list simple"><dt class="field-odd">Parameters</dt><dd class="field-odd"><p><strong>fp</strong> – a file</p></dd></dl>
        <dl class="py method"><dt class="sig sig-object py" id="kit.json.Reader.next"><span class="sig-name descname"><span class="pre">next</span></span><span class="sig-paren">(</span><span class="sig-paren">)</span></dt><dd><p>The next value.</p></dd></dl></dd></dl>
        </section></div></div><div class="sphinxsidebar">side</div><div class="footer">© Kit</div></body></html>"##,
    );
    assert_eq!(page.matter.title.as_deref(), Some("kit.json — JSON"));
    assert_eq!(page.matter.summary, None);
    assert_eq!(page.matter.source_urls, ["https://docs.kit.test/json.html"]);
    assert_eq!(
        page.body,
        "# `kit.json` — JSON {#module-kit.json}\n\nReads `load()`.\n\n```python\n>>> import kit\n\nx\n```\n\n**Note**\n\nBeware.\n\n\
         ## `kit.json.Reader` {#kit.json.Reader}\n\n`class kit.json.Reader(fp)`\n\nReads a file.\n\n**Parameters**\n\n**fp** – a file\n\n\
         ### `kit.json.Reader.next` {#kit.json.Reader.next}\n\n`next()`\n\nThe next value.\n"
    );
}

#[test]
fn mdbook() {
    let page = draft(
        r##"<html><head><title>Hello World - The Kit Book</title></head><body><div id="body-container">
        <nav id="sidebar" class="sidebar"><ol class="chapter"><li>1. Hello</li></ol></nav>
        <div id="page-wrapper"><div class="page"><div id="menu-bar"><h1 class="menu-title">The Kit Book</h1></div>
        <div id="content" class="content"><main><h2 id="hello-world"><a class="header" href="#hello-world">Hello World</a></h2>
        <p>Text</p><pre><pre class="playground"><code class="language-rust edition2021"><span class="boring">fn main() {
</span>let x = 1;
<span class="boring">}</span></code></pre></pre></main>
        <nav class="nav-wrapper"><a rel="next" href="b.html">Next</a></nav></div></div></div></div>
        <script src="book.js"></script></body></html>"##,
    );
    assert_eq!(page.matter.title.as_deref(), Some("Hello World"));
    assert_eq!(
        page.body,
        "## Hello World {#hello-world}\n\nText\n\n```rust\nlet x = 1;\n```\n"
    );
}

#[test]
fn docusaurus() {
    let page = draft(
        r##"<html><head><title data-rh="true">Install | Kit</title><meta data-rh="true" name="description" content="Install the kit with npm or yarn."></head>
        <body><nav class="navbar">Kit</nav><main><article><nav class="theme-doc-breadcrumbs"><ul><li>Docs</li></ul></nav>
        <div class="theme-doc-toc-mobile">On this page</div>
        <div class="theme-doc-markdown markdown"><header><h1>Install</h1></header><p>Install the kit with npm:</p>
        <div class="tabs-container"><ul role="tablist"><li role="tab">npm</li><li role="tab">Yarn</li></ul>
        <div role="tabpanel"><div class="language-bash codeBlockContainer"><pre tabindex="0"><code class="codeBlockLines"><span class="token-line"><span>npm i kit</span><br></span><span class="token-line"><span>npm start</span><br></span></code></pre><div class="buttonGroup"><button>Copy</button></div></div></div>
        <div role="tabpanel" hidden><p>Use yarn.</p></div></div>
        <h2 class="anchor anchorWithStickyNavbar" id="next">Next<a href="#next" class="hash-link" aria-label="Direct link">&#8203;</a></h2><p>Go on.</p></div>
        <footer class="theme-doc-footer"><a href="https://github.test/edit">Edit this page</a></footer></article></main></body></html>"##,
    );
    assert_eq!(page.matter.title.as_deref(), Some("Install"));
    assert_eq!(
        page.matter.summary.as_deref(),
        Some("Install the kit with npm or yarn.")
    );
    assert!(page.body.starts_with("# Install\n\nInstall the kit with npm:\n"));
    assert!(
        page.body
            .contains("```bash\nnpm i kit\nnpm start\n```\n\nUse yarn.\n\n## Next {#next}\n\nGo on.\n"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("Edit this page") && !page.body.contains("Copy"));
}

#[test]
fn mkdocs_material() {
    let page = draft(
        r##"<html><head><title>Setup - Kit</title></head><body><header class="md-header">Kit</header><main class="md-main">
        <div class="md-sidebar"><nav>Nav</nav></div><div class="md-content"><article class="md-content__inner md-typeset">
        <a href="https://edit.test" class="md-content__button md-icon" title="Edit this page">edit</a>
        <h1 id="setup">Setup<a class="headerlink" href="#setup" title="Permanent link">&para;</a></h1>
        <table><thead><tr><th>Key</th><th>Meaning</th></tr></thead><tbody><tr><td><code>a|b</code></td><td>First<br>second</td></tr><tr><td colspan="2">Both</td></tr></tbody></table>
        <div class="language-yaml highlight"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1</pre></div></td><td class="code"><div><pre><span></span><code>site: kit
</code></pre></div></td></tr></table></div>
        <dl><dt>Term</dt><dd>Its meaning.</dd></dl></article></div></main></body></html>"##,
    );
    assert_eq!(page.matter.title.as_deref(), Some("Setup"));
    assert!(
        page.body
            .contains("| Key | Meaning |\n| --- | ------- |\n| `a\\|b` | First"),
        "{}",
        page.body
    );
    assert!(page.body.contains("| Both |  |"), "{}", page.body);
    assert!(page.body.contains("```yaml\nsite: kit\n```\n"), "{}", page.body);
    assert!(page.body.ends_with("**Term**\n\nIts meaning.\n"), "{}", page.body);
    assert!(!page.body.contains("edit"));
}

#[test]
fn docbook() {
    let page = draft(
        r##"<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8" /><title>20.4. Memory</title></head>
        <body id="docContent"><div class="navheader"><table><tr><th>20.4</th></tr></table><hr /></div>
        <div class="sect1" id="CONFIG"><div class="titlepage"><div><div><h2 class="title">20.4. Memory</h2></div></div></div><a id="id-1" class="indexterm"></a>
        <div class="variablelist"><dl class="variablelist"><dt id="GUC-WORK-MEM"><span class="term"><code class="varname">work_mem</code> (<code>integer</code>)<a class="id_link" href="#GUC-WORK-MEM">#</a></span></dt><dd><p>Sets it.</p>
        <pre class="programlisting">
SET work_mem = '1MB';
</pre><div class="note"><h3 class="title">Note</h3><p>Careful.</p></div></dd></dl></div></div><div class="navfooter">Prev Next</div></body></html>"##,
    );
    assert_eq!(page.matter.title.as_deref(), Some("20.4. Memory"));
    assert_eq!(
        page.body,
        "## 20.4. Memory {#CONFIG}\n\n### `work_mem` (`integer`) {#GUC-WORK-MEM}\n\nSets it.\n\n```\nSET work_mem = '1MB';\n```\n\n**Note**\n\nCareful.\n"
    );
}

#[test]
fn rustdoc_and_javadoc() {
    let page = draft(
        r##"<body class="rustdoc struct"><nav class="sidebar">x</nav><main><section id="main-content" class="content"><h1>Struct <a href="#">Kit</a><button id="copy-path">Copy</button></h1>
        <details open><summary class="hideme"><span>Expand description</span></summary><div class="docblock"><p>A kit.</p></div></details>
        <section id="method.new" class="method"><span class="rightside"><span class="since">1.0.0</span> · <a class="src" href="s.html">source</a></span><a href="#method.new" class="anchor">§</a><h4 class="code-header">pub fn <a class="fn" href="#method.new">new</a>() -&gt; Self</h4></section>
        </section></main></body>"##,
    );
    assert_eq!(
        page.body,
        "# Struct Kit\n\nA kit.\n\n#### `pub fn new() -> Self` {#method.new}\n"
    );

    let page = draft(
        r##"<main role="main"><h1 class="title">Class Kit</h1><ul class="summary-list"><li><section class="method-summary" id="method-summary"><h2>Method Summary</h2>
        <div class="summary-table three-column-summary"><div class="table-header col-first">Type</div><div class="table-header col-last">Method</div>
        <div class="col-first"><code>void</code></div><div class="col-last"><code><a href="#run()">run</a>(int&nbsp;a,
 int&nbsp;b)</code><div class="block">Runs.</div></div></div></section></li><li>Last</li></ul></main>"##,
    );
    assert!(
        page.body.contains("## Method Summary {#method-summary}\n\n"),
        "{}",
        page.body
    );
    assert!(
        page.body
            .contains("| Type | Method |\n| ---- | ------ |\n| `void` | `run(int a, int b)`"),
        "{}",
        page.body
    );
}

#[test]
fn a_page_without_any_mark_is_cut_to_its_text() {
    let prose = "<p>The library keeps every record of the shop, in the order in which it was written, and reads it back on demand.</p>".repeat(12);
    let page = draft(&format!(
        "<html><head><title>Records</title></head><body><div class=links><a href=a>Home</a> <a href=b>Download</a> <a href=c>Support</a></div><div><h2>Records</h2>{prose}</div></body></html>"
    ));
    assert!(page.body.contains("keeps every record"));
    assert!(!page.body.contains("Download"), "{}", page.body);
}

#[test]
fn the_first_of_several_sections_is_not_the_title() {
    let title = |html: &str| draft(html).matter.title;
    let page = "<title>SELECT</title><main><h1>1. Overview</h1><p>x</p></main>";
    assert_eq!(title(page).as_deref(), Some("SELECT"));
    let page = "<title>Kit</title><main><h1>One</h1><h1>Two</h1><p>x</p></main>";
    assert_eq!(title(page).as_deref(), Some("Kit"));
    let page = "<title>1. Overview - Kit</title><main><h1>1. Overview</h1></main>";
    assert_eq!(title(page).as_deref(), Some("1. Overview"));
}

#[test]
fn lists_and_quotations_in_each_other_do_not_swell_the_text() {
    for (tag, item) in [
        ("ul><li", "<li>x"),
        ("ol><li", "<li>x"),
        ("menu><li", "<li>x"),
        ("dl><dd", "<dd>x"),
        ("blockquote", "<p>x"),
        ("blockquote><ul><li", "<br>x"),
    ] {
        let opened = format!("<{tag}>").repeat(500);
        let page = format!("<main><h1>Start</h1>{opened}{}", item.repeat(20_000));
        let draft = read_page(Path::new("bomb.html"), &page).expect("a page");
        let growth = draft.body.len() / page.len();
        assert!(growth < 16, "{tag}: {growth} times as long");
        assert!(draft.body.matches('x').count() >= 20_000, "{tag}: words are lost");
    }
    let nested = "<main><ul><li>one<ul><li>two<ul><li>three</ul></ul></ul></main>";
    let body = read_page(Path::new("list.html"), nested).expect("a page").body;
    assert!(
        body.lines()
            .any(|line| line.starts_with("        ") && line.ends_with("three")),
        "{body}"
    );
}

#[test]
fn nesting_bombs_and_empty_pages() {
    for tag in [
        "div",
        "ul><li",
        "blockquote",
        "table><tr><td",
        "dl><dd",
        "em",
        "a href=x><b",
    ] {
        let bomb = format!("<main><h1>Start</h1><{}deep", format!("{tag}><").repeat(50_000));
        // Cut or refused, but never a crash.
        read_page(Path::new("bomb.html"), &bomb).ok();
    }
    assert!(matches!(
        read_page(Path::new("empty.html"), "<main></main>"),
        Err(Unreadable::NoDocumentation("empty page"))
    ));
}

#[test]
fn links_to_elements_lead_to_their_sections() {
    let page = "<main><h1>Kit</h1><p>a</p><h2 id=b>B</h2><p id=old>x</p><table><tr id=row><td>y</td></tr></table><pre><span id=l1>code</span></pre><a name=tail></a></main>";
    let body = read_page(Path::new("a.html"), page).unwrap().body;
    let (body, anchors) = crate::text::target::take(&body);
    assert!(body.contains("```\ncode\n```"), "{body}");
    let names: Vec<(&str, &str)> = anchors.iter().map(|(name, anchor)| (&**name, &**anchor)).collect();
    assert_eq!(names, [("l1", "b"), ("old", "b"), ("row", "b"), ("tail", "b")]);
}

#[test]
fn names_of_one_option_are_one_heading() {
    let page = read_page(
        Path::new("kiln.html"),
        "<main><h1>kiln</h1><dl><dt id=w><code>-w</code></dt><dt id=warm>--warm=<em>n</em></dt><dd><p>Warms it.</p></dd>\
         <dt id=a>alpha</dt><dt id=b>beta</dt><dd>Two words.</dd><dt id=d>--dry</dt><dd>Dries.</dd><dt id=x>-x</dt></dl>\
         <dl><dt> -L &lt;first&gt; </dt><dt> --lines &lt;first&gt; to &lt;last&gt; </dt><dd>Some.</dd></dl></main>",
    )
    .unwrap();
    let (body, anchors) = crate::text::target::take(&page.body);
    assert_eq!(
        body,
        "# kiln\n\n## `-w`, --warm=*n* {#w}\n\nWarms it.\n\n## alpha {#a}\n\n**beta**\n\nTwo words.\n\n## --dry {#d}\n\n\
         Dries.\n\n## -x {#x}\n\n## -L \\<first>, --lines \\<first> to \\<last>\n\nSome.\n"
    );
    let names: Vec<(&str, &str)> = anchors.iter().map(|(name, anchor)| (&**name, &**anchor)).collect();
    assert_eq!(names, [("b", "a"), ("warm", "w")]);
}

#[test]
fn terms_that_are_questions_become_headings() {
    let page = draft(
        "<main><h1>FAQ</h1><dl><dt>Why is it <em>so</em> cold?</dt><dd>It is not lit.</dd><dt>Cold</dt><dd>Not lit.</dd></dl></main>",
    );
    assert_eq!(
        page.body,
        "# FAQ\n\n## Why is it *so* cold?\n\nIt is not lit.\n\n**Cold**\n\nNot lit.\n"
    );
}

#[test]
fn what_a_page_says_of_itself_is_more_than_its_title() {
    let page = draft(
        "<head><title>Reading files</title><meta name=description content='Reading Files.'><meta name=keywords content='reading files, stream'></head><main><h1>Reading files</h1><p>With <tt>open</tt>.</p><dl><dt><code>mode</code></dt><dd>How.</dd></dl></main>",
    );
    assert_eq!(page.matter.summary, None);
    assert_eq!(page.matter.keywords, ["stream"]);
    assert_eq!(page.body, "# Reading files\n\nWith `open`.\n\n## `mode`\n\nHow.\n");
}

proptest::proptest! {
    /// Code in lists, definitions, boxes and the spans of a highlighter.
    #[test]
    fn the_code_of_a_page_is_the_code_of_the_document(
        parts in proptest::collection::vec((0usize..5, "[!-~][ -~]{0,12}(\n[ -~]{0,12}){0,3}\n?[!-~]"), 1..5)
    ) {
        let mut page = "<h1>Kiln</h1>".to_owned();
        let mut expected = Vec::new();
        for (kind, code) in parts {
            let text = code.replace('&', "&amp;").replace('<', "&lt;");
            let spans = text.replace("\n", "</span>\n<span class=w>");
            page += &match kind {
                0 => format!("<pre><code>{text}</code></pre>"),
                1 => format!("<ul><li><p>An item</p><pre>{text}</pre></li></ul>"),
                2 => format!("<dl><dt>a word</dt><dd><p>Means:</p><pre>{text}</pre></dd></dl>"),
                3 => format!("<div class=highlight><pre><span></span><span>{spans}</span>\n</pre></div>"),
                _ => format!("<blockquote><div class=note><p>Note</p><pre><code class=language-c>{text}\n</code></pre></div></blockquote>"),
            };
            page += "<p>Between.</p>";
            expected.push(code + "\n");
        }
        let markdown = draft(&format!("<main>{page}</main>")).body;
        proptest::prop_assert_eq!(crate::formats::markdown::tests::code_blocks(&markdown), expected, "{}\n->\n{}", page, markdown);
    }
}
