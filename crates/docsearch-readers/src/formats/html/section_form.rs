//! The form of the sections of a page. A section that all pages have shares it, a footer does not.

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::heading;

/// Maximum elements that a section has around its heading, and one more.
const MAX_SECTION_DEPTH: usize = 3;

/// How a page forms its sections: where their headings are, and the names and classes of these and of the elements that
/// each section has for itself.
#[derive(Debug, Default)]
pub(super) struct SectionForms(HashSet<(NodeId, Vec<String>)>);

/// A section: an element of its own, or what follows its heading in an element.
pub(super) enum Section {
    Within(NodeId),
    After(NodeId),
}

impl SectionForms {
    /// The forms of the sections with these headings; other nodes have none.
    pub(super) fn of<'a>(nodes: impl Iterator<Item = &'a NodeRef<'a>>) -> Self {
        let headings = nodes.filter(|node| heading::level(node).is_some());
        Self(headings.flat_map(forms).map(|(outer, form)| (outer.id, form)).collect())
    }

    /// The section that begins with `node`, if it has the form of those of the page.
    pub(super) fn section(&self, node: &NodeRef<'_>) -> Option<Section> {
        let heading = first_heading(node)?;
        let (outer, form) = forms(&heading).find(|(outer, form)| self.0.contains(&(outer.id, form.clone())))?;
        if form.len() == 1 {
            return Some(Section::After(outer.id));
        }
        let mut around = heading.ancestors_it(None);
        let is_own = |around: &NodeRef<'_>| around.parent().is_some_and(|parent| parent.id == outer.id);
        around.find(is_own).map(|own| Section::Within(own.id))
    }
}

impl Section {
    pub(super) fn has(&self, node: &NodeRef<'_>) -> bool {
        match self {
            Self::Within(own) => node.id == *own || node.ancestors_it(None).any(|outer| outer.id == *own),
            Self::After(outer) => node.parent().is_some_and(|parent| parent.id == *outer),
        }
    }
}

fn first_heading<'a>(node: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    if heading::level(node).is_some() {
        return Some(*node);
    }
    node.descendants_it().find(|inner| heading::level(inner).is_some())
}

/// The elements around a heading, each with the names and classes of what is between. What is between begins with this
/// heading.
fn forms<'a>(heading: &NodeRef<'a>) -> impl Iterator<Item = (NodeRef<'a>, Vec<String>)> {
    let form = |node: &NodeRef<'_>| {
        let name = node.node_name().unwrap_or_default();
        format!("{name} {}", node.attr("class").unwrap_or_default())
    };
    let (id, mut inner, mut between) = (heading.id, *heading, Vec::new());
    heading
        .ancestors_it(None)
        .take(MAX_SECTION_DEPTH)
        .map_while(move |outer| {
            let is_of_heading = first_heading(&inner).is_some_and(|first| first.id == id);
            between.push(form(&inner));
            inner = outer;
            is_of_heading.then(|| (outer, between.clone()))
        })
}
