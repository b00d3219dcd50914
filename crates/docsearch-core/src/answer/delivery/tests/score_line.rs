//! The line below the title of a compact result.

use super::*;

/// `   0.93 high | 1240 tokens to load | same document as 1 | https://example.org/button`
pub(super) fn is_score_line(line: &str, result: &SearchResult) -> bool {
    let confidence = match result.confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low (weak match)",
    };
    let (score, tokens) = (result.score.clamp(0.0, 1.0), result.section_tokens.unwrap_or_default());
    let facts = format!("   {score:.2} {confidence} | {tokens} tokens to load");
    let Some(mut rest) = line.strip_prefix(&facts) else {
        return false;
    };
    if result.additional_chunk {
        let Some(same) = rest.strip_prefix(" | same document as ") else {
            return false;
        };
        rest = same
            .strip_prefix("before")
            .unwrap_or_else(|| same.trim_start_matches(|c: char| c.is_ascii_digit()));
        if rest == same {
            return false;
        }
    }
    let others = ["", " | same text as 1 other page", " | same text as 2 other pages"][result.duplicates as usize];
    rest = rest.strip_prefix(others).unwrap_or("-");
    if let Some(versions) = rest.strip_prefix(" | also in version ") {
        let end = versions.find(" | ").unwrap_or(versions.len());
        let is_ours = |c: char| c.is_ascii_alphanumeric() || " ,.-_+".contains(c);
        if result.other_versions.is_empty() || !versions[..end].chars().all(is_ours) {
            return false;
        }
        rest = &versions[end..];
    }
    let url = result
        .url
        .as_deref()
        .map(|url| without_references(&one_line(url)).into_owned());
    rest.is_empty() || url.is_some_and(|url| !url.is_empty() && rest.strip_prefix(" | ") == Some(&url))
}
