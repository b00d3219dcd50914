//! What directives show. The names are those of docutils, Sphinx and its extensions; any other one keeps its argument
//! and its text.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What a reader of the page sees of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What the author says of the page, for search engines.
    Metadata,
    /// Nothing: navigation, settings, and what is not part of the text.
    Silent,
    /// Code, whose language is the argument.
    Code,
    /// Code in this language.
    CodeIn(&'static str),
    /// Code whose language and title are the argument.
    CodeTab,
    /// Code with markup in it.
    ParsedLiteral,
    /// Formulas.
    Math,
    /// A label before the text; the argument is part of the text.
    Labelled(&'static str),
    /// A label with a version before the text.
    Change(&'static str),
    /// A title, which is the argument, before the text. The label is shown with it or, if it is empty, alone.
    Titled(&'static str),
    /// A line of text.
    Line,
    /// Its text. The argument is a setting of the layout.
    Layout,
    /// Its text, which begins with the argument.
    Text,
    /// Its text or, without any, the argument.
    Button,
    Table,
    ListTable,
    CsvTable,
    Image,
    Figure,
    /// Text of another format, which the argument names.
    Raw,
    /// The description of something with a name.
    Definition,
    /// A name that another program documents.
    Automatic,
}

/// The kind of a directive, whose name is in lower case; `None` for an unknown one. A directive of a domain that is not
/// a row describes something.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    let standard = name.strip_prefix("std:").unwrap_or(name);
    match KINDS.get(standard) {
        Some(kind) => Some(*kind),
        None if name.starts_with("auto") => Some(Kind::Automatic),
        None if name.contains(':') => Some(Kind::Definition),
        None => None,
    }
}

/// Whether the directive is a row or one of a domain that Sphinx or a common extension has.
pub(crate) fn is_known(name: &str) -> bool {
    let domain = name.split_once(':').map(|(domain, _)| domain);
    KINDS.contains_key(name) || name.starts_with("auto") || domain.is_some_and(is_domain)
}

/// Whether the directive shows code, in which markup is only shown.
pub(crate) fn is_code(name: &str) -> bool {
    matches!(
        kind(name),
        Some(Kind::Code | Kind::CodeIn(_) | Kind::CodeTab | Kind::ParsedLiteral)
    )
}

/// Whether a domain is one of Sphinx or of a common extension.
pub(crate) fn is_domain(name: &str) -> bool {
    DOMAINS.contains(&name)
}

const DOMAINS: [&str; 14] = [
    "c", "cpp", "py", "js", "rst", "std", "math", "http", "prf", "proof", "php", "rb", "java", "go",
];

static KINDS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| {
    let rows = ROWS.iter();
    rows.flat_map(|(kind, names)| names.split_whitespace().map(|name| (name, *kind)))
        .collect()
});

/// Names are separated by blanks.
const ROWS: &[(Kind, &str)] = &[
    (
        Kind::Silent,
        "toctree contents index include literalinclude sectionauthor moduleauthor codeauthor \
         tabularcolumns default-role default-domain todo todolist role title highlight highlightlang \
         testsetup testcleanup sectnum section-numbering target-notes header footer \
         currentmodule py:currentmodule program c:namespace c:namespace-push c:namespace-pop cpp:namespace \
         cpp:namespace-push cpp:namespace-pop bibliography date sitemap",
    ),
    (Kind::Metadata, "meta"),
    (
        Kind::Code,
        "code-block code sourcecode highlight-block runblock tab-code",
    ),
    (Kind::CodeTab, "code-tab"),
    (
        Kind::CodeIn("console"),
        "console prompt terminal shell program-output command-output",
    ),
    (Kind::CodeIn("pycon"), "doctest"),
    (
        Kind::CodeIn("python"),
        "testcode plot jupyter-execute click:example click:run pyplot execute_code",
    ),
    (Kind::CodeIn("ipython"), "ipython ipython3"),
    (Kind::CodeIn("graphviz"), "graphviz"),
    (Kind::CodeIn("mermaid"), "mermaid"),
    (Kind::CodeIn("plantuml"), "uml plantuml"),
    (Kind::CodeIn("dot"), "digraph graph"),
    (Kind::CodeIn(""), "testoutput productionlist jupyter-output"),
    (Kind::ParsedLiteral, "parsed-literal"),
    (Kind::Math, "math"),
    (Kind::Labelled("Note"), "note"),
    (Kind::Labelled("Warning"), "warning"),
    (Kind::Labelled("Tip"), "tip"),
    (Kind::Labelled("Hint"), "hint"),
    (Kind::Labelled("Important"), "important"),
    (Kind::Labelled("Caution"), "caution"),
    (Kind::Labelled("Danger"), "danger"),
    (Kind::Labelled("Attention"), "attention"),
    (Kind::Labelled("Error"), "error"),
    (Kind::Labelled("See also"), "seealso"),
    (Kind::Labelled("Availability"), "availability"),
    (Kind::Labelled("CPython implementation detail"), "impl-detail"),
    (Kind::Change("New in version"), "versionadded"),
    (Kind::Change("Changed in version"), "versionchanged"),
    (Kind::Change("Deprecated since version"), "deprecated"),
    (Kind::Change("Removed in version"), "versionremoved deprecated-removed"),
    (
        Kind::Titled(""),
        "admonition topic sidebar dropdown details collapse tab-item tab group-tab tabbed card grid-item-card",
    ),
    (Kind::Titled("Exercise"), "exercise exercise-start"),
    (Kind::Titled("Solution"), "solution solution-start"),
    (Kind::Titled("Proof"), "proof prf:proof proof:proof"),
    (Kind::Titled("Theorem"), "theorem prf:theorem proof:theorem"),
    (Kind::Titled("Lemma"), "lemma prf:lemma proof:lemma"),
    (Kind::Titled("Corollary"), "corollary prf:corollary proof:corollary"),
    (
        Kind::Titled("Proposition"),
        "proposition prf:proposition proof:proposition",
    ),
    (Kind::Titled("Definition"), "prf:definition proof:definition"),
    (Kind::Titled("Example"), "prf:example proof:example"),
    (Kind::Titled("Remark"), "prf:remark proof:remark"),
    (Kind::Titled("Algorithm"), "algorithm prf:algorithm proof:algorithm"),
    (Kind::Titled("Axiom"), "prf:axiom"),
    (Kind::Titled("Criterion"), "prf:criterion"),
    (Kind::Titled("Conjecture"), "prf:conjecture"),
    (Kind::Titled("Property"), "prf:property"),
    (Kind::Titled("Observation"), "prf:observation"),
    (Kind::Titled("Assumption"), "prf:assumption"),
    (Kind::Line, "rubric centered"),
    (
        Kind::Layout,
        "container rst-class cssclass only ifconfig hlist tabs tab-set tab-set-code grid grid-item card-carousel panels \
         columns column div centering compact exercise-end \
         solution-end margin",
    ),
    (
        Kind::Text,
        "epigraph highlights pull-quote compound glossary acks line-block",
    ),
    (Kind::Button, "button-link button-ref"),
    (Kind::Table, "table"),
    (Kind::ListTable, "list-table flat-table"),
    (Kind::CsvTable, "csv-table"),
    (Kind::Raw, "raw"),
    (Kind::Image, "image"),
    (Kind::Figure, "figure kernel-figure"),
    (
        Kind::Definition,
        "class function method attribute exception data classmethod staticmethod property decorator \
         decoratormethod setting templatetag templatefilter fieldlookup django-admin django-admin-option \
         option cmdoption envvar describe object type macro member var enum enumerator struct union confval \
         opcode variable pdbcommand 2to3fixer audit-event directive constant",
    ),
    (
        Kind::Automatic,
        "click argparse doxygenfile doxygenclass doxygenfunction doxygenstruct kernel-doc",
    ),
];

/// Options that set the layout or the processing of a directive, and are not shown.
const SETTINGS: &str = "class name align width widths height scale figwidth figclass target loading lineno-start \
         emphasize-lines linenos dedent force encoding tab-width language columns gutter margin padding \
         outline link link-type link-alt shadow color icon animate chevron sync selected open hidden maxdepth \
         local backlinks module canonical toctree template members undoc-members exclude-members \
         special-members private-members member-order show-inheritance caption label nowrap substitutions \
         no-index noindex no-index-entry noindexentry no-contents-entry nocontentsentry no-typesetting \
         single-line-parameter-list kernel hide-code hide-output code-below include-source context okwarning \
         okexcept suppress savefig doctest pyversion options number nonumber synopsis";

static SETTING_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| SETTINGS.split_whitespace().collect());

/// Whether a reader sees the option of a description or of an unknown directive.
pub(crate) fn is_shown(option: &str, value: &str) -> bool {
    !value.is_empty() && !SETTING_NAMES.contains(option) && !option.starts_with("class-")
}
