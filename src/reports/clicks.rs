//! Judgments from what readers opened.

use docsearch_core::evaluation::exchange::SetQuery;
use docsearch_core::evaluation::judgment::Judgment;
use docsearch_core::usage::click_model::ClickModel;
use docsearch_core::values::digest::digest;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::reports::reading;
use crate::reports::scope::Scope;

/// Judgments with what they were made of.
pub(crate) struct ClickJudgments {
    pub(crate) queries: Vec<SetQuery>,
    /// Each with the id of its query.
    pub(crate) judgments: Vec<(String, Judgment)>,
    pub(crate) searches: usize,
    pub(crate) sessions: usize,
    /// Share of readers that look at each place.
    pub(crate) examination: Vec<f64>,
}

/// Judges the pages of a project by what readers opened and said.
pub(crate) fn judgments(caller: &mut Caller, scope: &Scope, min_sessions: u32) -> Result<ClickJudgments> {
    let reading = reading::read(caller, scope)?;
    let model = ClickModel::of(&reading.observations, min_sessions);
    let asked = model.pages.chunk_by(|a, b| a.query == b.query);
    let asked = asked.map(|pages| reading.query(pages[0].query)).collect();
    let texts = reading::texts(caller, scope, asked)?;
    let (mut queries, mut judgments) = (Vec::new(), Vec::new());
    for pages in model.pages.chunk_by(|a, b| a.query == b.query) {
        let Some(asked) = texts.get(&reading.query(pages[0].query)) else {
            continue;
        };
        let query = SetQuery {
            id: digest(&[&asked.text])[..16].to_owned(),
            text: asked.text.clone(),
            group: asked.class.clone().unwrap_or_default(),
            ..SetQuery::default()
        };
        for graded in pages {
            let Some(page) = reading.page(graded.page) else {
                continue;
            };
            let judgment = Judgment {
                slug: page.slug.clone(),
                anchor: String::new(),
                grade: graded.grade,
            };
            judgments.push((query.id.clone(), judgment));
        }
        queries.push(query);
    }
    Ok(ClickJudgments {
        queries,
        judgments,
        searches: reading.searches,
        sessions: reading.sessions,
        examination: model.examination,
    })
}
