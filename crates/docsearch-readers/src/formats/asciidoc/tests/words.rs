//! Each word that the rendered page shows is in the document, in the same order.

use proptest::prelude::*;

use super::markdown_of;
use crate::draft::Draft;
use crate::file::test_folder;
use crate::formats::asciidoc::read;

/// The draft of the page `page.adoc` in a folder with these files.
fn draft_in_folder(files: &[(&str, &str)], page: &str) -> Draft {
    let (_place, folder) = test_folder(files);
    let path = std::path::Path::new("modules/kit/pages/page.adoc");
    read(Some(&folder), path, page).unwrap().remove(0)
}

/// The same with files beside the page. Nothing may be missing.
fn included(files: &[(&str, &str)], page: &str) -> String {
    let files: Vec<(String, &str)> = files
        .iter()
        .map(|(path, text)| (format!("modules/kit/pages/{path}"), *text))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let draft = draft_in_folder(&files, page);
    assert_eq!(draft.warning, None);
    draft.body
}

const CHAPTER: (&str, &str) = ("chapter.adoc", "= Chapter\n\n== Section\n\nIts words.");
const NEXT: (&str, &str) = ("next.adoc", "= Next\n\nMore words.\n");
const CHAPTERS: &str =
    "# Book\n\n## Chapter {#_chapter}\n\n### Section {#_section}\n\nIts words.\n\n## Next {#_next}\n\nMore words.\n";

#[test]
fn chapters_are_below_the_book_with_and_without_blank_lines_between_them() {
    for includes in [
        "include::chapter.adoc[leveloffset=+1]\n\ninclude::next.adoc[leveloffset=+1]\n",
        "include::chapter.adoc[leveloffset=+1]\ninclude::next.adoc[leveloffset=+1]\n",
        ":leveloffset: +1\n\ninclude::chapter.adoc[]\n\ninclude::next.adoc[]\n\n:leveloffset: -1\n",
        "include::chapter.adoc[leveloffset=1]\n:leveloffset: 1\ninclude::next.adoc[]\n:leveloffset!:\n",
        "include::both.adoc[leveloffset=+1]\n",
    ] {
        let both = ("both.adoc", "include::chapter.adoc[]\ninclude::next.adoc[]\n");
        assert_eq!(
            included(&[CHAPTER, NEXT, both], &format!("= Book\n\n{includes}")),
            CHAPTERS,
            "{includes}"
        );
    }
}

#[test]
fn offsets_add_up_and_end_with_their_include() {
    let files = [
        (
            "outer.adoc",
            "= Outer\n\ninclude::chapter.adoc[leveloffset=+1]\n\n== Own\n",
        ),
        CHAPTER,
    ];
    assert_eq!(
        included(&files, "= Book\n\ninclude::outer.adoc[leveloffset=+1]\n== After\n"),
        "# Book\n\n## Outer {#_outer}\n\n### Chapter {#_chapter}\n\n#### Section {#_section}\n\nIts words.\n\n\
         ### Own {#_own}\n\n## After {#_after}\n"
    );
}

#[test]
fn rows_and_cells_are_included_without_a_trace_of_the_offset() {
    let files = [("row.adoc", "|spoon |soup\n"), NEXT, ("code.rb", "puts 1\n")];
    assert_eq!(
        included(
            &files,
            "|===\n|Name |Use\n\ninclude::row.adoc[leveloffset=+2]\n\n|last |row\n|===\n"
        ),
        "| Name | Use |\n| --- | --- |\n| spoon | soup |\n| last | row |\n"
    );
    assert_eq!(
        included(
            &files,
            "[cols=\"1,a\"]\n|===\n|x\n|include::next.adoc[leveloffset=+1]\n|===\n"
        ),
        "**x**\n\n## Next {#_next}\n\nMore words.\n"
    );
    assert_eq!(
        included(&files, "----\ninclude::code.rb[leveloffset=+1]\n----\n"),
        "```\nputs 1\n```\n"
    );
}

#[test]
fn many_parts_of_a_large_file_are_included() {
    let filler = "// filler filler filler filler filler\n\n".repeat(5_000);
    let parts: String = (0..40)
        .map(|n| format!("// tag::p{n}[]\nWord{n}.\n\n// end::p{n}[]\n"))
        .collect();
    let page: String = (0..40).map(|n| format!("include::all.adoc[tag=p{n}]\n\n")).collect();
    let body = included(&[("all.adoc", &format!("{filler}{parts}"))], &page);
    assert!((0..40).all(|n| body.contains(&format!("Word{n}."))), "{body}");
}

#[test]
fn resources_of_antora_and_paths_in_conditional_attributes_are_included() {
    let files = [
        ("modules/kit/partials/p.adoc", "Of the module.\n"),
        ("modules/ROOT/examples/x.rb", "puts 2\n"),
        ("modules/kit/parts/q.adoc", "Of the path.\n"),
    ];
    let page = "= T\nifndef::top[:top: ..]\n\ninclude::partial$p.adoc[]\n\n----\ninclude::ROOT:example$x.rb[]\n----\n\ninclude::{top}/parts/q.adoc[]\n";
    let draft = draft_in_folder(&files, page);
    assert_eq!(draft.warning, None);
    assert_eq!(
        draft.body,
        "# T\n\nOf the module.\n\n```\nputs 2\n```\n\nOf the path.\n"
    );
}

#[test]
fn separators_in_cells_are_no_escapes() {
    let page = "[cols=\"1,a\"]\n|===\n|a \\| b\n|c \\| d\n\n----\ne \\| f\n----\n|===\n";
    assert_eq!(markdown_of(page), "**a | b**\n\nc | d\n\n```\ne | f\n```\n");
}

#[test]
fn lists_below_terms_keep_their_marks() {
    let page = "* item\n+\n--\nTerm::\n. one\n. two\nOther::\n* dot\n--\n";
    assert_eq!(
        markdown_of(page),
        "- item\n\n  - **Term**\n\n    1. one\n    2. two\n\n  - **Other**\n\n    - dot\n"
    );
}

#[test]
fn code_without_an_end_is_kept() {
    assert_eq!(markdown_of("Text\n\n----\ncode\n"), "Text\n\n```\ncode\n```\n");
    assert_eq!(
        markdown_of("====\n....\ncode\n====\n\nText\n"),
        "```\ncode\n```\n\nText\n"
    );
}

/// A piece of a page with a place for a word at each `W`.
fn piece() -> impl Strategy<Value = String> {
    const ITEM: &str = "([*]{1,4}|[.]{1,4}|-|W::|W:::|W::::|W;;) W( \\*W\\* W)?\n([+]\nW\n|[+]\n----\nW\n----\n)?";
    let items = proptest::collection::vec(ITEM, 1..7);
    let block = prop_oneof![
        Just("W _W_ `W` foo:bar[W] W footnote:[W] \"`W`\" #W# ^W^".to_owned()),
        Just("====\nW\n\n* W\n====".to_owned()),
        Just(".W\n****\nW\n****".to_owned()),
        Just("[custom]\n--\nW\n\nW\n--".to_owned()),
        Just("[NOTE]\n.W\n====\nW\n====".to_owned()),
        Just("[quote]\n____\nW\n____".to_owned()),
        Just("[verse]\nW W\nW".to_owned()),
        Just("unknown::target[W]".to_owned()),
        Just("[horizontal]\nW:: W\nW::\n* W".to_owned()),
        Just("[qanda]\nW?:: W".to_owned()),
        Just(".W\n[cols=\"1,a\"]\n|===\n|W |W\n\n|W\n|* W\n. W\n|===".to_owned()),
        Just("[options=\"header,footer\"]\n|===\n|W |W\n|W |W\n2+|W\n|W |W\n|===".to_owned()),
        Just("[source,rb]\n----\nW # <1>\n----\n<1> W\n<.> W".to_owned()),
        Just("== W *W*\n\nW".to_owned()),
        Just("[discrete]\n=== W".to_owned()),
        Just("TIP: W\n\n> W\n> W".to_owned()),
        Just("link:a.html[W] xref:b.adoc[W] https://a.test[W] <<c,W>>".to_owned()),
    ];
    prop_oneof![items.prop_map(|items| items.concat()), block]
}

proptest! {
    #[test]
    fn all_words_are_kept_in_order(pieces in proptest::collection::vec(piece(), 1..6)) {
        let mut number = 0;
        let mut page = ":sectids!:\n\n".to_owned();
        // A comment keeps lists apart.
        for character in pieces.join("\n\n//-\n\n").chars() {
            match character {
                'W' => {
                    number += 1;
                    page.push_str(&format!("w{number}x"));
                }
                other => page.push(other),
            }
        }
        let markdown = markdown_of(&page);
        let words: Vec<&str> = markdown
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| word.starts_with('w') && word.ends_with('x'))
            .collect();
        let expected: Vec<String> = (1..=number).map(|number| format!("w{number}x")).collect();
        prop_assert_eq!(words, expected, "{}\n->\n{}", page, markdown);
    }
}
