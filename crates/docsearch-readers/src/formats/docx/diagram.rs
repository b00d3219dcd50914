//! The texts of SmartArt and of charts, which are parts of their own.

use std::collections::{HashMap, HashSet};

use crate::bytes::xml::{Element, Node};
use crate::text::markdown_text;

const MAX_DEPTH: usize = 8;
/// A chart with more points is data.
const MAX_POINTS: usize = 100;

/// The shapes of a SmartArt as a list; shapes within others are below them.
pub(super) fn list(data: &Element) -> Vec<String> {
    let children = |name: &str| data.child(name).into_iter().flat_map(Element::elements);
    let mut texts: HashMap<&str, String> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for point in children("ptLst") {
        let (Some(id), kind) = (point.attribute("modelId"), point.attribute("type")) else {
            continue;
        };
        // The others are lines between shapes, and how shapes look.
        if matches!(kind, None | Some("node" | "asst" | "doc")) {
            order.push(id);
            texts.insert(id, point.child("t").map(paragraphs).unwrap_or_default().join(" "));
        }
    }
    let mut below: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    let mut inner: HashSet<&str> = HashSet::new();
    for link in children("cxnLst").filter(|link| matches!(link.attribute("type"), None | Some("parOf"))) {
        let (Some(parent), Some(child)) = (link.attribute("srcId"), link.attribute("destId")) else {
            continue;
        };
        let place = link
            .attribute("srcOrd")
            .and_then(|place| place.parse().ok())
            .unwrap_or(0);
        below.entry(parent).or_default().push((place, child));
        inner.insert(child);
    }
    for children in below.values_mut() {
        children.sort_unstable();
    }
    let roots = order.iter().copied().filter(|id| !inner.contains(id));
    let mut open: Vec<(usize, &str)> = roots.map(|id| (0, id)).collect();
    // Shapes that are only within each other.
    open.extend(order.iter().map(|id| (0, *id)));
    open.reverse();
    let (mut items, mut seen) = (Vec::new(), HashSet::new());
    while let Some((depth, id)) = open.pop() {
        let Some(text) = texts.get(id).filter(|_| seen.insert(id)) else {
            continue;
        };
        let has_text = !text.is_empty();
        if has_text {
            let indent = "  ".repeat(depth.min(MAX_DEPTH));
            items.push(format!(
                "{indent}- {}",
                markdown_text::paragraph(&markdown_text::escape(text))
            ));
        }
        let children = below.get(id).into_iter().flatten().rev();
        open.extend(children.map(|(_, child)| (depth + usize::from(has_text), *child)));
    }
    match items.is_empty() {
        true => Vec::new(),
        false => vec![markdown_text::list(&items)],
    }
}

/// The titles of a chart, and its data as a table.
pub(super) fn chart(root: &Element) -> Vec<String> {
    let mut blocks = Vec::new();
    titles(root, &mut blocks);
    let mut series = Vec::new();
    gather(root, "ser", &mut series);
    let Some(first) = series.first() else {
        return blocks;
    };
    let categories = first
        .child("cat")
        .or_else(|| first.child("xVal"))
        .map(points)
        .unwrap_or_default();
    let name = |one: &&Element| {
        one.child("tx")
            .map(points)
            .unwrap_or_default()
            .into_iter()
            .next()
            .unwrap_or_default()
    };
    let names: Vec<String> = series.iter().map(name).collect();
    let values: Vec<Vec<String>> = series
        .iter()
        .map(|one| {
            one.child("val")
                .or_else(|| one.child("yVal"))
                .map(points)
                .unwrap_or_default()
        })
        .collect();
    let longest = values.iter().map(Vec::len).max().unwrap_or(0).max(categories.len());
    let cell = |texts: &[String], at: usize| {
        texts
            .get(at)
            .map(|text| markdown_text::escape(text))
            .unwrap_or_default()
    };
    let mut rows = vec![
        [String::new()]
            .into_iter()
            .chain(names.iter().map(|name| markdown_text::escape(name)))
            .collect(),
    ];
    if longest * series.len() <= MAX_POINTS {
        rows.extend((0..longest).map(|at| {
            let row = [cell(&categories, at)].into_iter();
            row.chain(values.iter().map(|values| cell(values, at)))
                .collect::<Vec<_>>()
        }));
    } else {
        rows.extend((0..categories.len()).map(|at| vec![cell(&categories, at)]));
    }
    if rows.iter().flatten().any(|cell| !cell.is_empty()) {
        blocks.push(markdown_text::table(&rows));
    }
    blocks
}

/// Titles of the chart and of its axes, and its notes.
fn titles(element: &Element, blocks: &mut Vec<String>) {
    for child in element.elements() {
        match child.name.as_str() {
            "rich" | "txData" => {
                let text = paragraphs(child).join(" ");
                if !text.is_empty() {
                    blocks.push(markdown_text::paragraph(&markdown_text::escape(&text)));
                }
            }
            _ => titles(child, blocks),
        }
    }
}

/// The cached texts of a reference to cells, in their places.
fn points(reference: &Element) -> Vec<String> {
    let mut points = Vec::new();
    gather(reference, "pt", &mut points);
    let texts = points
        .into_iter()
        .map(|point| point.child("v").and_then(Element::text).unwrap_or_default());
    let texts: Vec<String> = texts.collect();
    match texts.is_empty() {
        true => reference.text().into_iter().collect(),
        false => texts,
    }
}

/// The text of every paragraph that has some.
fn paragraphs(text: &Element) -> Vec<String> {
    let mut paragraphs = Vec::new();
    gather(text, "p", &mut paragraphs);
    if paragraphs.is_empty() {
        return text.text().into_iter().collect();
    }
    let texts = paragraphs.into_iter().map(|paragraph| {
        let mut text = String::new();
        runs(paragraph, &mut text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    texts.filter(|text| !text.is_empty()).collect()
}

/// The text of the runs in a paragraph, with a space for a line break.
fn runs(element: &Element, text: &mut String) {
    for child in &element.children {
        match child {
            Node::Text(own) if element.name == "t" => text.push_str(own),
            Node::Element(child) if child.name == "br" => text.push(' '),
            Node::Element(child) => runs(child, text),
            Node::Text(_) => {}
        }
    }
}

/// The elements of a name, but not those within one of them.
fn gather<'a>(parent: &'a Element, name: &str, found: &mut Vec<&'a Element>) {
    for child in parent.elements() {
        match child.name == name {
            true => found.push(child),
            false => gather(child, name, found),
        }
    }
}
