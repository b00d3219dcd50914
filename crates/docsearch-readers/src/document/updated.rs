//! The time of the last change of a page: from its front matter, or from the history of its file.

use serde_json::{Map, Value};

use crate::document::Document;
use crate::draft::front_matter::is_iso_date;

/// The metadata key for the time of the last change.
const KEY: &str = "updated";
/// The front matter keys of generators, in order of precedence.
const KEYS: [&[&str]; 4] = [&[KEY], &["last_update", "date"], &["lastmod"], &["last_modified_at"]];

/// Sets the time of the last change in the metadata: from the front matter, or else `committed`. It is also the time of
/// publication if there is none, so that pages are as recent as their last change.
pub fn note(document: &mut Document, committed: Option<&str>) {
    let updated = stated(&document.metadata).or_else(|| committed.map(str::to_owned));
    let Some(updated) = updated else {
        return;
    };
    if document.published_at.is_none() {
        document.published_at = Some(updated.clone());
    }
    document.metadata.entry(KEY).or_insert(Value::String(updated));
}

fn stated(metadata: &Map<String, Value>) -> Option<String> {
    KEYS.iter().find_map(|path| {
        let (first, rest) = path.split_first()?;
        let value = rest
            .iter()
            .try_fold(metadata.get(*first)?, |value, key| value.get(key))?;
        let text = value.as_str()?.trim();
        is_iso_date(text).then(|| text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COMMITTED: &str = "2024-06-01T10:00:00Z";

    fn noted(metadata: Value, published_at: Option<&str>, committed: Option<&str>) -> (Value, Option<String>) {
        let Value::Object(metadata) = metadata else { panic!() };
        let mut document = Document {
            metadata,
            published_at: published_at.map(str::to_owned),
            ..Document::default()
        };
        note(&mut document, committed);
        (Value::Object(document.metadata), document.published_at)
    }

    #[test]
    fn the_last_commit_counts_without_a_date_in_front_matter() {
        let (metadata, published) = noted(json!({"level": 1}), None, Some(COMMITTED));
        assert_eq!(metadata, json!({"level": 1, "updated": COMMITTED}));
        assert_eq!(published.as_deref(), Some(COMMITTED));
        assert_eq!(noted(json!({}), None, None), (json!({}), None));
    }

    #[test]
    fn front_matter_takes_precedence_over_the_commit_and_published_at_stays() {
        let date = "2023-02-01";
        for metadata in [
            json!({"updated": date}),
            json!({"last_update": {"date": date, "author": "Ada"}}),
            json!({"lastmod": date}),
            json!({"last_modified_at": date, "lastmod": "yesterday"}),
        ] {
            let (noted, published) = noted(metadata.clone(), Some("2020-01-01"), Some(COMMITTED));
            assert_eq!(noted["updated"], date, "{metadata}");
            assert_eq!(published.as_deref(), Some("2020-01-01"));
        }
        assert_eq!(noted(json!({"lastmod": date}), None, None).1.as_deref(), Some(date));
    }

    #[test]
    fn invalid_dates_stay_text() {
        let (metadata, published) = noted(json!({"updated": "May 2024"}), None, Some(COMMITTED));
        assert_eq!(metadata["updated"], "May 2024");
        assert_eq!(published.as_deref(), Some(COMMITTED));
    }
}
