use super::*;

fn read(source: &str) -> Vec<String> {
    lines(source)
        .into_iter()
        .map(|line| match line {
            Line::Text(text) => text,
            Line::Macro { name, arguments, .. } => format!(".{name} {}", arguments.join("|")),
        })
        .collect()
}

#[test]
fn arguments_are_separated_by_spaces_or_quoted() {
    assert_eq!(arguments(r#"a "b ""c""" d\ e"#), ["a", "b \"c\"", "d\\ e"]);
}

#[test]
fn strings_and_registers_are_expanded() {
    assert_eq!(
        read(".ds X a b\\\" comment\n.nr n 3\nIt is \\*X, \\*(Aq, \\n(.g\\nn"),
        ["It is a b, ', 13"]
    );
    assert_eq!(read(".ds A \\*A\\*A\n\\*A").len(), 1);
}

#[test]
fn registers_step_before_they_are_shown() {
    let page = ".nr step 1 1\n\\n[step]. Fill\n.SS \\n+[step]. Stir\n.nr step 5\n\\n+[step], \\n-[step], \\n[step]";
    assert_eq!(read(page), ["1. Fill", ".SS 2.|Stir", "6, 5, 5"]);
    let page = ".nr a 0 2\n.nr ab 9\n.af a i\n.nr ab -3\n\\n+a \\n+(ab \\n[ab] \\n-x \\n+[x]\n.if \\n+a>3 \\na";
    assert_eq!(read(page), ["ii 6 6 0 0", "iv"]);
}

#[test]
fn conditions_choose_paper() {
    let page = ".ie n \\{\\\nterminal\n.\\}\n.el \\{\\\n.IP \\(bu 2\n.\\}\ntext\n.if t on paper\n.if \\n(.g groff\n.if !\\nx no\n";
    assert_eq!(read(page), [".IP \\(bu|2", "text", "on paper", "groff", "no"]);
}

#[test]
fn macros_of_the_page_are_expanded_up_to_the_limit() {
    assert_eq!(
        read(".de opt\n.B \\\\$1\n\\\\$2\n..\n.opt -a all\n.ig\nno\n..\nend"),
        [".B -a", "all", "end"]
    );
    assert!(read(".de x\n.x\n.x\n..\n.x").is_empty());
    assert!(
        read(&format!(".ds x {}\n{}", "x".repeat(8_000), "\\*x\n".repeat(2_000)))
            .concat()
            .len()
            < 300_000
    );
}

#[test]
fn macros_grow_and_have_other_names() {
    let page = ".de opt\n.B \\\\$1\n..\n.am opt\n(\\\\n[.$])\n..\n.als option opt\n.option -a b\n.rn opt o\n.o -c\n.als bold B\n.bold d";
    assert_eq!(read(page), [".B -a", "(2)", ".B -c", "(1)", ".B d"]);
}

#[test]
fn loops_end_and_arguments_shift() {
    assert_eq!(
        read(".de all\n.while \\\\n[.$]>0 \\{\\\n.IP \\\\$1\n.shift\n.\\}\n.return\nno\n..\n.all a b c\n.nop end"),
        [".IP a", ".IP b", ".IP c", "end"]
    );
    assert!(read(".while 1 x").len() < 20_001);
    assert_eq!(read(".while 1 \\{\\\nonce\n.break\n.\\}\nend"), ["once", "end"]);
}

#[test]
fn characters_are_those_of_the_page() {
    assert_eq!(
        read(".tr \\(*W-\n.char \\[logo] GNU\na \\(*W\\[*W] \\[logo]\n.B \\[e aa] \\(*W\n.eo\na\\b\n.ec\nc"),
        ["a -- GNU", ".B \\[e aa]|-", "a\\eb", "c"]
    );
}

#[test]
fn a_page_defines_names_of_libraries() {
    assert_eq!(
        read(".ds doc-str-Lb-libkit Kit \\*[lp]libkit\\*[rp]\n.Lb libkit\n.Lb libc"),
        ["Kit (libkit)", ".Lb libc"]
    );
}
