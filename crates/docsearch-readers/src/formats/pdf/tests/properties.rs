use super::*;

/// A page with a heading and a sentence.
fn draft(properties: &str) -> Draft {
    let page = "24 Stock of the harbour\n10 What the harbour has about terns, and where it lies at night.";
    read(&file(&[page], properties)).unwrap()
}

#[test]
fn a_title_that_a_program_wrote_gives_way_to_the_heading() {
    for title in [
        "\\(anonymous\\)",
        "untitled",
        "main.dvi",
        "handbook_v3.indd",
        "Microsoft Word - report-final2.docx",
        "Microsoft PowerPoint - report",
        "file:///C|/report.htm",
        "Ohne Titel",
    ] {
        let draft = draft(&format!("/Title ({title})"));
        assert_eq!(draft.matter.title.as_deref(), Some("Stock of the harbour"), "{title}");
        assert!(draft.body.starts_with("# Stock of the harbour\n"), "{}", draft.body);
        assert_eq!(draft.body.matches("Stock of the harbour").count(), 1, "{}", draft.body);
    }
    let own = draft("/Title (Harbours of Iceland)");
    assert_eq!(own.matter.title.as_deref(), Some("Harbours of Iceland"));
}

#[test]
fn what_programs_write_is_no_summary_and_no_author() {
    for (subject, author) in [("\\(unspecified\\)", "\\(anonymous\\)"), ("unspecified", "anonymous")] {
        let draft = draft(&format!(
            "/Subject ({subject}) /Author ({author}) /ModDate (D:19700101000000Z)"
        ));
        assert_eq!((draft.matter.summary, draft.matter.published_at), (None, None));
        assert_eq!(draft.matter.metadata.get("author"), None);
    }
    let own = draft("/Subject (Terns in the harbour) /Author (Ada)");
    assert_eq!(own.matter.summary.as_deref(), Some("Terns in the harbour"));
    assert_eq!(own.matter.metadata["author"], "Ada");
}
