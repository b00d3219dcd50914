//! Titles that several pages of a source share: each gets the name of its parent page or folder added.

use std::collections::{HashMap, HashSet};

use docsearch_core::text::name::{key, slug_leaf};

use crate::document::Document;
use crate::file::{manual_page, slug};

/// Maximum characters of the added name; that of the folder is shorter.
const MAX_PARENT_CHARS: usize = 60;

/// A page of the run.
#[derive(Debug)]
struct TitledPage {
    slug: String,
    title: String,
    source_root: String,
    version: Option<String>,
    /// The parent title that the page names.
    parent: Option<String>,
    /// The section of the manual.
    section: Option<String>,
}

/// The pages of a run.
#[derive(Debug, Default)]
pub struct Titles(Vec<TitledPage>);

impl Titles {
    /// Adds a page.
    pub fn add(&mut self, document: &Document) {
        self.0.push(TitledPage {
            slug: document.slug.clone(),
            title: document.title.clone(),
            source_root: document.source_root.clone(),
            version: document.version.clone(),
            parent: document.parent.clone(),
            section: section(document),
        });
    }

    /// The new titles of pages that share theirs, by slug: `Change history (Parser)`. A page without a parent of its own keeps
    /// its title.
    pub fn distinct(&self) -> HashMap<String, String> {
        let by_slug = self.0.iter().map(|page| (page.slug.as_str(), page)).collect();
        let mut sharing: HashMap<_, Vec<&TitledPage>> = HashMap::new();
        for page in &self.0 {
            let shared = (&page.source_root, &page.version, key(&page.title));
            sharing.entry(shared).or_default().push(page);
        }
        let mut distinct = HashMap::new();
        for ((_, _, title), pages) in sharing {
            if pages.len() > 1 && !title.is_empty() {
                add_parents(&pages, &by_slug, &mut distinct);
            }
        }
        distinct
    }
}

/// The section of a manual page.
fn section(document: &Document) -> Option<String> {
    let is_manual = document.kind.as_deref() == Some(manual_page::KIND);
    let section = document.metadata.get(manual_page::SECTION).filter(|_| is_manual)?;
    section.as_str().map(str::to_owned)
}

fn add_parents(pages: &[&TitledPage], by_slug: &HashMap<&str, &TitledPage>, distinct: &mut HashMap<String, String>) {
    let sections: HashSet<&String> = pages.iter().filter_map(|page| page.section.as_ref()).collect();
    if sections.len() == pages.len() {
        let titled =
            |page: &&TitledPage| Some((page.slug.clone(), format!("{}({})", page.title, page.section.as_ref()?)));
        distinct.extend(pages.iter().filter_map(titled));
        return;
    }
    let parents: Vec<Vec<String>> = pages.iter().map(|page| parents(page, by_slug)).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for parents in &parents {
        let mut keys: Vec<String> = parents.iter().map(|parent| key(parent)).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let is_own = |parent: &&String| counts.get(&key(parent)) == Some(&1);
    let mut ambiguous = Vec::new();
    for (page, parents) in pages.iter().zip(&parents) {
        match parents.iter().find(is_own) {
            Some(parent) => {
                distinct.insert(page.slug.clone(), format!("{} ({parent})", page.title));
            }
            None => ambiguous.push(page),
        }
    }
    if ambiguous.len() < 2 {
        return;
    }
    for page in ambiguous {
        let leaf = slug_leaf(&page.slug);
        if !slug::is_folder_page(leaf) && key(leaf) != key(&page.title) {
            distinct.insert(page.slug.clone(), format!("{} ({leaf})", page.title));
        }
    }
}

/// The names of the parents of a page, nearest first: the one that it names, then the folders of its slug, by the title
/// of the folder's page if there is one.
fn parents(page: &TitledPage, by_slug: &HashMap<&str, &TitledPage>) -> Vec<String> {
    let own = key(&page.title);
    let is_apt = |name: &str| {
        let key = key(name);
        !key.is_empty() && key != own && name.chars().count() <= MAX_PARENT_CHARS
    };
    let mut parents: Vec<String> = page.parent.iter().filter(|name| is_apt(name)).cloned().collect();
    let mut rest = page.slug.as_str();
    while let Some((above, _)) = rest.rsplit_once('/') {
        let titled = by_slug.get(above).map(|page| page.title.as_str());
        let name = titled.filter(|title| is_apt(title)).unwrap_or_else(|| slug_leaf(above));
        if is_apt(name) {
            parents.push(name.to_owned());
        }
        rest = above;
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct_titles(pages: &[(&str, &str)]) -> Vec<String> {
        let mut titles = Titles::default();
        for (slug, title) in pages {
            titles.add(&Document {
                slug: (*slug).to_owned(),
                title: (*title).to_owned(),
                ..Document::default()
            });
        }
        let distinct = titles.distinct();
        let title =
            |(slug, title): &(&str, &str)| distinct.get(*slug).map_or_else(|| (*title).to_owned(), Clone::clone);
        pages.iter().map(title).collect()
    }

    #[test]
    fn pages_of_one_title_get_the_name_of_their_parent() {
        let pages = [
            ("lexer", "The lexer"),
            ("lexer/changes", "Change history"),
            ("parser/changes", "Change history"),
            ("parser/use", "Use"),
        ];
        assert_eq!(
            distinct_titles(&pages),
            [
                "The lexer",
                "Change history (The lexer)",
                "Change history (parser)",
                "Use"
            ]
        );
    }

    #[test]
    fn the_nearest_folder_that_no_other_page_has_is_added() {
        let pages = [
            ("en/topics/log", "Logging"),
            ("de/topics/log", "Logging"),
            ("log", "Logging"),
        ];
        assert_eq!(distinct_titles(&pages), ["Logging (en)", "Logging (de)", "Logging"]);
        let pages = [("ref/checks", "Checks"), ("ref/contrib/checks", "Checks")];
        assert_eq!(distinct_titles(&pages), ["Checks", "Checks (contrib)"]);
    }

    #[test]
    fn pages_of_one_folder_get_their_own_names() {
        let pages = [("index", "The Book"), ("title-page", "The Book")];
        assert_eq!(distinct_titles(&pages), ["The Book", "The Book (title-page)"]);
        let pages = [("a", "Examples"), ("b", "examples"), ("examples", "Examples")];
        assert_eq!(distinct_titles(&pages), ["Examples (a)", "examples (b)", "Examples"]);
    }

    #[test]
    fn the_parent_that_a_page_names_takes_precedence() {
        let mut titles = Titles::default();
        for name in ["gin", "gist"] {
            titles.add(&Document {
                slug: format!("{name}-examples"),
                title: "Examples".to_owned(),
                parent: Some(format!("{} indexes", name.to_uppercase())),
                ..Document::default()
            });
        }
        let distinct = titles.distinct();
        assert_eq!(distinct["gin-examples"], "Examples (GIN indexes)");
        assert_eq!(distinct["gist-examples"], "Examples (GIST indexes)");
    }

    #[test]
    fn manual_pages_get_their_sections() {
        let mut titles = Titles::default();
        for section in ["1", "5"] {
            let mut page = Document {
                slug: format!("man{section}/crontab.{section}"),
                title: "crontab".to_owned(),
                kind: Some(manual_page::KIND.to_owned()),
                ..Document::default()
            };
            page.metadata.insert(manual_page::SECTION.to_owned(), section.into());
            titles.add(&page);
        }
        let distinct = titles.distinct();
        assert_eq!(distinct["man1/crontab.1"], "crontab(1)");
        assert_eq!(distinct["man5/crontab.5"], "crontab(5)");
    }

    #[test]
    fn versions_of_a_page_keep_its_title() {
        let mut titles = Titles::default();
        for version in ["1", "2"] {
            titles.add(&Document {
                slug: format!("{version}/guide"),
                title: "Guide".to_owned(),
                version: Some(version.to_owned()),
                ..Document::default()
            });
        }
        assert!(titles.distinct().is_empty());
    }
}
