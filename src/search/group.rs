//! Groups of projects that are searched together, and the query as it is understood there.

use std::collections::BTreeSet;
use std::rc::Rc;

use docsearch_core::query::container::{KnownNames, possible_container_keys};
use docsearch_core::query::input::Query;
use docsearch_core::query::lookup::{LookupTerm, TermWeights};
use docsearch_core::query::rule::Rules;
use docsearch_core::query::understanding::{CandidateName, Class, NameRole, Understanding};
use docsearch_core::ranking::retrievers::NameQuery;
use docsearch_core::ranking::score::{MIN_PHRASE_WORDS, Scorer};
use docsearch_core::ranking::subject::SubjectQuery;
use docsearch_core::text::name;
use docsearch_core::text::word::stem;
use docsearch_core::values::id::Map;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement::{self, Row};
use crate::search::config::SearchConfig;
use crate::search::exclusion::Excluded;
use crate::search::lexical;
use crate::tables::model::ModelRow;
use crate::tables::project::{Project, Projects};
use crate::tables::rules::Rulebook;
use crate::tables::visibility::{self, Visibility};

/// Words of a query that may be a partial or mistyped name, at most.
const MAX_NEAR_WORDS: usize = 3;

/// Words of a query that is looked up as a phrase, at most.
const MAX_EXACT_PHRASE_WORDS: usize = 40;

/// Projects that share model, text search configuration, rules, weights and the containers that the query names.
#[derive(Clone)]
pub(crate) struct Group<'a> {
    pub(crate) projects: Projects,
    /// Which of their documents the caller sees.
    pub(crate) visibility: Visibility,
    pub(crate) model: &'a ModelRow,
    pub(crate) text_config: &'a str,
    /// With the weights of the projects.
    pub(crate) config: SearchConfig,
    project_names: Map<i64, &'a str>,
    rules: Rc<Rules>,
    pub(crate) understanding: Understanding,
    /// Names that the query asks for or mentions, and words that may be one.
    pub(crate) candidate_names: Vec<CandidateName>,
    /// Keys of the containers that the query names.
    pub(crate) containers: Vec<String>,
    /// The terms that the keyword retriever looks up.
    pub(crate) terms: Vec<LookupTerm>,
    /// Indexes of the terms that are the last part of a qualified name: a page that describes the name has one of them.
    pub(crate) members: Vec<usize>,
    /// Words that a result must not have.
    pub(crate) excluded: Vec<Excluded>,
}

impl<'a> Group<'a> {
    /// Ignores the words that the query excludes.
    pub(super) fn clear_exclusions(&mut self) {
        self.excluded.clear();
        self.understanding.excluded.clear();
    }

    /// Groups the projects of a search.
    pub(crate) fn all(
        caller: &mut Caller,
        projects: &'a [Project],
        query: &Query,
        rules: &Rulebook,
        config: &SearchConfig,
    ) -> Result<Vec<Self>> {
        let containers = containers(caller, projects, &query.text, rules.general())?;
        let own = |project: &Project| containers.get(&project.id).map_or(&[][..], Vec::as_slice);
        let mut sorted: Vec<Vec<&Project>> = Vec::new();
        for project in projects {
            let same = |group: &&mut Vec<&Project>| {
                group[0].model.id == project.model.id
                    && group[0].text_config == project.text_config
                    && Rc::ptr_eq(rules.of(group[0].id), rules.of(project.id))
                    && own(group[0]) == own(project)
                    && group[0].weights == project.weights
            };
            match sorted.iter_mut().find(same) {
                Some(group) => group.push(project),
                None => sorted.push(vec![project]),
            }
        }
        // The answer describes the query by the first group: the one where the fewest words name containers.
        sorted.sort_by_key(|group| own(group[0]).len());
        let groups = sorted.into_iter().map(|group| {
            let known = KnownNames::new(
                own(group[0]).iter().map(String::as_str),
                projects.iter().map(|project| project.name.as_str()),
            );
            let rules = Rc::clone(rules.of(group[0].id));
            Self::new(caller, group, query, rules, &known, config)
        });
        groups.collect()
    }

    fn new(
        caller: &mut Caller,
        projects: Vec<&'a Project>,
        query: &Query,
        rules: Rc<Rules>,
        known: &KnownNames,
        config: &SearchConfig,
    ) -> Result<Self> {
        let first = projects[0];
        let config = config.of_project(first);
        let understanding = Understanding::read(&query.text, &rules, known);
        let terms = |text: &str, understood: Option<&Understanding>| {
            let weights = TermWeights {
                framed: understanding.asks_about_sign(&rules),
                ..config.weights.terms()
            };
            lexical::terms(caller, text, understood, &rules, &first.text_config, weights)
        };
        let excluded = understanding.excluded.iter().map(|word| {
            // Pages may have the name in lower case, where it is stemmed.
            let terms = terms(&format!("{word} {}", word.to_lowercase()), None)?;
            Ok(Excluded::new(word, terms))
        });
        let excluded = excluded.collect::<Result<_>>()?;
        let terms = terms(&understanding.topic, Some(&understanding))?;
        let searched = Projects::new(projects.iter().copied());
        let sites = projects.iter().map(|project| project.site());
        let mut candidate_names = CandidateName::addresses(&understanding.text, sites);
        candidate_names.extend(understanding.candidate_names());
        candidate_names.extend(understanding.candidate_names_within(&candidate_names, &rules));
        Ok(Self {
            visibility: Visibility::of(caller, &searched)?,
            members: members(&understanding, &terms),
            terms,
            excluded,
            candidate_names,
            containers: understanding.container_keys(&rules),
            project_names: projects
                .iter()
                .map(|project| (project.id, project.name.as_str()))
                .collect(),
            model: &first.model,
            text_config: &first.text_config,
            config,
            projects: searched,
            rules,
            understanding,
        })
    }

    pub(crate) fn scorer<'b>(&'b self, config: &'b SearchConfig) -> Scorer<'b> {
        Scorer::new(&self.understanding, &self.rules, &config.weights)
    }

    /// The input for finding the subject of the query.
    pub(crate) fn subject_query(&self) -> SubjectQuery<'_> {
        SubjectQuery {
            understanding: &self.understanding,
            candidate_names: &self.candidate_names,
            terms: &self.terms,
            rules: &self.rules,
        }
    }

    /// Records what the query is about: indexes of candidate names.
    pub(crate) fn add_subjects(&mut self, subjects: &[(usize, NameRole)]) {
        for &(index, role) in subjects {
            let compared = role == NameRole::Compared;
            self.understanding
                .add_subject(&self.candidate_names[index].text, compared);
        }
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn name_of(&self, project: i64) -> String {
        self.project_names.get(&project).copied().unwrap_or_default().to_owned()
    }

    /// The key of the query if it may be a partial or mistyped name.
    pub(crate) fn typed(&self) -> Option<String> {
        let typed = self.understanding.name();
        let is_short = typed.split_whitespace().count() <= MAX_NEAR_WORDS;
        (is_short && self.understanding.class != Class::Question).then(|| name::key(typed))
    }

    /// The words that are looked up, those with the same meaning too.
    pub(super) fn lexemes(&self) -> Vec<String> {
        let looked_up = self.terms.iter().flat_map(|term| term.looked_up());
        looked_up.map(|(lexeme, _)| lexeme.to_owned()).collect()
    }

    /// The keys of titles that equal the query.
    pub(crate) fn title_keys(&self) -> Vec<String> {
        let texts = [&self.understanding.text, &self.understanding.topic];
        let keys: BTreeSet<String> = texts.into_iter().map(|text| name::key(text)).collect();
        keys.into_iter().filter(|key| !key.is_empty()).collect()
    }

    /// The query, if its length is that of a phrase.
    pub(crate) fn phrase(&self) -> Option<&str> {
        let topic = self.understanding.topic.as_str();
        let words = topic
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphanumeric));
        (MIN_PHRASE_WORDS..=MAX_EXACT_PHRASE_WORDS)
            .contains(&words.count())
            .then_some(topic)
    }

    /// The names that the query asks for. `typed` is [`Self::typed`], and `candidate_names` are the group's with the
    /// roles that were found.
    pub(crate) fn name_query<'b>(&'b self, candidate_names: &'b [CandidateName], typed: &'b str) -> NameQuery<'b> {
        NameQuery {
            understanding: &self.understanding,
            candidate_names,
            containers: &self.containers,
            members: &self.members,
            typed,
        }
    }
}

fn members(understanding: &Understanding, terms: &[LookupTerm]) -> Vec<usize> {
    let qualified = understanding.identifiers.iter();
    let names: Vec<String> = qualified
        .filter(|identifier| identifier.qualifiers().next().is_some())
        .flat_map(|identifier| {
            let name = identifier.name.to_lowercase();
            [stem(&name).into_owned(), name]
        })
        .collect();
    let is_member = |term: &LookupTerm| term.lexemes.iter().any(|lexeme| names.contains(lexeme));
    let members = terms.iter().enumerate().filter(|(_, term)| is_member(term));
    members.map(|(index, _)| index).collect()
}

/// The containers of each project that the query may name, in a fixed order.
fn containers(caller: &mut Caller, projects: &[Project], query: &str, rules: &Rules) -> Result<Map<i64, Vec<String>>> {
    let keys = possible_container_keys(query, rules);
    if keys.is_empty() {
        return Ok(Map::default());
    }
    let searched = Projects::new(projects);
    let mut known: Vec<Container> = {
        let owner = &caller.as_owner()?;
        statement::lookup(
            owner,
            &format!(
                "SELECT c.project_id, c.name FROM docsearch.container c WHERE {} AND c.key = ANY ($2) ORDER BY c.key, c.name",
                searched.condition("c")
            ),
            &[searched.argument(), DatumWithOid::from(keys)],
            Container::read,
        )?
    };
    if visibility::policies_apply(caller)? {
        known = visible(caller, known)?;
    }
    let mut by_project: Map<i64, Vec<String>> = Map::default();
    for Container { project, name } in known {
        by_project.entry(project).or_default().push(name);
    }
    Ok(by_project)
}

/// A container of documents of a project, spelled as in the first of them.
#[derive(Clone, PartialEq, Eq)]
struct Container {
    project: i64,
    name: String,
}

impl Container {
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            project: row.required(1)?,
            name: row.required(2)?,
        })
    }
}

/// The containers of visible documents. If all documents with a spelling are hidden, the spelling of the first visible
/// one.
fn visible(caller: &Caller, containers: Vec<Container>) -> Result<Vec<Container>> {
    if containers.is_empty() {
        return Ok(containers);
    }
    let same_spelling = statement::rows(
        caller,
        "SELECT c.project_id, c.name FROM unnest($1::bigint[], $2::text[]) AS c(project_id, name)
         WHERE EXISTS (
             SELECT FROM docsearch.document d
             WHERE d.project_id = c.project_id
               AND (c.name = ANY (string_to_array(d.category, '/'))
                    OR EXISTS (SELECT FROM jsonb_each(d.metadata) m
                               WHERE m.key = ANY ($3) AND m.value @> to_jsonb(c.name))))",
        &container_arguments(&containers),
        Container::read,
    )?;
    let mut visible = Vec::new();
    for container in containers {
        if same_spelling.contains(&container) {
            visible.push(container);
        } else {
            visible.extend(other_spelling(caller, &container)?);
        }
    }
    Ok(visible)
}

/// The container as the first visible document spells it: another spelling of the same name.
fn other_spelling(caller: &Caller, container: &Container) -> Result<Option<Container>> {
    let found = statement::rows(
        caller,
        "SELECT DISTINCT ON (d.project_id) c.project_id, btrim(n.name)
         FROM unnest($1::bigint[], $2::text[]) AS c(project_id, name)
         JOIN docsearch.document d USING (project_id),
              LATERAL (SELECT unnest(string_to_array(d.category, '/'))
                       UNION ALL
                       SELECT t.text FROM jsonb_each(d.metadata) m,
                              LATERAL jsonb_array_elements_text(CASE jsonb_typeof(m.value) WHEN 'array' THEN m.value
                                                                ELSE jsonb_build_array(m.value) END) t(text)
                       WHERE m.key = ANY ($3)) n(name)
         WHERE lower(regexp_replace(n.name, '[^[:alnum:]]', '', 'g')) = lower(regexp_replace(c.name, '[^[:alnum:]]', '', 'g'))
         ORDER BY d.project_id, d.id",
        &container_arguments(std::slice::from_ref(container)),
        Container::read,
    )?;
    let mut found = found.into_iter();
    Ok(found.find(|found| name::key(&found.name) == name::key(&container.name)))
}

fn container_arguments(containers: &[Container]) -> [DatumWithOid<'static>; 3] {
    let of_each = containers
        .iter()
        .map(|container| (container.project, container.name.clone()));
    let (projects, names): (Vec<i64>, Vec<String>) = of_each.unzip();
    [
        DatumWithOid::from(projects),
        DatumWithOid::from(names),
        DatumWithOid::from(name::CONTAINER_KEYS.map(str::to_owned).to_vec()),
    ]
}
