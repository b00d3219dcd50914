//! Queries that are derived from documents: what each kind is, and that they are not trivial, their texts are hidden, and nothing else
//! is.

mod laws;

use docsearch_core::evaluation::derived::{Derivation, DerivationLimits, DerivedKind, SourcePage, derive};
use docsearch_core::index::question::Question;

fn page(slug: &str, title: &str, body: &str) -> SourcePage {
    SourcePage {
        slug: slug.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        ..SourcePage::default()
    }
}

fn derived(pages: &[SourcePage]) -> Derivation {
    derive(pages, Some("https://kiln.test/docs/"), &DerivationLimits::default())
}

fn of_kind(derivation: &Derivation, kind: DerivedKind) -> Vec<(&str, String)> {
    let queries = derivation.queries.iter().filter(|query| query.kind == kind);
    queries
        .map(|query| {
            let anchor = if query.anchor.is_empty() {
                String::new()
            } else {
                format!("#{}", query.anchor)
            };
            (query.text.as_str(), format!("{}{anchor}", query.slug))
        })
        .collect()
}

#[test]
fn a_heading_is_hidden_and_names_its_section() {
    let body =
        "Intro.\n\n## 2.1. Open a cold kiln ##\n\nWait.\n\nGlaze the pot\n-------------\n\nSlowly.\n\n## Kiln\n\nText.";
    let found = derived(&[page("kiln", "Kiln", body)]);
    assert_eq!(
        of_kind(&found, DerivedKind::Heading),
        [
            ("Glaze the pot", "kiln#glaze-the-pot".to_owned()),
            ("Open a cold kiln", "kiln#21-open-a-cold-kiln".to_owned())
        ]
    );
    assert_eq!(
        found.pages[0].body,
        "Intro.\n\n##\n\nWait.\n\n##\n\nSlowly.\n\n## Kiln\n\nText."
    );
    assert_eq!(
        found
            .queries
            .iter()
            .find(|query| query.text == "Glaze the pot")
            .unwrap()
            .hidden_anchor,
        "-2"
    );
}

#[test]
fn questions_are_headings_and_stored_ones() {
    let mut asking = page(
        "firing",
        "Firing",
        "Text.\n\n## Why do pots crack?\n\nWater.\n\n## ¿Por qué se rompe la olla?\n\nAgua.\n\n## 鍋はなぜ割れますか？\n\n水。",
    );
    asking.questions = vec![Question {
        anchor: "why-do-pots-crack".to_owned(),
        question: "how to dry clay before firing".to_owned(),
    }];
    let found = derived(&[asking]);
    let expected = [
        ("Why do pots crack?", "firing#why-do-pots-crack"),
        ("how to dry clay before firing", "firing#why-do-pots-crack"),
    ];
    let questions = of_kind(&found, DerivedKind::Question);
    for (text, reference) in expected {
        assert!(
            found.queries.len() > 1 && questions.contains(&(text, reference.to_owned())),
            "{questions:?}"
        );
    }
    assert!(found.pages[0].questions.is_empty());
}

#[test]
fn links_lead_to_pages_in_every_spelling() {
    for (slug, target, anchor) in [
        ("guides/firing", "../reference/shelf.html#plates", "plates"),
        ("guides/firing", "/reference/shelf", ""),
        ("guides/firing", "reference/shelf#plates", "plates"),
        ("guides", "reference/shelf.md", ""),
        ("reference/firing", "shelf", ""),
        ("reference/firing", "./shelf.md#Plates", "plates"),
        ("reference/firing", "../shelf/", ""),
        ("a/b/c", "https://kiln.test/docs/reference/shelf#plates", "plates"),
    ] {
        let body = format!("See [how pots are held up]({target}) and [more](x).");
        let pages = [
            page(slug, "Firing", &body),
            page("reference/shelf", "Shelf", "A thing.\n\n## Plates\n\nText."),
        ];
        let found = derived(&pages);
        let reference = match anchor {
            "" => "reference/shelf".to_owned(),
            _ => format!("reference/shelf#{anchor}"),
        };
        assert_eq!(
            of_kind(&found, DerivedKind::Link),
            [("how pots are held up", reference)],
            "{target}"
        );
        assert_eq!(found.pages[0].body, "See … and [more](x).");
    }
    let elsewhere = page(
        "a",
        "A",
        "[how pots are held up](https://other.test/reference/shelf) [and their glaze](#x)",
    );
    let shelf = page("reference/shelf", "Shelf", "A thing.");
    assert!(of_kind(&derived(&[elsewhere, shelf]), DerivedKind::Link).is_empty());
}

#[test]
fn examples_are_described_before_code() {
    let body = "# kilnctl\n\nPots are good. To cool the kiln slowly:\n\n```\ncool\n```\n\n- Fire many small pots\n  at once:\n  `fire --all`\n\n\
                - Weigh wet clay twice:\n\n`weigh`\n\nNo code follows these words:\n\ntext.\n";
    let found = derived(&[page("kilnctl", "kilnctl", body)]);
    assert_eq!(of_kind(&found, DerivedKind::Example).len(), 2);
    let limits = DerivationLimits {
        of_page: 9,
        of_kind_and_page: 9,
        ..DerivationLimits::default()
    };
    let found = derive(&[page("kilnctl", "kilnctl", body)], None, &limits);
    let texts: Vec<&str> = of_kind(&found, DerivedKind::Example)
        .iter()
        .map(|(text, _)| *text)
        .collect();
    assert_eq!(
        texts,
        [
            "Fire many small pots at once",
            "To cool the kiln slowly",
            "Weigh wet clay twice"
        ]
    );
    let tasks: Vec<&str> = of_kind(&found, DerivedKind::SymbolTask)
        .iter()
        .map(|(text, _)| *text)
        .collect();
    assert_eq!(
        tasks,
        [
            "kilnctl Fire many small pots at once",
            "kilnctl To cool the kiln slowly",
            "kilnctl Weigh wet clay twice"
        ]
    );
    assert_eq!(
        found.pages[0].body,
        "# kilnctl\n\nPots are good. …\n\n```\ncool\n```\n\n- …\n  `fire --all`\n\n- …\n\n`weigh`\n\nNo code follows these words:\n\ntext.\n"
    );
}

#[test]
fn keywords_of_several_words_are_queries() {
    let mut glaze = page("glaze", "Glaze", "Text.");
    glaze.keywords = [
        "glaze",
        "quartz",
        "slow cooling rate",
        "rotate-kiln",
        "窯の冷却",
        "glaze Glaze",
    ]
    .map(str::to_owned)
    .to_vec();
    let found = derived(std::slice::from_ref(&glaze));
    let texts: Vec<&str> = of_kind(&found, DerivedKind::Keyword)
        .iter()
        .map(|(text, _)| *text)
        .collect();
    assert_eq!(texts, ["slow cooling rate", "窯の冷却"]);
    assert_eq!(
        found.pages[0].keywords,
        ["glaze", "quartz", "rotate-kiln", "glaze Glaze"]
    );
    glaze.keywords = ["slow cooling rate", "fire at dawn"].map(str::to_owned).to_vec();
    assert_eq!(of_kind(&derived(&[glaze]), DerivedKind::Keyword).len(), 1);
}

#[test]
fn titles_and_summaries_are_queries_of_some_pages() {
    let pages: Vec<SourcePage> = (0..40)
        .map(|number| {
            let title = format!("cool{number} — Cool house{number} without door{number}");
            let body = format!("{title}\n\nA tool{number} for potters{number}. It needs ash{number}, water{number}, wood{number} and time{number}.");
            page(&format!("tools/cool-{number}"), &title, &body)
        })
        .collect();
    let found = derived(&pages);
    let titles = of_kind(&found, DerivedKind::Title);
    let summaries = of_kind(&found, DerivedKind::Summary);
    assert!(titles.len() > 5 && summaries.len() > 10, "{titles:?} {summaries:?}");
    assert!(titles.iter().all(|(text, _)| text.starts_with("Cool house")));
    for (page, hidden) in pages.iter().zip(&found.pages).filter(|(_, hidden)| hidden.is_renamed) {
        assert!(hidden.body.starts_with("…\n\nA tool"), "{} {}", page.title, hidden.body);
    }
    let tools = [
        page("fetch_weather", "fetch_weather", "Text."),
        page("a", "heat-all-kilns", "Text."),
    ];
    let titles: Vec<String> = (0..20)
        .flat_map(|number| {
            let tools = tools.clone().map(|tool| SourcePage {
                slug: format!("{}{number}", tool.slug),
                ..tool
            });
            let found = derived(&tools);
            of_kind(&found, DerivedKind::Title)
                .into_iter()
                .map(|(text, _)| text.to_owned())
                .collect::<Vec<String>>()
        })
        .collect();
    let distinct: std::collections::BTreeSet<&str> = titles.iter().map(String::as_str).collect();
    assert_eq!(
        distinct.into_iter().collect::<Vec<&str>>(),
        ["fetch weather", "heat all kilns"]
    );
}

#[test]
fn a_page_without_its_summary_keeps_what_else_it_says() {
    let target = page("glaze", "Glaze", "## Own glaze\n\nMixed from powder.");
    let links = "Read how potters mix colours with [ashes of burnt apple trees](glaze).\n";
    let of_pages = |body: &str| {
        let summaries = (0..40).filter_map(|number| {
            let own = SourcePage {
                summary: Some("Everything about red colours".to_owned()),
                ..page(&format!("page-{number}"), &format!("Reds{number}"), body)
            };
            let found = derived(&[own, target.clone()]);
            let has = |kind| !of_kind(&found, kind).is_empty();
            has(DerivedKind::Summary).then(|| has(DerivedKind::Link))
        });
        let with_links: Vec<bool> = summaries.collect();
        assert!(with_links.len() > 10);
        with_links
    };
    let rest = "A red glaze needs copper, little air, patience, and a hot kiln.";
    assert!(
        of_pages(&format!("{links}\n{rest}"))
            .into_iter()
            .all(|has_link| has_link)
    );
    assert!(
        of_pages("[ashes of burnt apple trees from orchards](glaze)")
            .into_iter()
            .all(|has_link| !has_link)
    );
}

#[test]
fn names_are_titles_that_one_page_has() {
    let pages = [
        page("a", "fire(kiln:)", ""),
        page("b", "Cool Down", ""),
        page("c", "cool-down", ""),
        page("d", "FAQ: a long story", ""),
    ];
    let found = derived(&pages);
    let names = of_kind(&found, DerivedKind::Name);
    assert_eq!(names, [("FAQ", "d".to_owned()), ("fire", "a".to_owned())]);
}

#[test]
fn what_is_said_of_two_pages_is_no_query() {
    let heading = "Text.\n\n## Cool the kiln slowly\n\nMore.";
    let pages = [page("a", "A", heading), page("b", "B", heading)];
    assert!(
        derived(&pages)
            .queries
            .iter()
            .all(|query| query.kind == DerivedKind::Name)
    );
    let pages = [
        page("a", "A", heading),
        page("b", "B", "One has to cool the kiln slowly."),
    ];
    assert!(
        derived(&pages)
            .queries
            .iter()
            .all(|query| query.kind == DerivedKind::Name)
    );
    // A link to the section is hidden with its heading.
    let pages = [page("a", "A", heading), page("b", "B", "- [Cool the kiln slowly](a#x)")];
    let found = derived(&pages);
    assert_eq!(of_kind(&found, DerivedKind::Heading).len(), 1);
    assert_eq!(found.pages[1].body, "- …");
}

#[test]
fn grouped_pages_keep_their_headings() {
    let mut grouped = page("a", "A", "# Cool the kiln slowly\n\nText.");
    grouped.is_grouped = true;
    let found = derived(&[grouped.clone()]);
    assert!(of_kind(&found, DerivedKind::Heading).is_empty());
    assert_eq!(found.pages[0].body, grouped.body);
}
