//! Rows of the tables of rules, as the core has them.

use std::ffi::CStr;

use docsearch_core::query::rule::{Conflict, Intent, Row as RuleRow, Rule};

use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::postgres::statement::Row;
use crate::postgres::{catalog, table_scan};

/// The tables with their columns.
pub(super) const TABLES: [RuleTable; 10] = [
    RuleTable::new(c"action", Kind::Is("action"), c"verb").other(c"intent"),
    RuleTable::new(c"action_synonym", Kind::Is("action_synonym"), c"verb")
        .other(c"synonym")
        .number(c"closeness", Number::Real),
    RuleTable::new(c"intent_conflict", Kind::Is("intent_conflict"), c"asked")
        .other(c"found")
        .number(c"penalty", Number::Real),
    RuleTable::new(c"generic_term", Kind::Is("generic_term"), c"term").number(c"boost", Number::Real),
    RuleTable::new(c"synonym", Kind::Is("synonym"), c"term").other(c"expansion"),
    RuleTable::new(c"framework_alias", Kind::Is("framework_alias"), c"alias").other(c"framework"),
    RuleTable::new(c"platform", Kind::Is("platform"), c"word").other(c"platform"),
    RuleTable::new(c"query_word", Kind::InColumn(c"kind"), c"word"),
    RuleTable::new(c"news_name", Kind::Is("news_name"), c"name")
        .other(c"place")
        .number(c"releases", Number::Flag),
    RuleTable::new(c"search_tip", Kind::Is("search_tip"), c"tip").number(c"number", Number::Integer),
];

/// The names of the tables.
pub(super) const NAMES: [&CStr; TABLES.len()] = {
    let mut names = [c""; TABLES.len()];
    let mut table = 0;
    while table < TABLES.len() {
        names[table] = TABLES[table].name;
        table += 1;
    }
    names
};

/// A table of rules.
pub(super) struct RuleTable {
    name: &'static CStr,
    kind: Kind,
    term: &'static CStr,
    other: Option<&'static CStr>,
    number: Option<(&'static CStr, Number)>,
}

/// Where the kind of a rule is.
#[derive(Clone, Copy)]
enum Kind {
    Is(&'static str),
    InColumn(&'static CStr),
}

/// The type of a column with a number.
#[derive(Clone, Copy)]
enum Number {
    Real,
    Integer,
    /// 1 for true. Earlier versions of the tables lack the column, and mean true.
    Flag,
}

impl RuleTable {
    const fn new(name: &'static CStr, kind: Kind, term: &'static CStr) -> Self {
        Self {
            name,
            kind,
            term,
            other: None,
            number: None,
        }
    }

    const fn other(mut self, column: &'static CStr) -> Self {
        self.other = Some(column);
        self
    }

    const fn number(mut self, column: &'static CStr, of: Number) -> Self {
        self.number = Some((column, of));
        self
    }

    /// Passes on its rules, with their projects.
    pub(super) fn read(&self, owner: &Owner<'_>, mut visit: impl FnMut(Option<i64>, RuleRow)) -> Result<()> {
        let has = |column: &CStr| catalog::has_column(self.name, column);
        let number = self
            .number
            .filter(|(column, of)| !matches!(of, Number::Flag) || has(column));
        let mut columns = vec![c"project_id", c"enabled", self.term];
        let mut place = |column: Option<&'static CStr>| {
            columns.extend(column);
            column.map(|_| columns.len())
        };
        let kind = place(match self.kind {
            Kind::Is(_) => None,
            Kind::InColumn(column) => Some(column),
        });
        let other = place(self.other);
        let number = place(number.map(|(column, _)| column));
        table_scan::each(owner, self.name, &columns, |row| {
            let rule = StoredRule {
                kind: match self.kind {
                    Kind::Is(kind) => kind.to_owned(),
                    Kind::InColumn(_) => text(row, kind)?.unwrap_or_default(),
                },
                term: row.required(3)?,
                other: text(row, other)?,
                number: self.read_number(row, number)?,
                enabled: row.required(2)?,
            };
            visit(row.optional(1)?, rule.rule()?);
            Ok(())
        })
    }

    fn read_number(&self, row: &Row, place: Option<usize>) -> Result<f32> {
        let Some((_, of)) = self.number else { return Ok(0.0) };
        let Some(place) = place else { return Ok(1.0) };
        Ok(match of {
            Number::Real => row.required(place)?,
            Number::Integer => row.required::<i32>(place)? as f32,
            Number::Flag => f32::from(u8::from(row.required::<bool>(place)?)),
        })
    }
}

fn text(row: &Row, place: Option<usize>) -> Result<Option<String>> {
    place.map_or(Ok(None), |place| row.optional(place))
}

/// A row of one of the tables. What its columns hold depends on its kind.
struct StoredRule {
    kind: String,
    term: String,
    other: Option<String>,
    number: f32,
    enabled: bool,
}

impl StoredRule {
    fn rule(self) -> Result<RuleRow> {
        let first = self.term;
        let second = || self.other.clone().unwrap_or_default();
        let number = self.number;
        let rule = match self.kind.as_str() {
            "action" => Rule::Action {
                verb: first,
                intent: self.other.as_deref().map(intent).transpose()?,
            },
            "action_synonym" => Rule::ActionSynonym {
                verb: first,
                synonym: second(),
                closeness: number,
            },
            "intent_conflict" => Rule::IntentConflict(Conflict {
                asked: intent(&first)?,
                found: intent(&second())?,
                penalty: number,
            }),
            "generic_term" => Rule::GenericTerm {
                term: first,
                boost: number,
            },
            "synonym" => Rule::Synonym {
                term: first,
                expansion: second(),
            },
            "framework_alias" => Rule::FrameworkAlias {
                alias: first,
                framework: second(),
            },
            "platform" => Rule::Platform {
                word: first,
                platform: second(),
            },
            "kind" => Rule::KindWord { word: first },
            "recency" => Rule::RecencyWord { word: first },
            "question" => Rule::QuestionWord { word: first },
            "stop" => Rule::StopWord { word: first },
            "news" => Rule::NewsWord { word: first },
            "new" | "happened" | "when" | "thing" | "made" | "release" | "asks" | "creates" | "alone" | "filler" => {
                Rule::AskingWord {
                    asking: serde_json::from_value(self.kind.into()).map_err(internal)?,
                    word: first,
                }
            }
            "change" => Rule::ChangeWord { word: first },
            "framing" => Rule::FramingWord { word: first },
            "comparing" => Rule::ComparingWord { word: first },
            "modifier" => Rule::ModifierWord { word: first },
            "scope" => Rule::ScopeWord { word: first },
            "before_container" => Rule::BeforeContainerWord { word: first },
            "before_verb" => Rule::BeforeVerbWord { word: first },
            "infinitive" => Rule::InfinitiveWord { word: first },
            "article" => Rule::ArticleWord { word: first },
            "opening" => Rule::OpeningPattern { word: first },
            "closing" => Rule::ClosingPattern { word: first },
            "news_name" => Rule::NewsName {
                place: serde_json::from_value(second().into()).map_err(internal)?,
                name: first,
                releases: number > 0.0,
            },
            "search_tip" => Rule::SearchTip {
                number: number as i32,
                tip: first,
            },
            other => return Err(internal(format_args!("unknown kind of rule {other}"))),
        };
        Ok(RuleRow {
            rule,
            enabled: self.enabled,
        })
    }
}

fn intent(name: &str) -> Result<Intent> {
    serde_json::from_value(name.into()).map_err(internal)
}
