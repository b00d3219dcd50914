//! Directives of Sphinx, of its extensions, and unknown ones.

use super::to_markdown;

fn shown(page: &str, expected: &str) {
    assert_eq!(to_markdown(page), expected, "{page}");
}

#[test]
fn the_domain_is_part_of_the_name() {
    shown(
        ".. rst:role:: ref\n\n   Refers to a label.\n\n.. rst:directive:: .. note::\n\n   Shows a box.\n",
        "# `:ref:`\n\nRefers to a label.\n\n# `.. note::`\n\nShows a box.\n",
    );
    shown(
        ".. http:get:: /berths/(int:id)\n\n   One berth.\n\n   :query wide: With details.\n   :statuscode 404: None.\n",
        "# `GET /berths/(int:id)`\n\nOne berth.\n\n- **query wide:** With details.\n- **statuscode 404:** None.\n",
    );
    shown(
        ".. graphql:mutation:: moor(berth)\n\n   Moors.\n",
        "# `moor`\n\n`moor(berth)`\n\nMoors.\n",
    );
}

#[test]
fn descriptions_show_their_fields() {
    shown(
        ".. confval:: berth_limit\n   :type: ``int``\n   :default: ``40``\n   :no-index:\n\n   How many.\n",
        "# `berth_limit` {#confval-berth_limit}\n\n- **type:** `int`\n- **default:** `40`\n\nHow many.\n",
    );
    shown(
        ".. py:data:: TIDE\n   :type: str\n   :value: 'low'\n",
        "`TIDE`\n\n- **type:** str\n- **value:** 'low'\n",
    );
    shown(
        ".. option:: --fast\n   :since: 4.2\n\n   Sails fast.\n",
        "# `--fast` {#cmdoption-fast}\n\n- **since:** 4.2\n\nSails fast.\n",
    );
}

#[test]
fn signatures_show_their_module() {
    shown(
        ".. currentmodule:: kit.sea\n\n.. function:: sail(to)\n\n   Sails.\n\n.. class:: Boat\n\n   .. method:: moor()\n\n      Moors.\n",
        "# `sail` {#kit.sea.sail}\n\n`kit.sea.sail(to)`\n\nSails.\n\n# `Boat` {#kit.sea.Boat}\n\n`class \
         kit.sea.Boat`\n\n## `Boat.moor` {#kit.sea.Boat.moor}\n\n`moor()`\n\nMoors.\n",
    );
}

#[test]
fn titles_of_boxes_are_shown() {
    for name in [
        "tab-item",
        "tab",
        "group-tab",
        "card",
        "grid-item-card",
        "dropdown",
        "admonition",
        "topic",
    ] {
        shown(
            &format!(".. {name}:: The *title*\n   :class: wide\n\n   Text.\n"),
            "**The *title***\n\nText.\n",
        );
    }
    shown(
        ".. exercise:: Knots\n   :label: knots\n\n   Tie one.\n",
        "**Exercise: Knots**\n\nTie one.\n",
    );
    shown(".. exercise::\n\n   Tie one.\n", "**Exercise**\n\nTie one.\n");
    shown(
        ".. prf:theorem:: Tides\n\n   It ebbs.\n",
        "**Theorem: Tides**\n\nIt ebbs.\n",
    );
    shown(
        ".. card::\n\n   Head\n   ^^^\n   Body.\n   +++\n   Foot\n",
        "Head\n\nBody.\n\nFoot\n",
    );
    shown(".. button-link:: https://kit.test\n\n   Sail\n", "Sail\n");
    shown(".. grid:: 1 2\n   :gutter: 2\n\n   Cells.\n", "Cells.\n");
}

#[test]
fn quotations_begin_with_the_argument() {
    shown(
        ".. epigraph:: Sail *away*\n   soon.\n\n   -- A sailor\n",
        "Sail *away*\nsoon.\n\n-- A sailor\n",
    );
    shown(".. rst-class:: lead\n\n   Sail.\n", "Sail.\n");
}

#[test]
fn code_keeps_its_caption() {
    shown(
        ".. code-block:: c\n   :caption: The *main* file\n   :name: main\n\n   int x;\n",
        "**The *main* file**\n\n```c\nint x;\n```\n",
    );
    shown(
        ".. tabs::\n\n   .. code-tab:: py Python 3\n\n      x = 1\n",
        "**Python 3**\n\n```py\nx = 1\n```\n",
    );
}

#[test]
fn code_of_extensions_is_code() {
    for (opening, language) in [
        ("click:example::", "python"),
        ("click:run::", "python"),
        ("ipython::", "ipython"),
        ("plot::\n   :include-source:", "python"),
        ("jupyter-execute::\n   :hide-code:", "python"),
        ("prompt:: bash $", "console"),
        ("testoutput::", ""),
    ] {
        shown(
            &format!(".. {opening}\n\n   x = f(1)\n     # *kept* as it is: |a| :b:`c`\n   y()\n"),
            &format!("```{language}\nx = f(1)\n  # *kept* as it is: |a| :b:`c`\ny()\n```\n"),
        );
    }
    shown(
        ".. marine-runner::\n\n   x = f(1)\n     # *kept*\n",
        "```\nx = f(1)\n  # *kept*\n```\n",
    );
    shown(".. program-output:: kit --help\n", "```console\nkit --help\n```\n");
}

#[test]
fn unknown_directives_keep_their_text() {
    shown(
        ".. marine:: The open sea\n\n   It is *deep*.\n",
        "The open sea\n\nIt is *deep*.\n",
    );
    shown(
        ".. marine:: sea\n   :width: 3\n   :depth: 40 m\n",
        "`sea`\n\n- **depth:** 40 m\n",
    );
    shown(".. marine::\n\n   .. note:: Deep.\n", "**Note:** Deep.\n");
    shown(".. autofunction:: kit.sea.sail\n   :noindex:\n", "`kit.sea.sail`\n");
}

#[test]
fn roles_keep_their_text() {
    for (text, expected) in [
        (":marine:`the open sea`", "the open sea"),
        (":marine:`sea`", "`sea`"),
        (":sea:boat:`a b`", "`a b`"),
        (":file:`/srv/{name}/x`", "`/srv/name/x`"),
        (":abbr:`LIFO (last in)`", "LIFO (last in)"),
        (":ref:`genindex`", "Index"),
        ("_`A place`", "A place"),
        (".. role:: red\n\nA :red:`word`.", "A word."),
        (".. role:: c(code)\n   :language: c\n\nA :c:`int x`.", "A `int x`."),
        (
            ".. role:: html(raw)\n   :format: html\n\nA :html:`<b>word</b>`.",
            "A word.",
        ),
        ("Part_\n\nPart\n----\n", "Part\n\n# Part"),
        ("See it__.\n\n__ https://kit.test", "See it."),
    ] {
        shown(text, &format!("{expected}\n"));
    }
}

#[test]
fn footnotes_have_their_numbers() {
    shown(
        "A [#]_, b [#x]_, c [2]_, d [#]_, e [Kit]_.\n\n.. [#] One.\n.. [2] Two.\n.. [#x] Three.\n.. [#] Four.\n.. [Kit] Five.\n",
        "A [1], b [3], c [2], d [4], e [Kit].\n\n[1] One.\n\n[2] Two.\n\n[3] Three.\n\n[4] Four.\n\n[Kit] Five.\n",
    );
}

#[test]
fn images_show_their_text() {
    shown(".. image:: a.png\n   :alt: A *boat*\n", "![A \\*boat\\*](a.png)\n");
    shown(".. image:: a.png\n", "");
    shown(
        ".. figure:: a.png\n   :alt: Boat\n\n   Caption.\n\n   Legend.\n",
        "![Boat](a.png)\n\nCaption.\n\nLegend.\n",
    );
}

#[test]
fn subtitles_and_text_below_lines_are_shown() {
    shown(
        ".. sidebar:: Sails\n   :subtitle: And *masts*\n\n   Text.\n",
        "**Sails**\n\nAnd *masts*\n\nText.\n",
    );
    shown(".. rubric:: Sails\n\n   Text.\n", "**Sails**\n\nText.\n");
    shown(
        ".. image:: a.png\n   :alt: A boat\n\n   Text.\n",
        "![A boat](a.png)\n\nText.\n",
    );
}
