"""A builder of Sphinx that writes the text of each page as PAGE.words: what a reader sees, without lists of other pages,
comments and messages."""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import changeset

# What Sphinx writes before the description of parameters and the like; the source has `:param name:`.
LABELS = re.compile(r"(Parameters|Returns?|Return type|Raises|Yields|Type)$")
UNKNOWN_ROLE = re.compile(r":[\w:.+-]+:(?=`)")


def shown(node: nodes.Node) -> list[str]:
    """The texts in a node, one for each paragraph, title or the like."""
    if isinstance(node, nodes.Invisible | nodes.system_message | nodes.raw | addnodes.toctree):
        return []
    if isinstance(node, nodes.topic | nodes.compound) and {"contents", "toctree-wrapper"} & {*node["classes"]}:
        return []
    if isinstance(node, nodes.image):
        return [node.get("alt", "")]
    if isinstance(node, nodes.field_name) and LABELS.match(node.astext()):
        return []
    if isinstance(node, nodes.TextElement):
        return [UNKNOWN_ROLE.sub("", node.astext())]
    return [text for child in node.children for text in shown(child)]


class Words(Builder):
    name = "words"
    format = "words"
    allow_parallel = False

    def get_outdated_docs(self) -> set[str]:
        return self.env.found_docs

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        return docname

    def prepare_writing(self, docnames: set[str]) -> None:
        """Nothing to prepare."""

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        file = Path(self.outdir) / f"{docname}.words"
        file.parent.mkdir(parents=True, exist_ok=True)
        # Numbers of sections, and the head and foot that all pages have.
        for made in [*doctree.findall(nodes.generated), *doctree.findall(nodes.decoration)]:
            made.parent.remove(made)
        file.write_text("\n".join(shown(doctree)))


def setup(app: Sphinx) -> None:
    changeset.versionlabels["versionadded"] = "New in version %s"
    app.add_builder(Words)
