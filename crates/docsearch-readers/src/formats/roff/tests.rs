use super::*;

fn markdown_of(text: &str) -> String {
    read(text).unwrap().body
}

#[test]
fn a_page_of_man() {
    let page = r#".\" comment
.TH GIT\-ADD 1 "2024" "Git" "Manual"
.SH NAME
git\-add \- Add file contents to the \fIindex\fP
.SH SYNOPSIS
.B git add
[\fB\-n\fR] \fIpath\fR
.br
.B git add \-\-all
.SH "SEE OPTIONS"
First line
of a paragraph.
.TP
.BR \-n ", " \-\-dry\-run
Do nothing.
.IP
More of it.
.TP
\fB\-\-chmod=\fR(+|\-)x
Change.
.TP
A longer sentence about it.
Prose.
.PP
.nf
  code \- "x"
    \fBbold\fR \(aqy\(aq
.fi
.SS Lists
.IP \(bu 2
One
.IP \(bu
Two, see
.BR ls (1).
"#;
    let draft = read(page).unwrap();
    assert_eq!(
        draft.body,
        "\
# git-add

## NAME {#NAME}

git-add - Add file contents to the *index*

## SYNOPSIS {#SYNOPSIS}

```
git add [-n] path
git add --all
```

## SEE OPTIONS {#SEE_OPTIONS}

First line of a paragraph.

### `-n`, `--dry-run` {#n}

Do nothing.

More of it.

### `--chmod=(+|-)x`

Change.

**A longer sentence about it.**

Prose.

```
  code - \"x\"
    bold 'y'
```

### Lists {#Lists}

- One
- Two, see ls(1).
"
    );
    assert_eq!(draft.matter.title.as_deref(), Some("git-add"));
    assert_eq!(draft.matter.summary.as_deref(), Some("Add file contents to the index"));
    assert_eq!(draft.matter.metadata["section"], "1");
}

#[test]
fn a_line_above_indented_text_is_its_term() {
    let page = "\
.TH X 1
.SH OPTIONS
.PP
\\-\\-autosquash, \\-\\-no\\-autosquash
.RS 4
Moves commits\\&.
.RE
.PP
core\\&.autocrlf
.RS 4
Line ends.
.RS 4
Deeper.
.RE
.RE
";
    assert_eq!(
        markdown_of(page),
        "\
# x

## OPTIONS {#OPTIONS}

### `--autosquash`, `--no-autosquash`

Moves commits.

### `core.autocrlf`

Line ends.

Deeper.
"
    );
}

#[test]
fn a_page_of_mdoc() {
    let page = "\
.Dd May 1, 2024
.Dt CAT 1
.Os
.Sh NAME
.Nm cat
.Nd concatenate files
.Sh SYNOPSIS
.Nm
.Op Fl benu
.Op Ar
.Sh DESCRIPTION
The
.Nm
utility reads files, see
.Xr head 1 .
.Bl -tag -width Ds
.It Fl b
Number
.Pq not blank
lines.
.It Ev LANG
A locale.
.El
.Bd -literal
$ cat  x
.Ed
.Bl -bullet
.It
One
.It
Two
.El
";
    let draft = read(page).unwrap();
    assert_eq!(
        draft.body,
        "\
# cat

## NAME {#NAME}

`cat` - concatenate files

## SYNOPSIS {#SYNOPSIS}

```
cat [-benu] [file ...]
```

## DESCRIPTION {#DESCRIPTION}

The `cat` utility reads files, see head(1).

### `-b` {#b}

Number (not blank) lines.

### `LANG` {#LANG}

A locale.

```
$ cat  x
```

- One
- Two
"
    );
    assert_eq!(draft.matter.summary.as_deref(), Some("concatenate files"));
}

#[test]
fn tables_have_cells() {
    let page = ".TH X 7\n.SH A\n.TS\nallbox tab(|);\nl l.\nName|Value\n_\n\\fBa\\fR|T{\nfirst\nsecond\nT}\n.TE\n";
    assert!(
        markdown_of(page).contains("| Name | Value |\n| --- | --- |\n| `a` | first second |"),
        "{}",
        markdown_of(page)
    );
}

#[test]
fn named_characters_are_part_of_their_words() {
    let page = r".TH KIT 1
.SH NAME
kit \- dzia\(/lanie i pomoc
.SH OPTIONS
.TP
.B \-o
O\(Fice \(file, br\(o/d, \(oeuvre, \(-D, \(Tp, \(Sd, ko\[vs]ice, \[vZ]ivot, ka\['c]a.
.TP
.B \-s
\(*G \(*W \(es \(mo x\(S2 5\(%0 \(te \(is \(r? di\(ff \(flag ra\(Fle
";
    let draft = read(page).unwrap();
    assert_eq!(draft.matter.summary.as_deref(), Some("działanie i pomoc"));
    let body = draft.body;
    assert!(
        body.contains("Office file, brød, œuvre, Ð, þ, ð, košice, Život, kaća."),
        "{body}"
    );
    assert!(body.contains("Γ Ω ∅ ∈ x² 5‰ ∃ ∫ ¿ diff flag raffle"), "{body}");
}

#[test]
fn the_text_of_unknown_macros_is_kept() {
    let page = ".TH X 1\n.ad l\n.hy 0\n.Sh NAME\nx \\- y\n.Ss More\n.XYZ \"of a\" macro\n.Pp\nEnd\n";
    assert_eq!(
        markdown_of(page),
        "# x\n\n## NAME {#NAME}\n\nx - y\n\n### More {#More}\n\nof a macro\n\nEnd\n"
    );
    assert_eq!(
        read(page).unwrap().unknown.text().unwrap(),
        "kept the text of 1 unknown names (macro XYZ: 1)"
    );
    let page = ".de QQ\n.B \\\\$1\n..\n.TH X 1\n.SH NAME\nx \\- \\y\n.QQ \"\\(zz\"\n.IX \\(zz\n.ta \\(zz\n";
    assert_eq!(
        read(page).unwrap().unknown.text().unwrap(),
        "kept the text of 2 unknown names (character zz: 1, escape \\y: 1)"
    );
    let page = ".Dd May\n.Dt X 1\n.Sh NAME\n.Nm x\n.Nd y\n.Sh A\n.ad l\n.Zz of a macro\n";
    assert!(
        markdown_of(page).ends_with("\n## A {#A}\n\nof a macro\n"),
        "{}",
        markdown_of(page)
    );
}

#[test]
fn names_of_systems_and_standards_are_written_out() {
    let page = "\
.Dd May
.Dt X 1
.Sh STANDARDS
.St -p1003.1-2008 ,
.Bx 4.3 Reno ,
.Ox 6.7 ,
.At v7 ,
.Lb libc ,
.Lb libkit ,
.Lk https://example.org/a the site .
.Rv -std open close
.Ux
.Sm off
.Ar user @ host
.Sm on
end
";
    assert_eq!(
        markdown_of(page),
        "# x\n\n## STANDARDS {#STANDARDS}\n\n\
         IEEE Std 1003.1-2008 (“POSIX.1”), 4.3BSD-Reno, OpenBSD 6.7, Version 7 AT&T UNIX, Standard C Library (libc, -lc), \
         library “libkit”, the site: https://example.org/a. The open() and close() functions return the value 0 if successful; otherwise the value -1 is returned and the global variable errno is set to indicate the error. UNIX *user@host* end\n"
    );
}

#[test]
fn links_to_other_pages_are_left_out() {
    assert!(matches!(read(".so man1/ls.1\n"), Err(Unreadable::NoDocumentation(_))));
}

#[test]
fn manual_pages_are_detected_by_content() {
    assert!(is_likely(".\\\" x\n.TH LS 1\n"));
    assert!(is_likely(".Dd May\n.Dt CAT 1\n"));
    assert!(is_likely(".so man3/printf.3\n"));
    assert!(!is_likely("A text.\n.TH\n...\n"));
}

#[test]
fn hostile_pages_end() {
    markdown_of(&format!(".TH X 1\n{}text", ".RS\n".repeat(5_000)));
    markdown_of(&format!(".Dt X 1\n{}text", ".Bl -tag\n.It Fl a\n".repeat(3_000)));
    let _ = read(&format!(".TH X 1\n{}", ".if t \\{\n".repeat(3_000)));
    let _ = read(&format!(".TH X 1\n{}", "\\*[".repeat(30_000)));
}

proptest::proptest! {
    /// Code in paragraphs, lists and examples.
    #[test]
    fn the_code_of_a_page_is_the_code_of_the_document(
        parts in proptest::collection::vec((0usize..3, "[!-~][ -~]{0,12}(\n[ -~]{0,12}){0,3}\n[!-~]{1,3}"), 1..5)
    ) {
        let mut page = ".TH KILN 1\n.SH CODE\n".to_owned();
        let mut expected = Vec::new();
        for (kind, code) in parts {
            let lines = code.lines().map(|line| {
                let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
                match line.starts_with('.') {
                    true => format!("\\&{line}\n"),
                    false => format!("{line}\n"),
                }
            });
            let lines: String = lines.collect();
            page += &match kind {
                0 => format!(".PP\n.nf\n{lines}.fi\n"),
                1 => format!(".IP \\(bu 2\nAn item\n.nf\n{lines}.fi\n"),
                _ => format!(".PP\n.EX\n{lines}.EE\n"),
            };
            page += ".PP\nBetween.\n";
            let code: Vec<&str> = code.lines().map(str::trim_end).collect();
            expected.push(code.join("\n") + "\n");
        }
        let markdown = markdown_of(&page);
        proptest::prop_assert_eq!(crate::formats::markdown::tests::code_blocks(&markdown), expected, "{}\n->\n{}", page, markdown);
    }
}
