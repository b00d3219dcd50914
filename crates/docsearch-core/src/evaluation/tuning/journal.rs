//! What was measured, as lines of text, so that an interrupted search goes on where it was. The search is deterministic: it asks
//! for the same measurements again.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::evaluation::tuning::space::Settings;

/// The values of some queries with some settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What was searched, by which queries: what was measured for other queries is not used.
    pub digest: String,
    /// The settings.
    pub settings: Settings,
    /// Number of the first query.
    pub first: usize,
    /// The value of each query from there.
    pub values: Vec<f64>,
}

/// How many of the queries a search measures, which depends on how fast they were then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// What was searched, by which queries.
    pub digest: String,
    /// Number of judged queries.
    pub judged: usize,
}

/// The lines of an interrupted search.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    judged: Option<usize>,
    known: HashMap<(String, usize), Vec<f64>>,
}

impl Journal {
    /// Reads the lines with this digest. A line that was cut off is left out.
    pub fn read(text: &str, digest: &str) -> Self {
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let known = lines
            .filter(|line| line.digest == digest)
            .map(|line| ((key(&line.settings), line.first), line.values))
            .collect();
        let sizes = text.lines().filter_map(|line| serde_json::from_str::<Size>(line).ok());
        let judged = sizes
            .filter(|size| size.digest == digest)
            .map(|size| size.judged)
            .next_back();
        Self { judged, known }
    }

    /// How many judged queries the search measures, if it was begun.
    pub fn judged(&self) -> Option<usize> {
        self.judged
    }

    /// What was measured for these queries with these settings.
    pub fn get(&self, settings: &Settings, queries: &Range<usize>) -> Option<Vec<f64>> {
        let values = self.known.get(&(key(settings), queries.start))?;
        (values.len() == queries.len()).then(|| values.clone())
    }

    /// Number of measurements.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

fn key(settings: &Settings) -> String {
    let values = settings.iter().map(|(name, value)| format!("{name}={value}"));
    values.collect::<Vec<_>>().join(",")
}
