//! Tables, as drawings and as directives.

use super::to_markdown;

fn shown(page: &str, expected: &str) {
    assert_eq!(to_markdown(page), expected, "{page}");
}

#[test]
fn list_tables_keep_empty_cells_and_titles() {
    shown(
        ".. list-table:: Options\n   :header-rows: 1\n\n   * - Option\n     - Type\n     - Meaning\n   * - ``cache``\n     - bool\n     - Keeps it.\n\n       Second *part*.\n   * - ``retries``\n     - int\n     -\n   * -\n     - int\n     - b\n",
        "**Options**\n\n| Option | Type | Meaning |\n| --- | --- | --- |\n| `cache` | bool | Keeps it. Second *part*. |\n| `retries` | int |  |\n|  | int | b |\n",
    );
    shown(
        ".. list-table::\n\n   * - a\n     - b\n",
        "|  |  |\n| --- | --- |\n| a | b |\n",
    );
    shown(
        ".. list-table::\n   :header-rows: 2\n\n   * - a\n   * - b\n   * - * c\n       * d\n",
        "| a |\n| --- |\n| b |\n| - c - d |\n",
    );
}

#[test]
fn code_in_cells_is_kept() {
    shown(
        ".. list-table::\n\n   * - Run\n     - .. code-block:: sh\n\n          a |\n            b\n",
        "Run\n\n```sh\na |\n  b\n```\n",
    );
}

#[test]
fn csv_tables_are_tables() {
    shown(
        ".. csv-table:: Prices\n   :header: \"Treat\", \"Price\"\n   :widths: 15, 10\n\n   \"Crunchy, \"\"Frog\"\"\", 1.49\n   \"two\n   lines\", *b*\n   Gannet,\n",
        "**Prices**\n\n| Treat | Price |\n| --- | --- |\n| Crunchy, \"Frog\" | 1.49 |\n| two lines | *b* |\n| Gannet |  |\n",
    );
    shown(
        ".. csv-table::\n   :header-rows: 1\n   :delim: ;\n   :quote: '\n\n   A; 'B; C'\n   1; 2\n",
        "| A | B; C |\n| --- | --- |\n| 1 | 2 |\n",
    );
}

#[test]
fn cells_of_grids_span_columns_and_rows() {
    shown(
        "\
+------------+------------+-----------+
| Header 1   | Header 2   | Header 3  |
+============+============+===========+
| body row 1 | column 2   | column 3  |
+------------+------------+-----------+
| body row 2 | Cells may span columns.|
+------------+------------+-----------+
| body row 3 | Cells may  | - Cells   |
+------------+ span rows. | - contain |
| body row 4 |            | - blocks. |
+------------+------------+-----------+
",
        "\
| Header 1 | Header 2 | Header 3 |
| --- | --- | --- |
| body row 1 | column 2 | column 3 |
| body row 2 | Cells may span columns. |  |
| body row 3 | Cells may span rows. | - Cells - contain - blocks. |
| body row 4 |  |  |
",
    );
}

#[test]
fn borders_of_grids_may_be_out_of_line() {
    shown(
        "\
+----------+-----------+
| Name     | Use       |
+==========+=============+
| spoon    | hot soup here |
+----------+----+
",
        "\
| Name | Use |
| --- | --- |
| spoon | hot soup here |
",
    );
}

#[test]
fn drawings_with_gaps_are_kept_as_they_are() {
    let drawing = "+---+---+\n| a | b |\n+---+ - +\n";
    shown(drawing, &format!("```\n{drawing}```\n"));
}

#[test]
fn cells_of_simple_tables_span_columns() {
    shown(
        "\
=====  =====  ======
   Inputs     Output
------------  ------
  A      B    A or B
=====  =====  ======
False  False  False
True   Long text here
=====  =====  ======
",
        "\
| Inputs |  | Output |
| --- | --- | --- |
| A | B | A or B |
| False | False | False |
| True | Long text here |  |
",
    );
}

#[test]
fn wide_characters_take_two_columns() {
    shown(
        "====  ====\n名前  値\n====  ====\n温度  高い\n====  ====\n",
        "| 名前 | 値 |\n| --- | --- |\n| 温度 | 高い |\n",
    );
}

#[test]
fn tables_have_titles() {
    shown(
        ".. table:: Support\n\n   ==== ====\n   a    b\n   ==== ====\n",
        "**Support**\n\n|  |  |\n| --- | --- |\n| a | b |\n",
    );
}
