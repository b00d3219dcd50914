//! Text of a page that is in its front matter: `hero` and `features` of VitePress and Starlight, `banner` of Starlight, and
//! the keys of VuePress.

use dom_query::Document;
use serde_json::{Map, Value};

use crate::draft::front_matter::FrontMatter;
use crate::text::markdown_text;

type Table = Map<String, Value>;

/// The Markdown of what the page shows of its front matter, above its text; empty for most pages.
pub(super) fn text(matter: &FrontMatter) -> String {
    let table = &matter.metadata;
    let is_vuepress = table.get("home").and_then(Value::as_bool).unwrap_or_default();
    let is_home = is_vuepress || table.get("layout").and_then(Value::as_str) == Some("home");
    let banner = table.get("banner").and_then(Value::as_object);
    let mut blocks = Vec::from_iter(banner.and_then(|banner| paragraph(banner, "content")));
    match table.get("hero") {
        Some(Value::Object(hero)) => blocks.extend(self::hero(hero)),
        _ if is_vuepress => blocks.extend(hero_of_vuepress(table)),
        _ => {}
    }
    if is_home {
        blocks.extend(tables(table, "features").flat_map(feature));
    }
    if is_vuepress {
        blocks.extend(paragraph(table, "footer"));
    }
    match blocks.is_empty() {
        true => String::new(),
        false => format!("{}\n\n", blocks.join("\n\n")),
    }
}

fn hero(hero: &Table) -> impl Iterator<Item = String> {
    let name = value(hero, "name").or_else(|| value(hero, "title"));
    let text = value(hero, "text");
    let (title, subtitle) = match name {
        Some(name) => (Some(name), text),
        None => (text, None),
    };
    let image = hero.get("image").and_then(Value::as_object).and_then(|image| {
        let address = image.get("src").or_else(|| image.get("file")).and_then(Value::as_str);
        Some(format!("![{}]({})", value(image, "alt")?, address?.replace(' ', "%20")))
    });
    let title = title.map(|title| markdown_text::heading(1, &title, None));
    let subtitle = subtitle.map(|text| format!("**{text}**"));
    let parts = [title, subtitle, paragraph(hero, "tagline"), actions(hero), image];
    parts.into_iter().flatten()
}

fn hero_of_vuepress(table: &Table) -> impl Iterator<Item = String> {
    let title = value(table, "heroText").map(|title| markdown_text::heading(1, &title, None));
    let action = value(table, "actionText").map(|text| linked(text, table, "actionLink"));
    let parts = [title, paragraph(table, "tagline"), action, actions(table)];
    parts.into_iter().flatten()
}

/// The buttons, in a line.
fn actions(table: &Table) -> Option<String> {
    let links: Vec<String> = tables(table, "actions")
        .filter_map(|action| Some(linked(value(action, "text")?, action, "link")))
        .collect();
    (!links.is_empty()).then(|| links.join(" "))
}

fn feature(feature: &Table) -> Vec<String> {
    let more = value(feature, "linkText").map(|text| linked(text, feature, "link"));
    let title = value(feature, "title").map(|title| match more {
        Some(_) => title,
        None => linked(title, feature, "link"),
    });
    let title = title.map(|title| format!("**{title}**"));
    let parts = [title, paragraph(feature, "details"), more];
    parts.into_iter().flatten().collect()
}

fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let list = table.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_object)
}

fn linked(text: String, table: &Table, key: &str) -> String {
    match table.get(key).and_then(Value::as_str) {
        Some(address) => markdown_text::link(&text, address.trim()),
        None => text,
    }
}

fn paragraph(table: &Table, key: &str) -> Option<String> {
    value(table, key).map(|text| markdown_text::paragraph(&text))
}

/// The text of a value, which the generators show as HTML, in Markdown.
fn value(table: &Table, key: &str) -> Option<String> {
    let html = match table.get(key)? {
        Value::String(html) => html.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let text = match html.contains(['<', '&']) {
        true => Document::fragment(html.replace("<br", " <br")).text().to_string(),
        false => html,
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| markdown_text::escape(&text))
}

#[cfg(test)]
mod tests {
    use crate::draft::front_matter::split;

    fn shown(matter: &str, expected: &str) {
        let page = split(matter);
        assert_eq!(page.problem, None);
        assert_eq!(super::text(&page.front_matter), expected, "{matter}");
    }

    #[test]
    fn first_pages_show_their_front_matter() {
        let features = "\
features:
  - icon: ⚓
    title: Berths
    details: A berth for <b>every</b> boat,<br>and two for *yours* &amp; mine.
  - title: Sails
    details: They are red.
    link: /sails
  - title: Masts
    link: /masts
    linkText: More masts
";
        let text_of_features = "**Berths**\n\nA berth for every boat, and two for \\*yours\\* & mine.\n\n\
            **[Sails](/sails)**\n\nThey are red.\n\n**Masts**\n\n[More masts](/masts)\n\n";
        shown(
            &format!(
                "---\nlayout: home\nhero:\n  name: Kit\n  text: A kit.\n  tagline: <em>Fast</em> boats\n  image:\n    src: /a b.png\n    \
                 alt: A boat\n  actions:\n    - theme: brand\n      text: Get started\n      link: /guide/\n    - text: Code\n      \
                 link: https://kit.test/code\n{features}---\n"
            ),
            &format!(
                "# Kit\n\n**A kit.**\n\nFast boats\n\n[Get started](/guide/) [Code](https://kit.test/code)\n\n\
                 ![A boat](/a%20b.png)\n\n{text_of_features}"
            ),
        );
        shown(
            &format!(
                "---\nhome: true\nheroImage: /a.png\nheroText: Kit\ntagline: Fast boats\nactionText: Start →\nactionLink: /start\n\
                 {features}footer: 2 boats\n---\n"
            ),
            &format!("# Kit\n\nFast boats\n\n[Start →](/start)\n\n{text_of_features}2 boats\n\n"),
        );
        shown(
            "---\nhome: true\ntagline: Boats\nactions:\n- text: Start\n  link: /a\n---\n",
            "Boats\n\n[Start](/a)\n\n",
        );
        shown(
            "---\ntitle: Kit\ntemplate: splash\nhero:\n  title: 'Kit: boats'\n  tagline: Fast boats\n  actions:\n  - text: Start\n    link: /a/\n---\n",
            "# Kit: boats\n\nFast boats\n\n[Start](/a/)\n\n",
        );
        shown("---\nlayout: home\nhero:\n  text: 7\n---\n", "# 7\n\n");
    }

    #[test]
    fn a_banner_is_text() {
        shown(
            "---\ntitle: Kit\nbanner:\n  content: |\n    Version 2 is out. <a href=\"/new\">What is new</a>\n---\n",
            "Version 2 is out. What is new\n\n",
        );
    }

    #[test]
    fn other_front_matter_is_no_text() {
        shown("---\nbanner: /boat.png\n---\n", "");
        shown("---\nhero: /boat.png\nfeatures: [{title: A}]\ntagline: B\n---\n", "");
        shown("---\nlayout: home\nfeatures: 3\n---\n", "");
        shown("---\nhome: /start\nfooter: false\nactions: []\n---\n", "");
    }
}
