//! Which part of a page is its text.

use super::draft;

fn page(content: &str) -> String {
    format!(
        "<head><title>Sails | Kit</title></head><body><nav><a href='/'>Home</a></nav>{content}<footer>© Kit</footer></body>"
    )
}

#[test]
fn a_container_beside_the_text_is_not_the_page() {
    for (open, close) in [
        ("<main>", "</main>"),
        ("<div role=main>", "</div>"),
        ("", ""),
        ("<div class=page>", "</div>"),
    ] {
        for note in [
            "<article><h3>Ask</h3><p>A note.</p></article>",
            "<div class=cards><article class=card><p>A note.</p></article></div>",
            "<div class=box><div class=content><p>A note.</p></div></div>",
            "<div class='tab markdown-body'><p>A note.</p></div>",
            "<section id=content><p>A note.</p></section>",
        ] {
            let text = format!(
                "{open}<h1>Sails</h1><p>Repaired in winter.</p>{note}<h2>Cloth</h2><p>Comes from the mill.</p>{close}"
            );
            let draft = draft(&page(&text));
            assert_eq!(draft.matter.title.as_deref(), Some("Sails"), "{text}");
            let expected = [
                "# Sails\n\nRepaired in winter.",
                "A note.",
                "## Cloth\n\nComes from the mill.\n",
            ];
            for part in expected {
                assert!(draft.body.contains(part), "{text}\n->\n{}", draft.body);
            }
            assert!(
                !draft.body.contains("Home") && !draft.body.contains('©'),
                "{}",
                draft.body
            );
        }
    }
}

#[test]
fn one_part_of_several_is_not_the_page() {
    let text = "<main><p>Either way it runs.</p><article><h2>By package</h2><p>Install the package of the kit.</p></article>\
                <section><h2>From source</h2><p>Compile it yourself, which takes a while.</p></section></main>";
    let body = draft(&page(text)).body;
    assert!(body.starts_with("Either way it runs.\n\n## By package"), "{body}");
    assert!(body.ends_with("which takes a while.\n"), "{body}");
}

#[test]
fn the_title_may_stand_before_the_container() {
    let text = "<div id=header><h1>Sails</h1><p>By Ann.</p></div><div id=content><p>Repaired in winter.</p></div>";
    assert_eq!(
        draft(&page(text)).body,
        "# Sails {#header}\n\nBy Ann.\n\nRepaired in winter.\n"
    );
    // The title of the site is not that of the page.
    let text = "<div><h1>Kit</h1></div><main><h2>Sails</h2><p>Repaired in winter, when no ferry needs them.</p></main>";
    assert_eq!(
        draft(&page(text)).body,
        "## Sails\n\nRepaired in winter, when no ferry needs them.\n"
    );
    let text = "<div><h1><a href='/'>Kit</a></h1></div><main><p>Repaired in winter.</p></main>";
    assert_eq!(draft(&page(text)).body, "Repaired in winter.\n");
}

#[test]
fn one_of_two_main_texts_is_not_the_page() {
    let text = "<main><h1>Sails</h1><p>Repaired in winter.</p></main><div><div role=main><p>By Ann.</p></div></div>";
    assert_eq!(draft(&page(text)).body, "# Sails\n\nRepaired in winter.\n\nBy Ann.\n");
}

#[test]
fn the_class_of_a_page_may_be_its_subject() {
    for class in ["pagination", "feedback", "breadcrumbs", "footer", "sidebar"] {
        for name in ["main", "article"] {
            let text = format!("<{name} class={class}><h1>Sails</h1><p>Repaired in winter.</p></{name}>");
            assert_eq!(draft(&page(&text)).body, "# Sails\n\nRepaired in winter.\n", "{text}");
        }
    }
    let text = "<main><h1>Sails</h1><table class=related><tr><th>Modules</th></tr><tr><td>core</td></tr></table>\
                <p>Since <span class=since>Kit 2</span>.</p><p class=permalink>A link that stays.</p></main>";
    assert_eq!(
        draft(&page(text)).body,
        "# Sails\n\n\n| Modules |\n| ------- |\n| core |\n\nSince Kit 2.\n\nA link that stays.\n"
    );
}

#[test]
fn a_heading_that_is_a_link_is_text() {
    for link in [
        "class=toc-backref role=doc-backlink",
        "class=permalink",
        "class=tooltip",
        "class=heading-anchor",
    ] {
        let text =
            format!("<main><h1>Sails</h1><h2 id=x><a {link} href='#id1'>Cloth</a></h2><p>From the mill.</p></main>");
        assert_eq!(
            draft(&page(&text)).body,
            "# Sails\n\n## Cloth {#x}\n\nFrom the mill.\n",
            "{link}"
        );
    }
}

#[test]
fn contents_of_a_chapter_are_text_and_those_of_the_page_are_not() {
    let prose = "<p>The library keeps every record of the shop, in the order in which it was written.</p>".repeat(4);
    let page = |links: &str| {
        let text = format!("<main><h1>Records</h1><div class=toc><dl>{links}</dl></div>{prose}</main>");
        super::read_page(std::path::Path::new("guide/records.html"), &text)
            .unwrap()
            .body
    };
    let chapter = page("<dt><a href=reading.html>Reading</a></dt><dt><a href=writing.html#fast>Writing</a></dt>");
    assert!(
        chapter.contains("[Reading](reading.html)") && chapter.contains("Writing"),
        "{chapter}"
    );
    let own = page("<dt><a href='#reading'>Reading</a></dt><dt><a href=records.html#writing>Writing</a></dt>");
    assert!(
        own.starts_with("# Records\n\nThe library") && !own.contains("Writing"),
        "{own}"
    );
}

#[test]
fn what_only_leads_elsewhere_is_beside_the_text() {
    let links: String = (0..30)
        .map(|number| format!("<a href={number}.html>Chapter number {number}</a>"))
        .collect();
    let text = format!(
        "<div class=left>{links}</div><main><div class=right>{links}</div><article><h1>Sails</h1><p>Repaired in winter, when no ferry \
         leaves and all who sail them are at home.</p></article><p>Page 1</p></main>"
    );
    let expected = "# Sails\n\nRepaired in winter, when no ferry leaves and all who sail them are at home.\n";
    assert_eq!(draft(&page(&text)).body, expected);
}

#[test]
fn a_section_that_is_named_like_a_menu_is_text() {
    for name in ["toc", "sidebar", "menu", "navigation", "footer"] {
        for text in [
            format!("<section id={name}><h2>Rows</h2><p>What they show.</p></section>"),
            format!("<h2 id={name}>Rows</h2><p>What they show.</p>"),
        ] {
            let body = draft(&page(&format!("<h1>Sails</h1><p>Repaired.</p>{text}"))).body;
            assert!(
                body.contains("## Rows {#") && body.contains("What they show."),
                "{name}: {body}"
            );
        }
    }
    let toc = "<h1>Sails</h1><div id=toc><h2>Contents</h2><ul><li><a href=a.html>First chapter</a></ul></div><p>Repaired.</p>";
    assert_eq!(draft(&page(toc)).body, "# Sails\n\nRepaired.\n");
}

#[test]
fn headers_and_footers_of_sections_are_text() {
    let body = draft(&page(
        "<div id=main><h1>Class: Ferry</h1><section><header><h2>Ferry(places)</h2><div>Carries people.</div></header>\
         <article><h3 id=new>new Ferry(places)</h3></article></section>\
         <section id=two><header><h2>Second part</h2><p>A standfirst.</p></header><p>Rails.</p><footer>By Ann.</footer></section>\
         <article><header><p>Of three.</p></header><blockquote><p>They are gone.</p><footer>A poet</footer></blockquote></article>\
         <section><p>End.</p><footer><a href=next.html>Next</a></footer></section></div>",
    ))
    .body;
    assert_eq!(
        body,
        "# Class: Ferry\n\n## Ferry(places)\n\nCarries people.\n\n### new Ferry(places) {#new}\n\n## Second part {#two}\n\n\
         A standfirst.\n\nRails.\n\nBy Ann.\n\nOf three.\n\n> They are gone.\n> \n> A poet\n\nEnd.\n"
    );
}

#[test]
fn roles_of_the_page_within_a_section_are_text() {
    let text = "<div role=banner>Kit</div><main><h1>Sails</h1><section><div role=banner><h2>Cloth</h2></div><p>Grey.</p>\
                <div role=contentinfo>By Ann.</div></section><div role=tabpanel aria-hidden=true>Red.</div></main>";
    assert_eq!(
        draft(&page(text)).body,
        "# Sails\n\n## Cloth\n\nGrey.\n\nBy Ann.\n\nRed.\n"
    );
}

#[test]
fn the_header_of_the_page_is_before_its_first_heading() {
    let body = draft(
        "<body><header><a href='/'>Kit</a> <span>1.0</span></header><h1>Sails</h1><div><header><span>Of cloth.</span></header>\
         <footer>By Ann.</footer></div><h2>Cloth</h2><p>From the mill.</p><footer><p>© Kit</p></footer></body>",
    )
    .body;
    assert_eq!(body, "# Sails\n\nOf cloth.\n\nBy Ann.\n\n## Cloth\n\nFrom the mill.\n");
}
