//! Applies rows of rules, and lists rules as rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{MAX_RULE_PHRASE_WORDS, Row, Rule, RuleError, Rules, Tables};
use crate::text::name;

impl Tables {
    pub(super) fn apply(&mut self, Row { rule, enabled }: Row) -> Result<(), RuleError> {
        match rule {
            Rule::Action { verb, intent } => put(&mut self.actions, phrase("verb", verb)?, intent, enabled),
            Rule::ActionSynonym {
                verb,
                synonym,
                closeness,
            } => {
                let synonyms = self.action_synonyms.entry(phrase("verb", verb)?).or_default();
                let closeness = share("closeness", closeness)?;
                put(synonyms, word("synonym", synonym)?, closeness, enabled);
            }
            Rule::IntentConflict(conflict) => {
                share("penalty", conflict.penalty)?;
                self.conflicts
                    .retain(|known| (known.asked, known.found) != (conflict.asked, conflict.found));
                if enabled {
                    self.conflicts.push(conflict);
                }
            }
            Rule::GenericTerm { term, boost } => {
                let boost = share("boost", boost)?;
                put(&mut self.generic_terms, word("generic term", term)?, boost, enabled);
            }
            Rule::Synonym { term, expansion } => {
                let expansions = self.synonyms.entry(word("term", term)?).or_default();
                set(expansions, word("expansion", expansion)?, enabled);
            }
            Rule::FrameworkAlias { alias, framework } => {
                if framework.trim().is_empty() {
                    return Err(RuleError::Blank("framework"));
                }
                put(&mut self.framework_aliases, phrase("alias", alias)?, framework, enabled);
            }
            Rule::Platform { word: name, platform } => {
                let platform = word("platform", platform)?;
                put(&mut self.platforms, word("word", name)?, platform, enabled);
            }
            Rule::KindWord { word } => set(&mut self.kind_words, phrase("kind word", word)?, enabled),
            Rule::RecencyWord { word } => set(&mut self.recency_words, phrase("recency word", word)?, enabled),
            Rule::QuestionWord { word: opener } => {
                set(&mut self.question_words, word("question word", opener)?, enabled);
            }
            Rule::StopWord { word: stop } => set(&mut self.stop_words, word("stop word", stop)?, enabled),
            Rule::NewsName {
                place,
                name: text,
                releases,
            } => {
                let key = name::key(&text);
                if key.is_empty() {
                    return Err(RuleError::Blank("name"));
                }
                if enabled {
                    set(&mut self.release_names, key.clone(), releases);
                }
                set(self.news_names.entry(place).or_default(), key, enabled);
            }
            Rule::AskingWord { asking, word } => {
                set(
                    self.asking_words.entry(asking).or_default(),
                    phrase("word", word)?,
                    enabled,
                );
            }
            Rule::NewsWord { word: asking } => set(&mut self.news_words, word("news word", asking)?, enabled),
            Rule::ChangeWord { word: asking } => set(&mut self.change_words, word("change word", asking)?, enabled),
            Rule::FramingWord { word: framing } => {
                set(&mut self.framing_words, word("framing word", framing)?, enabled)
            }
            Rule::ComparingWord { word: comparing } => {
                set(&mut self.comparing_words, word("comparing word", comparing)?, enabled)
            }
            Rule::ModifierWord { word: modifier } => {
                set(&mut self.modifiers, word("modifier word", modifier)?, enabled)
            }
            Rule::ScopeWord { word: scope } => set(&mut self.scopes, word("scope word", scope)?, enabled),
            Rule::BeforeContainerWord { word: before } => set(
                &mut self.before_container,
                word("word before a container", before)?,
                enabled,
            ),
            Rule::BeforeVerbWord { word: before } => {
                set(&mut self.before_verb, word("word before a verb", before)?, enabled)
            }
            Rule::InfinitiveWord { word: before } => set(
                &mut self.infinitive,
                word("word before an infinitive", before)?,
                enabled,
            ),
            Rule::ArticleWord { word: article } => {
                set(&mut self.articles, word("grammatical article", article)?, enabled)
            }
            Rule::OpeningPattern { word: pattern } => {
                set(&mut self.openings, word("pattern before a task", pattern)?, enabled)
            }
            Rule::ClosingPattern { word: pattern } => {
                set(&mut self.closings, word("pattern after a task", pattern)?, enabled)
            }
            Rule::SearchTip { number, tip } => {
                if tip.trim().is_empty() {
                    return Err(RuleError::Blank("tip"));
                }
                put(&mut self.tips, number, tip, enabled);
            }
        }
        Ok(())
    }
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V, enabled: bool) {
    if enabled {
        map.insert(key, value);
    } else {
        map.remove(&key);
    }
}

fn set(set: &mut BTreeSet<String>, key: String, enabled: bool) {
    if enabled {
        set.insert(key);
    } else {
        set.remove(&key);
    }
}

/// The text in lower case, with single spaces. Stored rules usually are like this already: a connection reads two thousand.
fn word(name: &'static str, text: String) -> Result<String, RuleError> {
    if is_folded(text.as_bytes()) {
        return Ok(text);
    }
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if folded.is_empty() {
        return Err(RuleError::Blank(name));
    }
    Ok(folded)
}

/// Whether a text is not blank, and consists of ASCII in lower case with single spaces between words.
fn is_folded(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    !text.is_empty()
        && text
            .split(|byte| *byte == b' ')
            .all(|word| !word.is_empty() && word.iter().all(is_letter))
}

fn phrase(name: &'static str, text: String) -> Result<String, RuleError> {
    let folded = word(name, text)?;
    if folded.split(' ').count() > MAX_RULE_PHRASE_WORDS {
        return Err(RuleError::LongPhrase(folded));
    }
    Ok(folded)
}

fn share(name: &'static str, value: f32) -> Result<f32, RuleError> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(RuleError::OutOfRange { name, value })
    }
}

impl Rules {
    /// All rules as rows.
    pub fn rows(&self) -> Vec<Row> {
        let tables = &self.tables;
        let actions = tables.actions.iter().map(|(verb, &intent)| Rule::Action {
            verb: verb.clone(),
            intent,
        });
        let verbs = tables.action_synonyms.iter().flat_map(|(verb, synonyms)| {
            synonyms.iter().map(|(synonym, &closeness)| Rule::ActionSynonym {
                verb: verb.clone(),
                synonym: synonym.clone(),
                closeness,
            })
        });
        let conflicts = tables.conflicts.iter().cloned().map(Rule::IntentConflict);
        let generic = tables.generic_terms.iter().map(|(term, &boost)| Rule::GenericTerm {
            term: term.clone(),
            boost,
        });
        let synonyms = tables.synonyms.iter().flat_map(|(term, expansions)| {
            expansions.iter().map(|expansion| Rule::Synonym {
                term: term.clone(),
                expansion: expansion.clone(),
            })
        });
        let frameworks = pairs(&tables.framework_aliases, |alias, framework| Rule::FrameworkAlias {
            alias,
            framework,
        });
        let platforms = pairs(&tables.platforms, |word, platform| Rule::Platform { word, platform });
        let kinds = words(&tables.kind_words, |word| Rule::KindWord { word });
        let recency = words(&tables.recency_words, |word| Rule::RecencyWord { word });
        let questions = words(&tables.question_words, |word| Rule::QuestionWord { word });
        let stops = words(&tables.stop_words, |word| Rule::StopWord { word });
        let names = tables.news_names.iter().flat_map(|(&place, names)| {
            words(names, move |name| Rule::NewsName {
                place,
                releases: tables.release_names.contains(&name),
                name,
            })
        });
        let asking = tables
            .asking_words
            .iter()
            .flat_map(|(&asking, phrases)| words(phrases, move |word| Rule::AskingWord { asking, word }));
        let news = words(&tables.news_words, |word| Rule::NewsWord { word });
        let changes = words(&tables.change_words, |word| Rule::ChangeWord { word });
        let framing = words(&tables.framing_words, |word| Rule::FramingWord { word });
        let comparing = words(&tables.comparing_words, |word| Rule::ComparingWord { word });
        let modifier = words(&tables.modifiers, |word| Rule::ModifierWord { word });
        let scope = words(&tables.scopes, |word| Rule::ScopeWord { word });
        let before_container = words(&tables.before_container, |word| Rule::BeforeContainerWord { word });
        let before_verb = words(&tables.before_verb, |word| Rule::BeforeVerbWord { word });
        let infinitive = words(&tables.infinitive, |word| Rule::InfinitiveWord { word });
        let articles = words(&tables.articles, |word| Rule::ArticleWord { word });
        let openings = words(&tables.openings, |word| Rule::OpeningPattern { word });
        let closings = words(&tables.closings, |word| Rule::ClosingPattern { word });
        let tips = tables.tips.iter().map(|(&number, tip)| Rule::SearchTip {
            number,
            tip: tip.clone(),
        });
        actions
            .chain(verbs)
            .chain(conflicts)
            .chain(generic)
            .chain(synonyms)
            .chain(frameworks)
            .chain(platforms)
            .chain(kinds)
            .chain(recency)
            .chain(questions)
            .chain(stops)
            .chain(names)
            .chain(asking)
            .chain(news)
            .chain(changes)
            .chain(framing)
            .chain(comparing)
            .chain(modifier)
            .chain(scope)
            .chain(before_container)
            .chain(before_verb)
            .chain(infinitive)
            .chain(articles)
            .chain(openings)
            .chain(closings)
            .chain(tips)
            .map(|rule| Row { rule, enabled: true })
            .collect()
    }
}

fn pairs(map: &BTreeMap<String, String>, rule: impl Fn(String, String) -> Rule) -> impl Iterator<Item = Rule> {
    map.iter().map(move |(key, value)| rule(key.clone(), value.clone()))
}

fn words(set: &BTreeSet<String>, rule: impl Fn(String) -> Rule) -> impl Iterator<Item = Rule> {
    set.iter().map(move |word| rule(word.clone()))
}
