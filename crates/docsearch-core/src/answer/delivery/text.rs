//! Answers as text for a terminal or a language model.
//!
//! Lines that begin in the first column are ours: a result's number, `note`, `searched`, `did you mean`, `topics
//! here` and `tip`. Text of documents follows a label, on one line. A bracket before a name and a slash is the
//! reference of a result, in the line with its number and nowhere else.

use std::fmt::Write;

use super::answer::{Answer, SearchResult};
use super::budget::Budget;
use super::confidence::Confidence;
use super::notice::Notice;
use super::reference::{reference_in_brackets, without_references};
use super::syntax::Syntax;
use crate::query::suggestion::SuggestionKind;
use crate::text::line::{clip, name_in_one_line, one_line};
use crate::values::bounds::listed;

/// Most characters of a compact answer with this number of results, whatever `max_chars` is: 2,000 up to five
/// results, 400 for each further one.
pub fn compact_limit(results: usize) -> usize {
    400 * results.max(5)
}

/// Most characters of the parts of a compact result.
#[derive(Clone, Copy)]
struct Limits {
    title: usize,
    excerpt: usize,
    /// References are cut last: they matter more than long excerpts.
    reference: usize,
    /// A URL is shown whole or not at all.
    url: usize,
}

/// From loose to tight.
const LIMITS: [Limits; 6] = [
    Limits::new(160, 300, usize::MAX, MAX_URL),
    Limits::new(120, 220, usize::MAX, MAX_URL),
    Limits::new(100, 160, usize::MAX, MAX_URL),
    Limits::new(80, 110, usize::MAX, MAX_URL),
    Limits::new(60, 70, usize::MAX, 0),
    TIGHTEST,
];

/// With these limits, a result has at most 320 characters.
const TIGHTEST: Limits = Limits::new(50, 50, 90, 0);

/// Longest URL that is shown, in characters.
const MAX_URL: usize = 160;
/// The same with labels.
const MAX_LABELLED_URL: usize = 2_000;

/// Longest title, and longest path of headings below it, that a line shows.
const MAX_LINE_TITLE: usize = 200;
const MAX_LINE_SECTION: usize = 400;
/// Enough of a wording to identify it: it is in the steps of every result.
const MAX_WORDING: usize = 200;

impl Limits {
    const fn new(title: usize, excerpt: usize, reference: usize, url: usize) -> Self {
        Self {
            title,
            excerpt,
            reference,
            url,
        }
    }
}

/// Most versions of a page that a line shows, and the longest of them, in bytes.
const SHOWN_VERSIONS: usize = 2;
const MAX_VERSION_BYTES: usize = 12;

/// Longest line after the results, in characters.
const NOTE_CHARS: usize = 160;

/// Most suggestions that are shown.
const MAX_SUGGESTIONS: usize = 5;

/// A result with each text on one line, not cut yet.
struct Lines {
    rank: u32,
    heading: String,
    reference: String,
    facts: String,
    /// Other versions of the page, after a bar.
    versions: String,
    /// URL of the page, after a bar.
    url: String,
    excerpt: String,
}

impl Lines {
    fn of(answer: &Answer, at: usize) -> Self {
        let result = &answer.results[at];
        let mut facts = format!("{} {}", score(result.score), trust(result.confidence));
        if let Some(tokens) = result.section_tokens {
            let _ = write!(facts, " | {tokens} tokens to load");
        }
        if let Some(same) = same_document(answer, at) {
            let _ = write!(facts, " | {same}");
        }
        if result.duplicates > 0 {
            let _ = write!(facts, " | {}", copies(result.duplicates));
        }
        Self {
            rank: result.rank,
            heading: heading(result),
            reference: reference(result),
            facts,
            versions: versions(&result.other_versions).map_or_else(String::new, |versions| format!(" | {versions}")),
            url: result
                .url
                .as_deref()
                .map(one_line)
                // A URL with a blank could imitate our text about a result.
                .filter(|url| !url.is_empty() && !url.contains(' '))
                .map_or_else(String::new, |url| format!(" | {}", without_references(&url))),
            excerpt: written(&result.snippet),
        }
    }

    fn block(&self, limits: &Limits) -> String {
        let title = titled(
            &clip(&self.heading, limits.title),
            &clip(&self.reference, limits.reference),
        );
        let (rank, facts, versions, url) = (self.rank, &self.facts, self.versions(limits), self.url(limits));
        let mut block = format!("{rank}. {title}\n   {facts}{versions}{url}\n");
        let excerpt = clip(&self.excerpt, limits.excerpt);
        if !excerpt.is_empty() {
            let _ = writeln!(block, "   {excerpt}");
        }
        block
    }

    /// Like a URL, they are not shown within tight limits.
    fn versions(&self, limits: &Limits) -> &str {
        if limits.url == 0 { "" } else { &self.versions }
    }

    fn url(&self, limits: &Limits) -> &str {
        if self.url.chars().count() <= limits.url {
            &self.url
        } else {
            ""
        }
    }

    /// Upper bound of the characters of the block.
    fn max_chars(&self, limits: &Limits) -> usize {
        let rank = self.rank.checked_ilog10().unwrap_or(0) as usize + 1;
        let texts = [
            (&self.heading, limits.title),
            (&self.reference, limits.reference),
            (&self.excerpt, limits.excerpt),
        ];
        let texts: usize = texts
            .iter()
            .map(|(text, max_chars)| text.chars().take(*max_chars).count())
            .sum();
        // Characters that `block` adds: `. `, ` []`, three line breaks and twice three spaces.
        rank + texts
            + self.facts.chars().count()
            + self.versions(limits).chars().count()
            + self.url(limits).chars().count()
            + 14
    }
}

/// The compact answer within the budget; `switched` if another format was asked for.
pub(super) fn compact(answer: &Answer, budget: Budget, switched: Option<Notice>) -> String {
    let results: Vec<Lines> = (0..answer.results.len()).map(|at| Lines::of(answer, at)).collect();
    let natural = compact_limit(results.len());
    let limit = natural.min(budget.max_chars());
    let whole = answer.syntax.length(natural, budget);
    let further = further_lines(answer);
    // Lines after the results may take up to a fifth of the limit.
    let reserved = length(&further).min(limit / 5);
    let longer = |text: &str, max_chars| text.char_indices().nth(max_chars).is_some();
    let notes = |limits: &Limits| {
        let mut own: Vec<String> = switched.iter().map(note).collect();
        if limit < natural && results.iter().any(|result| longer(&result.excerpt, limits.excerpt)) {
            let call = switched.is_none().then_some(whole.as_str());
            own.push(note(&Notice::excerpts_shortened(call)));
        }
        if results.iter().any(|result| longer(&result.reference, limits.reference)) {
            own.push(note(&Notice::references_shortened(answer.syntax.json())));
        }
        own
    };
    let fits = |limits: &&Limits| {
        let blocks: usize = results.iter().map(|result| result.max_chars(limits)).sum();
        blocks + length(&notes(limits)) + reserved <= limit
    };
    let (limits, shown, mut lines) = match LIMITS.iter().find(fits) {
        Some(limits) => (limits, results.len(), notes(limits)),
        None => {
            let own = notes(&TIGHTEST);
            let sizes = results.iter().map(|result| result.max_chars(&TIGHTEST));
            let (shown, own) = fitting(answer, sizes, own, reserved, limit, &whole);
            (&TIGHTEST, shown, own)
        }
    };
    let mut text: String = results[..shown].iter().map(|result| result.block(limits)).collect();
    lines.extend(further);
    let room = limit.saturating_sub(text.chars().count());
    text.extend(fitted(lines, room, answer.syntax));
    text.truncate(text.trim_end().len());
    text
}

/// Number of results that fit, by their sizes in characters, and the notice about the others.
fn fitting(
    answer: &Answer,
    sizes: impl Iterator<Item = usize>,
    own: Vec<String>,
    reserved: usize,
    limit: usize,
    whole: &str,
) -> (usize, Vec<String>) {
    let total = answer.results.len();
    let notes = |shown: usize| {
        let call = rest(answer.syntax, shown, total, answer.offset, whole);
        let left_out = Notice::results_left_out(shown, total, limit, &call);
        let mut lines = vec![note(&left_out)];
        lines.extend(own.iter().cloned());
        lines
    };
    let ends = sizes.scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    let within: Vec<usize> = ends
        .take(total.saturating_sub(1))
        .take_while(|&end| end <= limit)
        .collect();
    let shown = (1..=within.len())
        .rev()
        .find(|&shown| within[shown - 1] + length(&notes(shown)) + reserved <= limit)
        .unwrap_or(0);
    (shown, notes(shown))
}

/// The arguments for the results after the first `shown` of `total`; `whole` are those of a longer answer.
pub(super) fn rest(syntax: Syntax, shown: usize, total: usize, offset: usize, whole: &str) -> String {
    let rest = syntax.results(total - shown, offset.saturating_add(shown));
    rest.filter(|_| shown > 0).unwrap_or_else(|| whole.to_owned())
}

/// The first lines that fit, and a line with the number of the others.
fn fitted(mut lines: Vec<String>, room: usize, syntax: Syntax) -> Vec<String> {
    if length(&lines) <= room {
        return lines;
    }
    let all = lines.len();
    let call = match room {
        ..200 => String::new(),
        _ => format!(": {} has them", syntax.detailed()),
    };
    let rest = |shown: usize| format!("note: {} more lines left out{call}\n", all - shown);
    while length(&lines) + rest(lines.len()).chars().count() > room && lines.pop().is_some() {}
    lines.push(rest(lines.len()));
    lines
}

fn length(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count()).sum()
}

/// Text of an author, on one line and without references.
pub(super) fn written(text: &str) -> String {
    without_references(&one_line(text)).into_owned()
}

/// Reference of the section, for brackets.
pub(super) fn reference(result: &SearchResult) -> String {
    reference_in_brackets(&name_in_one_line(&result.reference())).into_owned()
}

/// Title and heading path. A first heading that repeats the title is shown once.
fn heading(result: &SearchResult) -> String {
    let (title, section) = (one_line(&result.title), one_line(&result.section));
    let below = match section.strip_prefix(&title) {
        Some("") => "",
        Some(below) => below.strip_prefix(" > ").unwrap_or(&section),
        None => &section,
    };
    let shown = [clip(&title, MAX_LINE_TITLE), clip(below, MAX_LINE_SECTION)];
    let shown: Vec<&str> = shown
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    without_references(&shown.join(" > ")).into_owned()
}

/// A heading and the reference, or the reference alone if the heading has nothing visible.
fn titled(heading: &str, reference: &str) -> String {
    if heading.is_empty() {
        format!("[{reference}]")
    } else {
        format!("{heading} [{reference}]")
    }
}

fn score(score: f32) -> String {
    format!("{:.2}", score.clamp(0.0, 1.0))
}

fn trust(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low (weak match)",
        other => other.as_str(),
    }
}

fn same_document(answer: &Answer, at: usize) -> Option<String> {
    let result = &answer.results[at];
    let first = answer.results[..at].iter().find(|other| result.is_same_document(other));
    result.additional_chunk.then(|| match first {
        Some(first) => format!("same document as {}", first.rank),
        None => "same document as before".to_owned(),
    })
}

/// The other versions of a page that are written like versions. `None` if there are none: other text could imitate ours.
fn versions(others: &[String]) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let plain = |version: &&String| (1..=MAX_VERSION_BYTES).contains(&version.len()) && version.chars().all(is_plain);
    let plain: Vec<&String> = others.iter().filter(plain).take(SHOWN_VERSIONS).collect();
    (!plain.is_empty()).then(|| format!("also in version {}", listed(&plain, others.len())))
}

fn copies(duplicates: u32) -> String {
    let pages = if duplicates == 1 { "page" } else { "pages" };
    format!("same text as {duplicates} other {pages}")
}

fn note(notice: &Notice) -> String {
    labelled(&format!("note ({})", notice.code.as_str()), &notice.message)
}

fn labelled(label: &str, text: &str) -> String {
    format!("{}\n", clip(&format!("{label}: {}", written(text)), NOTE_CHARS))
}

/// Lines after the results, the most important first.
fn further_lines(answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> = answer.notices.iter().map(note).collect();
    if answer.executed_query != answer.query {
        lines.push(labelled("searched", &answer.executed_query));
    }
    if !answer.suggestions.is_empty() {
        let shown = answer.suggestions.iter().take(MAX_SUGGESTIONS);
        let queries: Vec<&str> = shown.map(|suggestion| suggestion.suggestion.as_str()).collect();
        let topics = answer
            .suggestions
            .iter()
            .all(|suggestion| suggestion.kind == SuggestionKind::Topic);
        let label = if topics { "topics here" } else { "did you mean" };
        lines.push(labelled(label, &queries.join(", ")));
    }
    lines.extend(answer.tips.iter().map(|tip| labelled("tip", tip)));
    lines
}

/// The whole answer with labels, whatever its length.
pub(super) fn detailed(answer: &Answer) -> String {
    let mut text = String::new();
    for at in 0..answer.results.len() {
        detailed_block(&mut text, answer, at);
        text.push('\n');
    }
    for line in further_lines(answer) {
        text.push_str(&line);
    }
    text.truncate(text.trim_end().len());
    text
}

fn detailed_block(text: &mut String, answer: &Answer, at: usize) {
    let result = &answer.results[at];
    let _ = writeln!(
        text,
        "{}. {}",
        result.rank,
        titled(&heading(result), &reference(result))
    );
    let similarity = result
        .similarity
        .map_or_else(|| "none".to_owned(), |similarity| format!("{similarity:.4}"));
    let _ = writeln!(
        text,
        "   score: {:.4} {} (similarity {similarity}, keywords {:.4})",
        result.score,
        trust(result.confidence),
        result.keyword_score
    );
    for step in result.breakdown.iter().flatten() {
        let matched = match written(&step.matched) {
            matched if matched.is_empty() => matched,
            matched if step.step == "wording" => {
                let (share, own) = (step.weight, step.raw);
                format!(" {} (share {share:.2}, alone {own:.4})", clip(&matched, MAX_WORDING))
            }
            matched => format!(" {matched}"),
        };
        let _ = writeln!(
            text,
            "   - {}{matched}: {:.4} to {:.4}",
            step.rule, step.before, step.after
        );
    }
    let tokens = result
        .section_tokens
        .map_or_else(String::new, |tokens| format!("{tokens} tokens to load, "));
    let _ = write!(
        text,
        "   document: {tokens}chunk {} of {}",
        result.chunk_no.saturating_add(1),
        result.chunk_count
    );
    if let Some(same) = same_document(answer, at) {
        let _ = write!(text, ", {same}");
    }
    if result.duplicates > 0 {
        let _ = write!(text, ", {}", copies(result.duplicates));
    }
    if let Some(versions) = versions(&result.other_versions) {
        let _ = write!(text, ", {versions}");
    }
    text.push('\n');
    for reference in &result.also_at {
        let _ = writeln!(text, "   also at: {}", written(reference));
    }
    let url = result
        .url
        .clone()
        .filter(|url| url.char_indices().nth(MAX_LABELLED_URL).is_none());
    let fields = [
        ("category", &result.category),
        ("url", &url),
        ("updated", &result.updated_at),
    ];
    for (label, value) in fields {
        if let Some(value) = value {
            let _ = writeln!(text, "   {label}: {}", written(value));
        }
    }
    let _ = writeln!(text, "   excerpt: {}", written(&result.snippet));
    for section in &result.section_matches {
        let title = match section.title.as_str() {
            "" => &result.title,
            title => title,
        };
        // A title must not imitate the anchor after it either.
        let title = clip(&written(title), MAX_LINE_SECTION).replace("[#", "(#");
        let _ = write!(text, "   section: {title}");
        if !section.id.is_empty() {
            let id = name_in_one_line(&section.id).replace('[', "%5B").replace(']', "%5D");
            let _ = write!(text, " [#{id}]");
        }
        let _ = writeln!(text, " {}: {}", score(section.score), written(&section.snippet));
    }
}
