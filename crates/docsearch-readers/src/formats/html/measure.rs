//! How much text an element has, and how much of it is links.

use dom_query::NodeRef;

/// Minimum percentage of the text of an element that is links, for the element to be navigation.
const MIN_LINK_PERCENT: usize = 60;

/// Characters, without white space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Measure {
    /// Outside links.
    pub(super) own: usize,
    /// In links to the page itself.
    within: usize,
    /// In links to other pages.
    elsewhere: usize,
}

impl Measure {
    pub(super) fn of(node: &NodeRef<'_>) -> Self {
        let mut measure = Self::default();
        let mut open = vec![(*node, None)];
        while let Some((node, link)) = open.pop() {
            if node.is_text() {
                let length = node.text().chars().filter(|c| !c.is_whitespace()).count();
                *match link {
                    None => &mut measure.own,
                    Some(true) => &mut measure.within,
                    Some(false) => &mut measure.elsewhere,
                } += length;
                continue;
            }
            let link = link.or_else(|| {
                let href = node.attr("href").filter(|_| node.has_name("a"))?;
                Some(href.starts_with('#'))
            });
            open.extend(node.children_it(false).map(|child| (child, link)));
        }
        measure
    }

    pub(super) fn all(self) -> usize {
        self.own + self.within + self.elsewhere
    }

    /// Whether there is text that leads to no other page.
    pub(super) fn stays(self) -> bool {
        self.own + self.within > 0
    }

    /// Whether there are links to other pages.
    pub(super) fn leads_away(self) -> bool {
        self.elsewhere > 0
    }

    pub(super) fn is_mostly_links(self) -> bool {
        (self.all() - self.own) * 100 >= self.all() * MIN_LINK_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    #[test]
    fn text_is_counted_by_where_it_leads() {
        let page = Document::from("<p>ab <a href=x.html>c<b>d</b></a> <a href='#e'>ef</a></p><p>g");
        let measure = Measure::of(&page.root());
        assert_eq!((measure.own, measure.within, measure.elsewhere), (3, 2, 2));
        assert!(measure.stays() && !measure.is_mostly_links());
        assert!(Measure::of(&page.select_single("p").nodes()[0]).is_mostly_links());
    }
}
