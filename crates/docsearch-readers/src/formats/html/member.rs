//! Signatures, lists of members, and parameters, which Doxygen arranges in tables.

use dom_query::{NodeRef, Selection};

use super::{collapse, escape};

/// Makes code of signatures, and lists of the rest.
pub(super) fn normalise(main: &NodeRef<'_>) {
    let main = Selection::from(*main);
    for table in main.select("table.memname").nodes() {
        write_signature(table);
    }
    for table in main.select("table.mlabels").nodes() {
        release_labels(table);
    }
    for table in main.select("table.memberdecls").nodes() {
        list_members(table);
    }
    for table in main
        .select("table.params, table.tparams, table.retval, table.exception")
        .nodes()
    {
        list_parameters(table);
    }
}

fn rows<'a>(table: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    table.descendants_it().filter(|node| node.has_name("tr")).collect()
}

fn cells<'a>(row: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    row.element_children()
        .into_iter()
        .filter(|cell| cell.has_name("td") || cell.has_name("th"))
        .collect()
}

/// A signature has a cell for each type, name and parenthesis.
fn write_signature(table: &NodeRef<'_>) {
    let mut signature = String::new();
    for cell in rows(table).iter().flat_map(cells) {
        let text = collapse(&cell.text());
        let is_joined = signature.is_empty() || signature.ends_with('(') || text.starts_with(['(', ')']);
        if !text.is_empty() {
            signature.push_str(if is_joined { "" } else { " " });
            signature.push_str(&text);
        }
    }
    table.set_html(format!("<code>{}</code>", escape(&signature)));
    table.rename("pre");
}

/// Takes a signature out of the table that has `inline`, `static` and the like beside it.
fn release_labels(table: &NodeRef<'_>) {
    let labels: Vec<String> = Selection::from(*table)
        .select(".mlabel")
        .iter()
        .map(|label| collapse(&label.text()))
        .collect();
    for signature in Selection::from(*table).select("pre").nodes() {
        table.insert_before(&signature.id);
    }
    table.set_html(escape(&labels.join(", ")));
    table.rename("p");
}

fn list_members(table: &NodeRef<'_>) {
    let mut list: Option<NodeRef<'_>> = None;
    // The parameters of a template are in the row before.
    let mut before = String::new();
    for row in rows(table) {
        let cells = cells(&row);
        let has = |beginning: &str| {
            let mut classes = cells.iter().filter_map(|cell| cell.class());
            classes.any(|class| class.starts_with(beginning))
        };
        if has("memSeparator") {
            continue;
        }
        let text = collapse(
            &cells
                .iter()
                .map(|cell| cell.text().to_string())
                .collect::<Vec<_>>()
                .join(" "),
        );
        if has("memTemplParams") {
            before = format!("{before} {text}");
        } else if has("mem") {
            let list = list.get_or_insert_with(|| new_before(table, "ul"));
            let item = table.tree.new_element("li");
            list.append_child(&item.id);
            for target in Selection::from(row).select("a[id]").nodes() {
                target.set_html("");
                item.append_child(&target.id);
            }
            let member = format!("{} {text}", std::mem::take(&mut before));
            item.append_html(format!("<code>{}</code>", escape(member.trim())));
        } else if has("mdesc") {
            let item = list.as_ref().and_then(NodeRef::last_child);
            let item = item.unwrap_or_else(|| new_before(table, "p"));
            if item.has_name("li") {
                item.append_html(": ");
            }
            let filled: Vec<NodeRef<'_>> = cells
                .iter()
                .copied()
                .filter(|cell| !collapse(&cell.text()).is_empty())
                .collect();
            move_content(&filled, &item);
        } else {
            // A heading or the name of a group.
            list = None;
            write_code(table, &std::mem::take(&mut before));
            move_content(&cells, &new_before(table, "div"));
        }
    }
    write_code(table, &before);
    table.remove_from_parent();
}

fn write_code(table: &NodeRef<'_>, text: &str) {
    if !text.is_empty() {
        let paragraph = new_before(table, "p");
        paragraph.set_html(format!("<code>{}</code>", escape(text.trim())));
    }
}

fn list_parameters(table: &NodeRef<'_>) {
    let list = new_before(table, "ul");
    for row in rows(table) {
        let cells = cells(&row);
        let Some((description, named)) = cells.split_last() else {
            continue;
        };
        let item = table.tree.new_element("li");
        list.append_child(&item.id);
        for cell in named {
            let text = escape(&collapse(&cell.text()));
            let html = match cell.has_class("paramname") {
                true => format!("<code>{text}</code> "),
                false => format!("{text} "),
            };
            item.append_html(html);
        }
        move_content(std::slice::from_ref(description), &item);
    }
    table.remove_from_parent();
}

fn new_before<'a>(table: &NodeRef<'a>, name: &str) -> NodeRef<'a> {
    let node = table.tree.new_element(name);
    table.insert_before(&node.id);
    node
}

fn move_content(cells: &[NodeRef<'_>], target: &NodeRef<'_>) {
    for child in cells.iter().flat_map(|cell| cell.children()) {
        target.append_child(&child.id);
    }
}
