//! Formulas as one line of text, as one types them into Word.

use crate::bytes::xml::{Element, Node};

/// Integrals and sums without a sign of their own are integrals.
const INTEGRAL: &str = "∫";

/// The formula in an element.
pub(super) fn line(element: &Element) -> String {
    let mut text = String::new();
    for child in element.elements() {
        write(child, &mut text);
    }
    text
}

fn write(element: &Element, text: &mut String) {
    let part = |name: &str| element.child(name).map(line).unwrap_or_default();
    let property = |properties: &str, name: &str| element.child(properties)?.child(name)?.attribute("val");
    match element.name.as_str() {
        "t" => {
            for node in &element.children {
                if let Node::Text(own) = node {
                    text.push_str(own);
                }
            }
        }
        "f" => text.push_str(&format!("{}/{}", grouped(&part("num")), grouped(&part("den")))),
        "sSup" => text.push_str(&format!("{}^{}", part("e"), grouped(&part("sup")))),
        "sSub" => text.push_str(&format!("{}_{}", part("e"), grouped(&part("sub")))),
        "sSubSup" => {
            let (base, sub, sup) = (part("e"), grouped(&part("sub")), grouped(&part("sup")));
            text.push_str(&format!("{base}_{sub}^{sup}"));
        }
        "sPre" => {
            let (base, sub, sup) = (part("e"), grouped(&part("sub")), grouped(&part("sup")));
            text.push_str(&format!("_{sub}^{sup}{base}"));
        }
        "rad" => text.push_str(&format!("{}√{}", part("deg"), grouped(&part("e")))),
        "nary" => {
            text.push_str(property("naryPr", "chr").unwrap_or(INTEGRAL));
            bounds(&part("sub"), &part("sup"), text);
            text.push_str(&format!(" {}", part("e")));
        }
        "func" => text.push_str(&format!("{} {}", part("fName"), part("e"))),
        "limLow" => text.push_str(&format!("{}_{}", part("e"), grouped(&part("lim")))),
        "limUpp" => text.push_str(&format!("{}^{}", part("e"), grouped(&part("lim")))),
        "d" => {
            let sign = |name: &str, default: &'static str| property("dPr", name).unwrap_or(default);
            let inner: Vec<String> = named(element, "e").map(line).collect();
            text.push_str(sign("begChr", "("));
            text.push_str(&inner.join(sign("sepChr", "|")));
            text.push_str(sign("endChr", ")"));
        }
        "acc" => text.push_str(&format!(
            "{}{}",
            part("e"),
            property("accPr", "chr").unwrap_or("\u{302}")
        )),
        "m" => {
            let rows = named(element, "mr").map(|row| named(row, "e").map(line).collect::<Vec<_>>().join(" & "));
            text.push_str(&rows.collect::<Vec<_>>().join("; "));
        }
        "eqArr" => text.push_str(&named(element, "e").map(line).collect::<Vec<_>>().join("; ")),
        // Properties of the formula, and deleted text.
        name if name.ends_with("Pr") || matches!(name, "del" | "moveFrom" | "delText") => {}
        "br" => text.push(' '),
        _ => text.push_str(&line(element)),
    }
}

fn bounds(sub: &str, sup: &str, text: &mut String) {
    for (sign, bound) in [('_', sub), ('^', sup)] {
        if !bound.is_empty() {
            text.push(sign);
            text.push_str(&grouped(bound));
        }
    }
}

/// In parentheses, unless it is one word.
fn grouped(text: &str) -> String {
    match text.chars().all(char::is_alphanumeric) {
        true => text.to_owned(),
        false => format!("({text})"),
    }
}

fn named<'a>(parent: &'a Element, name: &'static str) -> impl Iterator<Item = &'a Element> {
    parent.elements().filter(move |child| child.name == name)
}
