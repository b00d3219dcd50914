use serde_json::json;

use super::*;

fn rules(text: &str) -> Vec<GroupRule> {
    #[derive(Deserialize)]
    struct File {
        groups: Vec<GroupRule>,
    }
    let file: File = toml::from_str(text).unwrap();
    file.groups
}

fn page(path: &str, title: &str) -> Document {
    Document {
        slug: slug::from_path(Path::new(path), None),
        title: title.to_owned(),
        body: format!("# {title}\n\nText of {title}.\n"),
        source_path: Some(path.to_owned()),
        source_urls: vec![format!("https://kit.test/{path}")],
        source_root: "docs".to_owned(),
        ..Document::default()
    }
}

fn names(text: &str, pages: &[Document]) -> Vec<Option<String>> {
    let rules = rules(text);
    let groups = Groups::new(&rules).unwrap();
    pages
        .iter()
        .map(|page| groups.of(page).map(|(group, _)| group.name))
        .collect()
}

#[test]
fn a_rule_names_a_folder_a_key_or_pages() {
    let mut labelled = page("guide/a.md", "A");
    labelled.metadata.insert("group".to_owned(), json!("Basics"));
    let pages = [
        labelled,
        page("menus/button.md", "B"),
        page("menus/deep/c.md", "C"),
        page("d.md", "D"),
    ];
    let found = |text: &str| -> Vec<String> {
        let names = names(text, &pages).into_iter();
        names.map(|name| name.unwrap_or_else(|| "-".to_owned())).collect()
    };
    assert_eq!(found("[[groups]]\nfolder = './menus/'"), ["-", "menus", "menus", "-"]);
    assert_eq!(found("[[groups]]\nfolder = '*'"), ["guide", "menus", "menus", "-"]);
    assert_eq!(found("[[groups]]\nfolder = 'menus/*'"), ["-", "-", "menus/deep", "-"]);
    assert_eq!(found("[[groups]]\nfront_matter = 'group'"), ["Basics", "-", "-", "-"]);
    let listed = "[[groups]]\npages = ['d.md', 'menus/**']\nslug = 'x'\ntitle = 'X'";
    assert_eq!(found(listed), ["-", "", "", ""]);
    assert_eq!(
        found("[[groups]]\nfolder = 'guide'\n[[groups]]\nfolder = '*'"),
        ["guide", "menus", "menus", "-"]
    );
}

#[test]
fn problems_of_a_rule_are_reported() {
    for (text, expected) in [
        ("title = 'x'", "has not one of folder, front_matter and pages"),
        ("folder = 'a'\npages = ['b']", "has not one of"),
        ("pages = ['b']\nslug = 'x'", "needs a slug and a title"),
        ("folder = 'a/*'\ntitle = 'x'", "may make several"),
        ("front_matter = 'group'\nslug = 'x'", "may make several"),
        ("folder = 'a'\nslug = '/'", "the slug of a group is empty"),
        ("folder = 'a['", "error parsing glob"),
    ] {
        let problem = rules(&format!("[[groups]]\n{text}"))[0].check().unwrap_err();
        assert!(
            problem.contains(expected) && problem.contains("HINT:"),
            "{text}: {problem}"
        );
    }
    for text in [
        "folder = 'a'",
        "folder = 'a/*'",
        "front_matter = 'group'",
        "pages = ['*']\nslug = 'a'\ntitle = 'A'",
    ] {
        assert_eq!(rules(&format!("[[groups]]\n{text}"))[0].check(), Ok(()));
    }
}

fn grouped(text: &str, mut pages: Vec<Document>) -> Document {
    let rules = rules(text);
    let groups = Groups::new(&rules).unwrap();
    let (group, _) = groups.of(&pages[0]).unwrap();
    synthesise(&group, groups.rule(&group), &mut pages, Some("kit")).unwrap()
}

#[test]
fn s3_50_a_folder_becomes_a_document_with_a_section_for_each_page() {
    let mut button = page("menus/button.md", "Button");
    button.keywords = vec!["press".to_owned(), "tap".to_owned()];
    button.published_at = Some("2025-01-02".to_owned());
    button.metadata.insert("platform".to_owned(), json!("ios"));
    let deep = page("menus/deep/button.md", "Other");
    let document = grouped(
        "[[groups]]\nfolder = 'menus'\nkeywords = ['control', 'Press']",
        vec![button, deep],
    );
    assert_eq!(
        (document.slug.as_str(), document.title.as_str()),
        ("kit/menus", "menus")
    );
    assert_eq!(
        document.body,
        "# Button {#button}\n\nKeywords: press, tap.\n\nText of Button.\n\n# Other {#button-2}\n\nText of Other.\n\n"
    );
    assert_eq!(document.summary.as_deref(), Some("Button: press, tap. Other."));
    assert_eq!(document.keywords, ["control", "Press", "tap"]);
    assert_eq!(document.source_path.as_deref(), Some("menus"));
    assert!(document.metadata.is_empty());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let pages = document.pages.iter();
    let pages: Vec<[String; 3]> = pages
        .map(|page| [page.anchor.clone(), text(&page.source_path), text(&page.source_url)])
        .collect();
    assert_eq!(
        pages,
        [
            ["button", "menus/button.md", "https://kit.test/menus/button.md"],
            [
                "button-2",
                "menus/deep/button.md",
                "https://kit.test/menus/deep/button.md"
            ],
        ]
    );
}

#[test]
fn the_page_of_a_folder_gives_its_slug_and_title_and_comes_first() {
    let mut own = page("menus/index.md", "Menus and controls");
    own.slug = "kit/menus-of-kit".to_owned();
    own.summary = Some("All that is pressed.".to_owned());
    let document = grouped("[[groups]]\nfolder = 'menus'", vec![page("menus/a.md", "A"), own]);
    assert_eq!(
        (document.slug.as_str(), document.title.as_str()),
        ("kit/menus-of-kit", "Menus and controls")
    );
    assert!(
        document.body.starts_with("# Menus and controls {#menus-of-kit}\n"),
        "{}",
        document.body
    );
    assert_eq!(document.summary.as_deref(), Some("All that is pressed.\n\nA."));
    assert_eq!(document.source_urls[0], "https://kit.test/menus/index.md");
}

#[test]
fn questions_of_pages_stay_with_their_sections() {
    let mut button = page("menus/button.md", "Button");
    button.body = "# Button\n\nPress.\n\n## Round\n\nOf glass.\n".to_owned();
    button.questions = Some(json!([
        {"anchor": "", "question": "what can one press"},
        {"anchor": "button", "question": "a thing to press"},
        {"anchor": "round", "question": "has it corners"},
    ]));
    let menu = || page("menus/menu.md", "Menu");
    let rule = "[[groups]]\nfolder = 'menus'";
    let document = grouped(rule, vec![button, menu()]);
    let sections = docsearch_core::documents::markdown::sections(&document.body);
    let questions = document.own_questions();
    let places: Vec<(&str, &str)> = questions
        .iter()
        .map(|question| (&*question.anchor, &*question.question))
        .collect();
    assert_eq!(
        places,
        [
            ("button", "what can one press"),
            ("button", "a thing to press"),
            ("button.round", "has it corners"),
        ]
    );
    assert!(
        questions
            .iter()
            .all(|question| sections.iter().any(|section| section.anchor == question.anchor))
    );
    assert_eq!(grouped(rule, vec![menu()]).questions, None);
    let without = Document {
        questions: Some(json!([])),
        ..menu()
    };
    assert_eq!(grouped(rule, vec![without]).questions, Some(json!([])));
}

#[test]
fn a_group_that_is_too_large_is_an_error() {
    let mut large = page("menus/a.md", "A");
    large.body = "word ".repeat(1 << 19);
    let rules = rules("[[groups]]\nfolder = 'menus'");
    let groups = Groups::new(&rules).unwrap();
    let (group, _) = groups.of(&large).unwrap();
    let problem = synthesise(&group, groups.rule(&group), &mut [large], None).unwrap_err();
    assert!(problem.contains("too many for one document"), "{problem}");
}

#[test]
fn a_file_that_cannot_be_read_may_belong_to_a_group() {
    let rules = rules("[[groups]]\nfolder = 'menus'\n[[groups]]\nfront_matter = 'group'");
    let groups = Groups::new(&rules).unwrap();
    let (menus, _) = groups.of(&page("menus/a.md", "A")).unwrap();
    let mut labelled = page("b.md", "B");
    labelled.metadata.insert("group".to_owned(), json!("b"));
    let (by_key, _) = groups.of(&labelled).unwrap();
    for (group, root, path, expected) in [
        (&menus, "docs", "menus/bad.md", true),
        (&menus, "docs", "bad.md", false),
        (&menus, "other", "menus/bad.md", false),
        (&by_key, "docs", "bad.md", true),
    ] {
        assert_eq!(groups.may_hold(group, root, Path::new(path)), expected, "{path}");
    }
}
