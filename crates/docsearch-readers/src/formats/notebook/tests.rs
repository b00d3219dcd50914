use super::*;

#[test]
fn cells_with_their_code_and_short_outputs() {
    let notebook = r##"{"nbformat": 4, "nbformat_minor": 5,
      "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
      "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Load data\n", "\n", "![logo](data:image/png;base64,AAAA) Read a file."]},
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "print('hi')\n",
         "outputs": [{"output_type": "stream", "name": "stdout", "text": ["\u001b[31mhi\u001b[0m\n"]},
                     {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo", "text/plain": ["<Figure size 640x480>"]}, "metadata": {}},
                     {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}, "metadata": {}, "execution_count": 1},
                     {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["long"]}]},
        {"cell_type": "code", "metadata": {}, "source": [], "outputs": []}]}"##;
    let draft = read(notebook).unwrap();
    assert_eq!(
        draft.body,
        "# Load data\n\nlogo Read a file.\n\n```python\nprint('hi')\n```\n\n```\nhi\n```\n\n```\n42\n```\n\n```\nKeyError: 'x'\n```\n"
    );
}

#[test]
fn of_two_forms_of_an_output_the_one_that_says_more_is_kept() {
    let body = |plain: &str, html: &str| {
        let notebook = serde_json::json!({"cells": [{"cell_type": "code", "source": "x", "outputs": [
            {"output_type": "execute_result", "data": {"text/plain": plain, "text/html": html}}]}]});
        read(&notebook.to_string()).unwrap().body
    };
    let table = "<table><tr><th></th><th>Name</th></tr><tr><td>0</td><td>tern</td></tr></table>";
    assert_eq!(
        body("   Name\n0  tern", table),
        "```\nx\n```\n\n```\n   Name\n0  tern\n```\n"
    );
    assert!(
        body("Frame(1 row)", table).contains("| 0 | tern |"),
        "{}",
        body("Frame(1 row)", table)
    );
    assert!(body("   Name\n0  te...", table).contains("| 0 | tern |"));
    assert!(body("Report()", "<h3>Summary</h3><p>Three herons.</p>").contains("Three herons."));
}

#[test]
fn notebooks_of_format_three() {
    let notebook = r#"{"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": ["Intro"]},
        {"cell_type": "code", "language": "python", "input": ["1 + 1"], "outputs": [{"output_type": "pyout", "text": ["2"]}]}]}]}"#;
    assert_eq!(
        read(notebook).unwrap().body,
        "## Intro\n\n```python\n1 + 1\n```\n\n```\n2\n```\n"
    );
}

#[test]
fn long_outputs_are_cut_and_other_json_is_refused() {
    let lines = "\\n".repeat(500);
    let notebook = format!(
        r#"{{"cells": [{{"cell_type": "code", "source": "x", "outputs": [{{"output_type": "stream", "text": "a{lines}b"}}]}}]}}"#
    );
    let draft = read(&notebook).unwrap();
    assert_eq!(
        draft.warning.as_deref(),
        Some("1 output cut after 30 lines or 2000 characters")
    );
    let body = draft.body;
    assert!(body.contains("...") && body.lines().count() < 50);
    assert!(matches!(read("{\"a\": 1}"), Err(Unreadable::Malformed { .. })));
    assert!(matches!(read("nothing"), Err(Unreadable::Malformed { .. })));
}

#[test]
fn a_raw_cell_at_the_beginning_is_front_matter() {
    let notebook =
        r#"{"cells": [{"cell_type": "raw", "source": "---\ntitle: Plots\n---"}, {"cell_type": "raw", "source": "x"}]}"#;
    let draft = read(notebook).unwrap();
    assert_eq!(draft.matter.title.as_deref(), Some("Plots"));
    assert_eq!(draft.body, "```\nx\n```\n");
}

/// The body of a notebook with one code cell `x` and this output.
fn shown(output: &str) -> String {
    let notebook = format!(r#"{{"cells": [{{"cell_type": "code", "source": "x", "outputs": [{output}]}}]}}"#);
    let body = read(&notebook).unwrap().body;
    body.strip_prefix("```\nx\n```\n").unwrap().trim().to_owned()
}

#[test]
fn an_output_has_the_form_that_says_most() {
    let table = r#"<style>td {}</style><table><tr><th>name</th></tr><tr><td>tern</td></tr></table>"#;
    for (data, expected) in [
        (format!(r#"{{"text/html": "{table}"}}"#), "| name |\n| ---- |\n| tern |"),
        (
            format!(r#"{{"text/html": "{table}", "text/plain": "<IPython.core.display.HTML object>"}}"#),
            "| name |\n| ---- |\n| tern |",
        ),
        (
            format!(r#"{{"text/html": "{table}", "text/plain": "  name\n0 tern"}}"#),
            "```\n  name\n0 tern\n```",
        ),
        (
            r#"{"text/latex": ["$$x^2$$"], "text/plain": "<kit.Formula object>"}"#.to_owned(),
            "$$x^2$$",
        ),
        (
            r#"{"text/markdown": "**bold**", "text/plain": "bold"}"#.to_owned(),
            "**bold**",
        ),
        (r#"{"text/plain": "[<kit.Line at 0x7f2a>]"}"#.to_owned(), ""),
        (
            r#"{"text/plain": "<Map of the harbour>", "image/svg+xml": "<svg/>"}"#.to_owned(),
            "",
        ),
        (
            r#"{"text/plain": "<QuerySet [<Ferry: Tern>]>"}"#.to_owned(),
            "```\n<QuerySet [<Ferry: Tern>]>\n```",
        ),
    ] {
        assert_eq!(
            shown(&format!(r#"{{"output_type": "execute_result", "data": {data}}}"#)),
            expected
        );
    }
}

#[test]
fn lines_that_overwrite_themselves_show_their_end() {
    let bar = r#"{"output_type": "stream", "name": "stderr", "text": ["10%|#   \r", "100%|####\r\ndone\r\n"]}"#;
    assert_eq!(shown(bar), "```\n100%|####\ndone\n```");
}

#[test]
fn cells_in_another_markup_are_kept() {
    let raw = |metadata: &str, source: &str| {
        let notebook = format!(
            r#"{{"cells": [{{"cell_type": "markdown", "source": "m"}}, {{"cell_type": "raw", "metadata": {metadata}, "source": "{source}"}}]}}"#
        );
        read(&notebook).unwrap().body.strip_prefix("m\n\n").unwrap().to_owned()
    };
    assert_eq!(
        raw(r#"{"raw_mimetype": "text/html"}"#, "<h2>Kites</h2><p>Fly.</p>"),
        "## Kites\n\nFly.\n"
    );
    assert_eq!(
        raw(r#"{"raw_mimetype": "text/restructuredtext"}"#, "Use ``kite``."),
        "Use `kite`.\n"
    );
    assert_eq!(raw(r#"{"format": "text/markdown"}"#, "Use `kite`."), "Use `kite`.\n");
    assert_eq!(raw("{}", "\\\\vspace kite"), "```\n\\vspace kite\n```\n");
    let first = r#"{"cells": [{"cell_type": "raw", "source": "Not front matter."}]}"#;
    assert_eq!(read(first).unwrap().body, "```\nNot front matter.\n```\n");
}

#[test]
fn cells_are_read_as_programs_write_them() {
    let notebook = r#"{"metadata": {"title": "Kites in Python"}, "cells": [
        {"cell_type": "code", "source": ["a = 1", "b = 2"], "metadata": {"vscode": {"languageId": "julia"}}},
        {"cell_type": "code", "source": "", "outputs": [{"output_type": "stream", "text": "hidden input"}]},
        {"cell_type": "future", "source": "some text"}]}"#;
    let draft = read(notebook).unwrap();
    assert_eq!(
        draft.body,
        "```julia\na = 1\nb = 2\n```\n\n```\nhidden input\n```\n\n```\nsome text\n```\n"
    );
    assert_eq!(draft.matter.title.as_deref(), Some("Kites in Python"));
    let untitled = read(r#"{"metadata": {"title": "Untitled1.ipynb"}, "cells": []}"#).unwrap();
    assert_eq!(untitled.matter.title, None);
}
