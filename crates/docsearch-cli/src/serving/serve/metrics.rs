//! Metrics for Prometheus. No label has a text of a reader, a document or a project.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, prometheus_text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde::Deserialize;

use super::database_state::DatabaseState;
use crate::library::{LogSource, SearchAnswer, SearchObserver};
use crate::process::error::Error;

pub(super) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Upper bounds of durations, in seconds.
const SECONDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Notices that say that a search could not do all that it should.
const FALLBACKS: [&str; 4] = [
    "vector_unavailable",
    "vector_recalled",
    "transform_fallback",
    "grade_fallback",
];
/// Classes of queries.
const CLASSES: [&str; 5] = ["identifier", "in_pattern", "question", "words", "generic"];
/// States of inference, as `docsearch.status()` names them.
const INFERENCE_STATES: [&str; 6] = [
    "not started",
    "starting",
    "running",
    "not responding",
    "failed",
    "in process",
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SearchLabels {
    source: String,
    outcome: &'static str,
    class: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FallbackLabels {
    notice: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

/// The metrics of a server.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    in_progress: Gauge,
    searches: Family<SearchLabels, Counter>,
    search_durations: Family<SourceLabels, Histogram, fn() -> Histogram>,
    fallbacks: Family<FallbackLabels, Counter>,
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

impl Metrics {
    pub(super) fn new() -> Self {
        let new = Self {
            registry: Registry::with_prefix("docsearch"),
            requests: Family::default(),
            durations: Family::new_with_constructor(seconds),
            in_progress: Gauge::default(),
            searches: Family::default(),
            search_durations: Family::new_with_constructor(seconds),
            fallbacks: Family::default(),
        };
        new.registered()
    }

    fn registered(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register("http_requests", "Requests that ended", self.requests.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time from the head of a request to that of its answer",
            self.durations.clone(),
        );
        registry.register(
            "http_requests_in_progress",
            "Requests without an answer so far",
            self.in_progress.clone(),
        );
        registry.register("searches", "Searches that ended", self.searches.clone());
        registry.register(
            "search_duration_seconds",
            "Time of a search in the database",
            self.search_durations.clone(),
        );
        registry.register(
            "search_fallbacks",
            "Searches with a notice that something could not be used",
            self.fallbacks.clone(),
        );
        for notice in FALLBACKS {
            drop(self.fallbacks.get_or_create(&FallbackLabels { notice }));
        }
        self
    }

    pub(super) fn begin(&self) {
        self.in_progress.inc();
    }

    pub(super) fn end(&self, route: &str, status: u16, took: Duration) {
        self.in_progress.dec();
        let route = route.to_owned();
        self.durations
            .get_or_create(&RouteLabels { route: route.clone() })
            .observe(took.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { route, status }).inc();
    }

    /// All metrics in the text format of Prometheus.
    pub(super) fn text(&self, database: &DatabaseState) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)?;
        prometheus_text::encode(&mut text, &gauges(database))?;
        Ok(text)
    }
}

impl SearchObserver for Metrics {
    fn searched(&self, source: LogSource, found: &Result<SearchAnswer, Error>, took: Duration) {
        let source = source.as_ref().to_owned();
        self.search_durations
            .get_or_create(&SourceLabels { source: source.clone() })
            .observe(took.as_secs_f64());
        if let Ok(answer) = found {
            for notice in FALLBACKS {
                if answer.notices.iter().any(|code| code == notice) {
                    self.fallbacks.get_or_create(&FallbackLabels { notice }).inc();
                }
            }
        }
        let labels = SearchLabels {
            source,
            outcome: outcome(found),
            class: found.as_ref().map_or("unknown", |answer| class(&answer.content)),
        };
        self.searches.get_or_create(&labels).inc();
    }
}

fn outcome(found: &Result<SearchAnswer, Error>) -> &'static str {
    match found {
        Ok(answer) if !answer.is_found() => "no_match",
        Ok(answer) if answer.confidence.as_deref() == Some("low") => "nothing_relevant",
        Ok(_) => "answered",
        Err(error) if error.sqlstate() == Some("57014") => "timeout",
        Err(_) => "error",
    }
}

/// The class of a query; only answers in JSON have it.
fn class(content: &str) -> &'static str {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        understood: Understood<'a>,
    }
    #[derive(Deserialize)]
    struct Understood<'a> {
        class: &'a str,
    }
    let found = serde_json::from_str::<Answer>(content).map(|answer| answer.understood.class);
    let known = found
        .ok()
        .and_then(|class| CLASSES.into_iter().find(|known| *known == class));
    known.unwrap_or("unknown")
}

/// What the database says. Values that it does not say are left out.
fn gauges(database: &DatabaseState) -> Registry {
    let mut registry = Registry::with_prefix("docsearch");
    let values = [
        (
            "database_up",
            "Whether the database answered within 2 seconds",
            Some(f64::from(u8::from(database.is_up))),
        ),
        (
            "index_waiting_documents",
            "Documents that wait for vectors",
            database.waiting,
        ),
        (
            "index_failed_documents",
            "Documents whose vectors failed five times",
            database.failed,
        ),
        (
            "index_unread_rows",
            "Changes of attached tables that are still to be read",
            database.unread,
        ),
        (
            "index_oldest_waiting_seconds",
            "Age of the document that has waited longest",
            database.oldest_seconds,
        ),
        (
            "inference_queue_depth",
            "Texts that wait to be embedded",
            database.queue_depth,
        ),
        (
            "inference_resident_bytes",
            "Memory of the inference program",
            database.resident_bytes,
        ),
        (
            "inference_restarts",
            "Restarts of the inference program",
            database.restarts,
        ),
    ];
    for (name, help, value) in values {
        if let Some(value) = value {
            let gauge = Gauge::<f64, AtomicU64>::default();
            gauge.set(value);
            registry.register(name, help, gauge);
        }
    }
    if let Some(now) = &database.inference {
        let states = Family::<StateLabels, Gauge>::default();
        for state in INFERENCE_STATES {
            states
                .get_or_create(&StateLabels { state })
                .set(i64::from(state == now));
        }
        registry.register("inference_state", "1 for the state of inference", states);
    }
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(content: &str, results: i32, confidence: Option<&str>, notices: &[&str]) -> Result<SearchAnswer, Error> {
        Ok(SearchAnswer {
            content: content.to_owned(),
            results,
            confidence: confidence.map(str::to_owned),
            notices: notices.iter().map(|code| (*code).to_owned()).collect(),
            highlights: Vec::new(),
        })
    }

    #[test]
    fn searches_are_counted_by_what_became_of_them() {
        let metrics = Metrics::new();
        let seen =
            |source, found: Result<SearchAnswer, Error>| metrics.searched(source, &found, Duration::from_millis(20));
        let asked = r#"{"understood": {"text": "a", "class": "question"}, "results": []}"#;
        seen(
            LogSource::Http,
            answer(asked, 1, Some("high"), &["vector_unavailable", "no_results"]),
        );
        seen(
            LogSource::Page,
            answer(&asked.replace("question", "odd\\\"}"), 1, Some("low"), &[]),
        );
        seen(LogSource::Mcp, answer("[a/b] text", 0, None, &[]));
        seen(LogSource::Mcp, Err(Error::Usage("broken".to_owned())));
        let text = metrics.text(&DatabaseState::default()).unwrap();
        for line in [
            r#"docsearch_searches_total{source="http",outcome="answered",class="question"} 1"#,
            r#"docsearch_searches_total{source="page",outcome="nothing_relevant",class="unknown"} 1"#,
            r#"docsearch_searches_total{source="mcp",outcome="no_match",class="unknown"} 1"#,
            r#"docsearch_searches_total{source="mcp",outcome="error",class="unknown"} 1"#,
            r#"docsearch_search_fallbacks_total{notice="vector_unavailable"} 1"#,
            r#"docsearch_search_fallbacks_total{notice="grade_fallback"} 0"#,
            r#"docsearch_search_duration_seconds_bucket{source="http",le="0.025"} 1"#,
            "docsearch_database_up 0.0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn unknown_values_are_left_out() {
        let state = DatabaseState {
            is_up: true,
            waiting: Some(3.0),
            inference: Some("running".to_owned()),
            ..DatabaseState::default()
        };
        let text = Metrics::new().text(&state).unwrap();
        assert!(text.contains("docsearch_index_waiting_documents 3"), "{text}");
        assert!(
            text.contains(r#"docsearch_inference_state{state="running"} 1"#),
            "{text}"
        );
        assert!(
            text.contains(r#"docsearch_inference_state{state="failed"} 0"#),
            "{text}"
        );
        assert!(!text.contains("oldest"), "{text}");
    }

    #[test]
    fn requests_in_progress_end() {
        let metrics = Metrics::new();
        metrics.begin();
        metrics.begin();
        metrics.end("/v1/search", 200, Duration::from_millis(3));
        let text = metrics.text(&DatabaseState::default()).unwrap();
        assert!(text.contains("docsearch_http_requests_in_progress 1"), "{text}");
        assert!(
            text.contains(r#"docsearch_http_requests_total{route="/v1/search",status="200"} 1"#),
            "{text}"
        );
    }
}
