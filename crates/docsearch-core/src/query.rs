//! A query as it was written.

/// Longest query, in characters, that is read; what follows is ignored, with a notice.
pub const MAX_QUERY_CHARS: usize = 8_000;

/// A query as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The text, trimmed.
    pub text: String,
    /// Whether the text was longer than [`MAX_QUERY_CHARS`].
    pub truncated: bool,
}

impl Query {
    /// Reads a query. `None` if it is blank.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return None;
        }
        let end = trimmed.char_indices().nth(MAX_QUERY_CHARS).map(|(at, _)| at);
        Some(Self {
            text: trimmed[..end.unwrap_or(trimmed.len())].to_owned(),
            truncated: end.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_30_only_blank_queries_are_refused() {
        assert_eq!(Query::parse(" \n\t"), None);
        for query in ["@>", "[[", "!"] {
            assert_eq!(Query::parse(query).map(|query| query.text).as_deref(), Some(query));
        }
        let long = Query::parse(&"x ".repeat(50_000)).expect("not blank");
        assert!(long.truncated);
        assert_eq!(long.text.chars().count(), MAX_QUERY_CHARS);
    }
}
