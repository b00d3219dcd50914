//! Tables.

use super::draft;

fn body(table: &str) -> String {
    let body = draft(&format!("<main><h1>Kit</h1>{table}</main>")).body;
    body.strip_prefix("# Kit\n").unwrap_or(&body).trim().to_owned()
}

#[test]
fn the_value_of_a_cell_that_spans_rows_is_in_each_of_them() {
    assert_eq!(
        body(
            "<table><tr><th>Region</th><th>Year</th><th>Price</th></tr><tr><td rowspan=2>North</td><td>1</td><td>2</td></tr>\
             <tr><td>3</td><td>4</td></tr><tr><td colspan=3>all of it</td></tr><tr></tr></table>"
        ),
        "| Region | Year | Price |\n| ------ | ---- | ----- |\n| North | 1 | 2 |\n| North | 3 | 4 |\n| all of it |  |  |"
    );
}

#[test]
fn the_foot_of_a_table_comes_last() {
    assert_eq!(
        body(
            "<table><thead><tr><th>Kind</th></tr></thead><tfoot><tr><td>all</td></tr></tfoot><tbody><tr><td>boat</td></tr></tbody></table>"
        ),
        "| Kind |\n| ---- |\n| boat |\n| all |"
    );
}

#[test]
fn a_span_of_no_rows_is_one_of_all_that_follow() {
    assert_eq!(
        body(
            "<table><tr><th>Kind</th><th>Size</th></tr><tr><td rowspan=0>boat</td><td>1</td></tr><tr><td>2</td></tr></table>"
        ),
        "| Kind | Size |\n| ---- | ---- |\n| boat | 1 |\n| boat | 2 |"
    );
}

#[test]
fn elements_with_the_roles_of_a_table_are_one() {
    let cells = |role: &str, one: &str, two: &str| {
        format!("<div role=row><span role={role}>{one}</span><span role={role}>{two}</span></div>")
    };
    let (head, row) = (cells("columnheader", "Kind", "Size"), cells("cell", "boat", "1"));
    let expected = "| Kind | Size |\n| ---- | ---- |\n| boat | 1 |";
    assert_eq!(body(&format!("<div role=table>{head}{row}</div>")), expected);
    let grouped = format!("<div role=grid><div role=rowgroup>{head}</div><div role=rowgroup>{row}</div></div>");
    assert_eq!(body(&grouped), expected);
    let irregular = format!("<div role=table>{head}<div>Between</div>{row}</div>");
    assert!(body(&irregular).contains("Between"), "{irregular}");
}

#[test]
fn heads_of_several_rows_are_one() {
    assert_eq!(
        body(
            "<table><thead><tr><th rowspan=2>Region</th><th colspan=2>Price</th></tr><tr><th>Low</th><th>High</th></tr></thead>\
             <tbody><tr><td>North</td><td>1</td><td>2</td></tr></tbody></table>"
        ),
        "| Region | Price Low | Price High |\n| ------ | --------- | ---------- |\n| North | 1 | 2 |"
    );
    assert_eq!(
        body(
            "<table><tr><th colspan=2>Prices</th></tr><tr><th>Low</th><th>High</th></tr><tr><td>1</td><td>2</td></tr></table>"
        ),
        "Prices\n\n\n| Low | High |\n| --- | ---- |\n| 1 | 2 |"
    );
}

#[test]
fn blocks_in_cells_stay_with_their_row_and_column() {
    assert_eq!(
        body(
            "<table><tr><th>Option</th><th>Text</th></tr><tr><td><code>a|b</code></td><td><p>First.</p><ul><li>one</li>\
             <li>two</li></ul><pre>x = 1\n  y = 2</pre></td></tr><tr><td rowspan=2>c</td><td><h3 id=h>Heading</h3>under it</td></tr>\
             <tr><td>more</td></tr></table>"
        ),
        "- **Option:** `a|b`\n\n  **Text:** First.\n\n    - one\n    - two\n\n  ```\n  x = 1\n    y = 2\n  ```\n\
         - **Option:** c\n\n  **Text:**\n\n  **Heading**\n\n  under it\n\n- **Option:** c\n\n  **Text:** more"
    );
    assert_eq!(
        body(
            "<table><tr><th>Option</th><th>Text</th></tr><tr><td>cache</td><td><ul><li>keeps pages</li><li>for an hour</li></ul></td></tr></table>"
        ),
        "| Option | Text |\n| ------ | ---- |\n| cache | + keeps pages<br>+ for an hour |"
    );
}

#[test]
fn rows_with_names_of_their_own_stay_apart() {
    assert_eq!(
        body(
            "<table><tr><th>cache</th><td>Keeps pages:<pre>on</pre></td></tr><tr><th>log</th><td>Nothing.</td></tr>\
             <tr><th>end</th><td></td></tr></table>"
        ),
        "- **cache:** Keeps pages:\n\n  ```\n  on\n  ```\n- **log:** Nothing.\n\n- **end**"
    );
}

#[test]
fn a_table_in_a_table_stays_in_its_cell() {
    let table = body(
        "<table><tr><th>Kind</th><th>Sizes</th></tr><tr><td>boat</td><td><table><tr><th>long</th><th>wide</th></tr>\
         <tr><td>4</td><td>2</td></tr></table></td></tr></table>",
    );
    assert_eq!(
        table,
        "- **Kind:** boat\n\n  **Sizes:**\n\n    - **long:** 4\n\n      **wide:** 2"
    );
}

#[test]
fn tables_that_arrange_the_page_are_taken_apart() {
    for (table, expected) in [
        (
            "<table><tr><td>outer<table><tr><td>inner</td><td>deep</td></tr></table></td><td>right</td></tr></table>",
            "outer\n\n\n|   |   |\n| - | - |\n| inner | deep |\n\nright",
        ),
        (
            "<table><tr><td><h2 id=a>One</h2><p>Text.</p></td><td><pre>code</pre></td></tr></table>",
            "## One {#a}\n\nText.\n\n```\ncode\n```",
        ),
        (
            "<table><tr><th>Kit</th></tr><tr><td><h2>One</h2>Text.<h2>Two</h2>More.</td></tr></table>",
            "Kit\n\n## One\n\nText.\n\n## Two\n\nMore.",
        ),
    ] {
        assert_eq!(body(table), expected, "{table}");
    }
}
