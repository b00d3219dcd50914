mod words;

use std::fs;

use super::*;
use crate::file::Links;
use crate::formats::markdown::tests::code_blocks;

fn draft(text: &str) -> Draft {
    read(None, Path::new("page.adoc"), text).unwrap().remove(0)
}

fn markdown_of(text: &str) -> String {
    draft(text).body
}

#[test]
fn headings_keep_their_ids_or_get_those_of_asciidoctor() {
    let page = "\
= Title

== First Section

[[own]]
=== Second: a `b`

[#other]
== Third

== First Section
";
    assert_eq!(
        markdown_of(page),
        "\
# Title

## First Section {#_first_section}

### Second: a `b` {#own}

## Third {#other}

## First Section {#_first_section_2}
"
    );
}

#[test]
fn attributes_rename_the_ids_of_sections() {
    let page = "= T\n:idprefix:\n:idseparator: -\n\n== How it works\n";
    assert_eq!(markdown_of(page), "# T\n\n## How it works {#how-it-works}\n");
}

#[test]
fn code_is_unchanged() {
    let page = "\
[source,ruby]
----
puts \"*a* <b> &amp; {x}\"   # <1>
  indented -- it's...
----
<1> Prints.

....
 literal ```
....

 literal
   paragraph

```yaml
a: b
```
";
    assert_eq!(
        markdown_of(page),
        "\
```ruby
puts \"*a* <b> &amp; {x}\"   # <1>
  indented -- it's...
```

1. Prints.

```
 literal ```
```

```
literal
  paragraph
```

```yaml
a: b
```
"
    );
}

#[test]
fn options_settings_and_questions_are_sections_and_other_prose_is_a_bold_line() {
    let page = "\
= tool(1)

== NAME

tool - does *things*

== OPTIONS

-q::
--quiet::
\tSay nothing.

`core.autocrlf`::
  A setting.
+
More of it.

  input;;
    Nested.

Why is that so?::
  Because.

Somewhat later::
  Nothing.
";
    let draft = draft(page);
    assert_eq!(
        draft.body,
        "\
# tool

## NAME {#_name}

tool - does **things**

## OPTIONS {#_options}

### `-q`, `--quiet`

Say nothing.

### `core.autocrlf`

A setting.

More of it.

#### `input`

Nested.

### Why is that so?

Because.

**Somewhat later**

Nothing.
"
    );
    assert_eq!(draft.matter.title.as_deref(), Some("tool"));
    assert_eq!(draft.matter.kind.as_deref(), Some(manual_page::KIND));
    assert_eq!(draft.matter.summary.as_deref(), Some("does things"));
    assert_eq!(draft.matter.metadata["section"], "1");
}

#[test]
fn definitions_in_items_stay_items() {
    let page = "* One\n+\n--\nGIT_DIR:: A folder.\n--\n";
    assert_eq!(markdown_of(page), "- One\n  - `GIT_DIR`: A folder.\n");
}

#[test]
fn a_synopsis_is_code() {
    let page = "== SYNOPSIS\n\n[verse]\n'git add' [-n] <path>\n'git add' --all\n";
    assert_eq!(
        markdown_of(page),
        "## SYNOPSIS {#_synopsis}\n\n```\ngit add [-n] <path>\ngit add --all\n```\n"
    );
}

#[test]
fn text_keeps_its_marks_links_and_references() {
    let page = "\
== Here [[here]]

*Bold* _text_ `co*de` snake_case 2 * 3, ``a`b``, +{x}+, it's \"`quoted`\" +++<u>x</u>+++.
See <<here,this>>, <<here>>, xref:other.adoc#part[that], https://a.test/b_c[there],
https://d.test/ or link:file.html[a file]. Mail a@b.test. Press kbd:[Ctrl+C].footnote:[A note.] Line +
end. image:i.png[An image]
";
    assert_eq!(
        markdown_of(&format!(":experimental:\n\n{page}")),
        "\
## Here {#here}

**Bold** *text* `co*de` snake_case 2 * 3, `` a`b ``, {x}, it's \"quoted\" <u>x</u>.
See [this](#here), [Here](#here), [that](other.html#part), [there](https://a.test/b_c),
<https://d.test/> or [a file](file.html). Mail a@b.test. Press `Ctrl+C`. (A note.) Line\\
end. ![An image](i.png)
"
    );
}

#[test]
fn attributes_and_conditions_are_followed() {
    let page = "\
:name: kit
:cmd: pass:q[`kit run`]

Use {name} with {cmd}, not {unknown}.

ifdef::name[]
Shown.
endif::[]
ifndef::name[]
Hidden.
endif::[]

// A comment
////
Another
////
";
    assert_eq!(
        markdown_of(page),
        "Use kit with <code>kit run</code>, not {unknown}.\n\nShown.\n"
    );
}

#[test]
fn references_in_values_of_attributes_are_characters() {
    let text = "= T\n:product: Kit &amp; Co\n:own: &#8364;5\n\nUse {product} in C{pp} at 5{nbsp}{deg}C for {own}, {lt}b{gt}, {asterisk}x{asterisk}, {amp}c.\n\n`C{plus}{plus}` and `a{nbsp}b` &amp; &#176;.\n";
    let markdown = markdown_of(text);
    assert_eq!(
        markdown.trim(),
        "# T\n\nUse Kit & Co in C++ at 5 °C for €5, <b>, \\*x\\*, &c.\n\n`C++` and `a b` & °."
    );
}

#[test]
fn admonitions_quotations_and_blocks_with_titles() {
    let page = "\
NOTE: Mind the *gap*.

[WARNING]
====
* One
====

[quote,Ada,Notes]
A word.

.Listing
----
x
----
";
    assert_eq!(
        markdown_of(page),
        "\
**Note:** Mind the **gap**.

**Warning:**

- One

> A word.
>
> — Ada, Notes

**Listing**

```
x
```
"
    );
}

#[test]
fn lists_nest() {
    let page = "* a\n** b\n* c\n+\nmore\n\n//-\n\n. one\n.. two\n. three\n\n//-\n\n* [x] done\n* [ ] open\n";
    assert_eq!(
        markdown_of(page),
        "- a\n  - b\n\n- c\n\n  more\n\n1. one\n   1. two\n2. three\n\n- [x] done\n- [ ] open\n"
    );
}

#[test]
fn tables_are_tables_and_cells_with_code_are_rows() {
    let page = "|===\n|A |B\n\n|`a\\|b` |*c*\n|d |e\n|===\n";
    assert_eq!(
        markdown_of(page),
        "| A | B |\n| --- | --- |\n| `a\\|b` | **c** |\n| d | e |\n"
    );
    let page = "[cols=\"1,a\"]\n|===\n|x\n|\n----\ncode\n----\n|===\n";
    assert_eq!(markdown_of(page), "**x**\n\n```\ncode\n```\n");
}

#[test]
fn older_titles_are_underlined() {
    let page = "Title\n=====\n\nPart\n----\nText\n\nDeeper\n~~~~~~\n";
    assert_eq!(
        markdown_of(page),
        "# Title\n\n## Part {#_part}\n\nText\n\n### Deeper {#_deeper}\n"
    );
}

#[test]
fn files_of_the_folder_are_included_and_no_others() {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    fs::create_dir_all(root.join("docs/parts")).unwrap();
    fs::write(root.join("secret.adoc"), "secret").unwrap();
    fs::write(root.join("docs/parts/a.adoc"), "Deep\n----\n\ninclude::b.adoc[]\n").unwrap();
    fs::write(root.join("docs/parts/b.adoc"), "Inner.\n").unwrap();
    fs::write(root.join("docs/code.py"), "a = 1\n-----\n").unwrap();
    fs::write(root.join("docs/loop.adoc"), "Again.\n\ninclude::loop.adoc[]\n").unwrap();
    let folder = Folder {
        root: root.join("docs"),
        links: Links::Inside,
    };
    let read = |text: &str| read(Some(&folder), Path::new("page.adoc"), text).unwrap().remove(0);
    let draft = read("= T\n\ninclude::parts/a.adoc[]\n\n----\ninclude::code.py[]\n----\n");
    assert_eq!(
        draft.body,
        "# T\n\n## Deep {#_deep}\n\nInner.\n\n```\na = 1\n-----\n```\n"
    );
    assert_eq!(draft.warning, None);
    for target in ["../secret.adoc", "/etc/passwd", "gone.adoc"] {
        let draft = read(&format!("Before\n\ninclude::{target}[]\n\nAfter\n"));
        assert_eq!(draft.body, "Before\n\nAfter\n", "{target}");
        assert!(draft.warning.unwrap().starts_with(&format!("not included: {target}")));
    }
    let wide: Vec<u8> = "\u{feff}Grüße.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(root.join("docs/wide.adoc"), wide).unwrap();
    fs::write(root.join("docs/old.adoc"), b"Gr\xfc\xdfe.\n").unwrap();
    for include in ["include::wide.adoc[]", "include::old.adoc[encoding=iso-8859-1]"] {
        assert_eq!(read(&format!("{include}\n")).body, "Grüße.\n", "{include}");
    }
    // As Asciidoctor does.
    assert_eq!(
        read("include::https://a.test/x.adoc[]\n").body,
        "<https://a.test/x.adoc>\n"
    );
    let draft = read("include::loop.adoc[]\n");
    assert!(draft.body.len() < 10_000);
}

#[test]
fn parts_of_other_pages_are_left_out() {
    for path in ["a/_attributes.adoc", "modules/x/partials/y.adoc"] {
        assert!(matches!(
            read(None, Path::new(path), "text"),
            Err(Unreadable::NoDocumentation(_))
        ));
    }
}

#[test]
fn the_header_describes_the_page() {
    let page = "= Guide: it's\nAda Lovelace <ada@a.test>\n:description: What it is\n:keywords: one, two\n\nText\n";
    let matter = draft(page).matter;
    assert_eq!(matter.title.as_deref(), Some("Guide: it's"));
    assert_eq!(matter.summary.as_deref(), Some("What it is"));
    assert_eq!(matter.keywords, ["one", "two"]);
    assert_eq!(matter.metadata["author"], "Ada Lovelace");
}

#[test]
fn hostile_nesting_ends() {
    let blocks = |depth: usize| -> String { (4..4 + depth).map(|length| "=".repeat(length) + "\n").collect() };
    let lists = |depth: usize| -> String { (1..=depth).map(|length| "*".repeat(length) + " x\n").collect() };
    assert!(markdown_of(&lists(20)).contains("- x"));
    markdown_of(&blocks(24));
    markdown_of(&format!("{}{}", blocks(24), lists(24)));
    for deep in [blocks(25), lists(30), "> ".repeat(3000) + "x"] {
        let _ = read(None, Path::new("a.adoc"), &deep);
    }
    let attributes: String = (1..40)
        .map(|n| format!(":a{n}: {{a{}}}{{a{}}}\n", n - 1, n - 1))
        .collect();
    assert!(markdown_of(&format!(":a0: xxxxxxxx\n{attributes}\n{{a39}}\n")).len() < 1_000_000);
}

proptest::proptest! {
    /// Code in admonitions and lists.
    #[test]
    fn the_code_of_a_page_is_the_code_of_the_document(
        parts in proptest::collection::vec(
            (0usize..3, "([ ]{0,5}(== h|NOTE: x|[*] l|=====|d:: e|image::a\\[\\]|[a-z]{1,6}[<&*_`#{}]?)\n){1,4}"),
            1..5,
        )
    ) {
        let mut page = "= Kiln\n\n".to_owned();
        let mut expected = Vec::new();
        for (kind, code) in parts {
            let listing = format!("----\n{code}----\n");
            page += &match kind {
                0 => format!("{listing}\nBetween.\n\n"),
                1 => format!("* An item\n+\n{listing}\n\nBetween.\n\n"),
                _ => format!("====\n{listing}====\n\nBetween.\n\n"),
            };
            expected.push(code);
        }
        let markdown = markdown_of(&page);
        proptest::prop_assert_eq!(code_blocks(&markdown), expected, "{}\n->\n{}", page, markdown);
    }
}

#[test]
fn the_source_of_unknown_macros_is_kept_and_counted() {
    let page = "\
= Kit

chart::berths.csv[bar,500,400]

See issue:12[the *old* one], `config:sail[]` and kbd:[Ctrl].

|===
|Name |config:mast[]
|===

issue:14[]:: A term.

* config:jib[]
+
NOTE: See issue:15[].
";
    let page = draft(page);
    assert_eq!(
        page.unknown.text().unwrap(),
        "kept the text of 6 unknown names (macro issue: 3, macro config: 2, macro chart: 1)"
    );
    let source = "chart::berths.csv[bar,500,400]\n\nSee issue:12[the **old** one], `config:sail[]`";
    assert!(page.body.contains(source), "{}", page.body);
    assert_eq!(draft("= T\n\n* std::vec[0] and a:b[1]\n").unknown.text(), None);
}
