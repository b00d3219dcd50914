//! Projects that are searched together, and what a query means there.

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

/// Most words of a query that is taken for a name half typed or mistyped.
const MAX_NEAR_WORDS: usize = 3;

/// Most words of a query that is looked up as a phrase.
const MAX_EXACT_PHRASE_WORDS: usize = 40;

/// Projects that share model, text search configuration, rules, weights and what the query names as a place.
#[derive(Clone)]
pub(crate) struct Group<'a> {
    pub(crate) projects: Projects,
    /// What the caller sees of them.
    pub(crate) visibility: Visibility,
    pub(crate) model: &'a ModelRow,
    pub(crate) text_config: &'a str,
    /// With the weights of the projects.
    pub(crate) config: SearchConfig,
    names: Map<i64, &'a str>,
    rules: Rc<Rules>,
    pub(crate) understanding: Understanding,
    /// Names that the query asks for or mentions, and what may be one.
    pub(crate) forms: Vec<CandidateName>,
    /// Keys of the place that the query names.
    pub(crate) containers: Vec<String>,
    /// What the keyword leg looks up.
    pub(crate) terms: Vec<LookupTerm>,
    /// The terms that are the last part of a qualified name: a page that describes it has one of them.
    pub(crate) members: Vec<usize>,
    /// What a result must not have.
    pub(crate) excluded: Vec<Excluded>,
}

impl<'a> Group<'a> {
    /// Drops what the query says that a result must not have.
    pub(super) fn exclude_nothing(&mut self) {
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
        // What is said about the query as a whole is said of the first: where the fewest of its words are places.
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
            // Names in lower case may be stemmed.
            let terms = terms(&format!("{word} {}", word.to_lowercase()), None)?;
            Ok(Excluded::new(word, terms))
        });
        let excluded = excluded.collect::<Result<_>>()?;
        let terms = terms(&understanding.topic, Some(&understanding))?;
        let searched = Projects::new(projects.iter().copied());
        let sites = projects.iter().map(|project| project.site());
        let mut forms = CandidateName::addresses(&understanding.text, sites);
        forms.extend(understanding.candidate_names());
        forms.extend(understanding.candidate_names_within(&forms, &rules));
        Ok(Self {
            visibility: Visibility::of(caller, &searched)?,
            members: members(&understanding, &terms),
            terms,
            excluded,
            forms,
            containers: understanding.container_keys(&rules),
            names: projects
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

    /// What is looked at for what the query is about.
    pub(crate) fn question(&self) -> SubjectQuery<'_> {
        SubjectQuery {
            understanding: &self.understanding,
            forms: &self.forms,
            terms: &self.terms,
            rules: &self.rules,
        }
    }

    /// Notes what the query turned out to be about, by the places of the forms.
    pub(crate) fn note_subjects(&mut self, subjects: &[(usize, NameRole)]) {
        for &(form, role) in subjects {
            let compared = role == NameRole::Compared;
            self.understanding.add_subject(&self.forms[form].text, compared);
        }
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn name_of(&self, project: i64) -> String {
        self.names.get(&project).copied().unwrap_or_default().to_owned()
    }

    /// The key of what may be a name half typed or mistyped.
    pub(crate) fn typed(&self) -> Option<String> {
        let typed = self.understanding.name();
        let short = typed.split_whitespace().count() <= MAX_NEAR_WORDS;
        (short && self.understanding.class != Class::Question).then(|| name::key(typed))
    }

    /// The keys of a page whose title the query is.
    pub(crate) fn title_keys(&self) -> Vec<String> {
        let asked = [&self.understanding.text, &self.understanding.topic];
        let keys: BTreeSet<String> = asked.into_iter().map(|text| name::key(text)).collect();
        keys.into_iter().filter(|key| !key.is_empty()).collect()
    }

    /// The query, if it is long enough to be a phrase of a text.
    pub(crate) fn phrase(&self) -> Option<&str> {
        let topic = self.understanding.topic.as_str();
        let words = topic
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphanumeric));
        (MIN_PHRASE_WORDS..=MAX_EXACT_PHRASE_WORDS)
            .contains(&words.count())
            .then_some(topic)
    }

    /// What the query asks for by name; `typed` is [`Self::typed`], `forms` are those of the group.
    pub(crate) fn asked_names<'b>(&'b self, forms: &'b [CandidateName], typed: &'b str) -> NameQuery<'b> {
        NameQuery {
            understanding: &self.understanding,
            forms,
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
    members.map(|(place, _)| place).collect()
}

/// What documents of each project belong to, as far as the query may mean it, in a fixed order.
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
        known = seen(caller, known)?;
    }
    let mut by_project: Map<i64, Vec<String>> = Map::default();
    for Container { project, name } in known {
        by_project.entry(project).or_default().push(name);
    }
    Ok(by_project)
}

/// What documents of a project belong to, as the first of them writes it.
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

/// Those of the containers that a document belongs to which the caller sees. If all that write it so are hidden, it is
/// written as the first does that is not.
fn seen(caller: &Caller, containers: Vec<Container>) -> Result<Vec<Container>> {
    if containers.is_empty() {
        return Ok(containers);
    }
    let as_written = statement::rows(
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
    let mut seen = Vec::new();
    for container in containers {
        if as_written.contains(&container) {
            seen.push(container);
        } else {
            seen.extend(written_otherwise(caller, &container)?);
        }
    }
    Ok(seen)
}

/// The container as the first document writes it that the caller sees: not letter by letter the same, but the same name.
fn written_otherwise(caller: &Caller, container: &Container) -> Result<Option<Container>> {
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
