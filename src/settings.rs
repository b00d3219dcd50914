//! The settings `docsearch.*`: names, units, bounds and help.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::time::Duration;

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};
use pgrx::prelude::*;

use crate::report::Result;
use crate::statement;

/// A number between bounds that a session may set; those of [`REALS`] a call through `config`, too.
pub(crate) struct Real {
    /// Name without `docsearch.`; the key in `config`.
    pub(crate) name: &'static CStr,
    pub(crate) guc: GucSetting<f64>,
    pub(crate) min: f64,
    pub(crate) max: f64,
    help: &'static CStr,
}

/// A whole number between bounds that a session may set; those of [`INTS`] a call through `config`, too.
pub(crate) struct Int {
    /// Name without `docsearch.`; the key in `config`.
    pub(crate) name: &'static CStr,
    pub(crate) guc: GucSetting<i32>,
    pub(crate) min: i32,
    pub(crate) max: i32,
    help: &'static CStr,
}

macro_rules! reals {
    ($list:ident: $($id:ident $name:literal = $default:literal in $min:literal..$max:literal: $help:literal;)*) => {
        $(pub(crate) static $id: Real = Real {
            name: $name, guc: GucSetting::<f64>::new($default), min: $min, max: $max, help: $help,
        };)*
        pub(crate) static $list: &[&Real] = &[$(&$id),*];
    };
}

macro_rules! ints {
    ($list:ident: $($id:ident $name:literal = $default:literal in $min:literal..$max:literal: $help:literal;)*) => {
        $(pub(crate) static $id: Int = Int {
            name: $name, guc: GucSetting::<i32>::new($default), min: $min, max: $max, help: $help,
        };)*
        pub(crate) static $list: &[&Int] = &[$(&$id),*];
    };
}

mod endpoint;
pub(crate) use endpoint::{
    LLM_GRADE_MAX_TOKENS, LLM_GRADE_TEMPERATURE, LLM_MAX_CALLS, LLM_TRANSFORM_MAX_TOKENS, LLM_TRANSFORM_TEMPERATURE,
    LLM_TRANSFORM_TOP_K, LLM_TRANSFORM_TOP_P, endpoint_timeout, language_model, language_model_timeout,
};

reals! {
    REALS:
    HYBRID_WEIGHT c"hybrid_weight" = -1.0 in -1.0..1.0:
        c"Share of the dense score in the base score: 0 is keywords alone, 1 is vectors alone, -1 is the share for the class of the query.";
    // From 0.2 over 0.3, 0.4 to 0.5, P@1 of python-docs symbol rises from .875 to .911 and of postgres-docs
    // identifier from .776 to .816; at 0.6 the latter is .803.
    HYBRID_WEIGHT_IDENTIFIER c"hybrid_weight_identifier" = 0.5 in 0.0..1.0:
        c"Share of the dense score where the query is a name of code.";
    HYBRID_WEIGHT_IN_PATTERN c"hybrid_weight_in_pattern" = 0.5 in 0.0..1.0:
        c"Share of the dense score where the query is X in Y, and Y is known.";
    HYBRID_WEIGHT_QUESTION c"hybrid_weight_question" = 0.5 in 0.0..1.0:
        c"Share of the dense score where the query is a question.";
    // 0.4, with weight_keyword 0: tldr-commands unnamed .539 (0.5: .524), tools-azure-mcp .928 (.914),
    // python-docs index-concept .799 (.807), postgres-docs and scifact (train) the same within .004.
    HYBRID_WEIGHT_WORDS c"hybrid_weight_words" = 0.4 in 0.0..1.0:
        c"Share of the dense score where the query is some words.";
    HYBRID_WEIGHT_GENERIC c"hybrid_weight_generic" = 0.2 in 0.0..1.0:
        c"Share of the dense score where the query is a generic term alone.";
    DOCUMENT_SHARE c"document_share" = 0.5 in 0.0..1.0:
        c"Share of the document as a whole in the keyword score; the rest is its best section.";
    // tools-azure-mcp: P@1 .839 at 0.9 and 1.0, .827 at 1.2; python-docs symbol: .821, .839, .857.
    BM25_K1 c"bm25_k1" = 1.0 in 0.0..10.0:
        c"BM25F: how soon more occurrences of a word stop to count.";
    // python-docs: nDCG@10 0.770 to 0.774 from 0.2 to 0.4, 0.754 at 0.75; scifact does not tell them apart.
    BM25_B c"bm25_b" = 0.4 in 0.0..1.0:
        c"BM25F: how much longer texts are held back.";
    WEIGHT_TITLE c"weight_title" = 2.0 in 0.0..100.0:
        c"BM25F: weight of a word in the title; a word in the body weighs 1.";
    WEIGHT_HEADING c"weight_heading" = 1.5 in 0.0..100.0:
        c"BM25F: weight of a word in a heading.";
    WEIGHT_KEYWORD c"weight_keyword" = 0.0 in 0.0..100.0:
        c"BM25F: weight of a keyword of the document.";
    PART_WEIGHT c"part_weight" = 0.3 in 0.0..1.0:
        c"How much the parts of an identifier count beside the identifier whole.";
    BOOST_IN_PATTERN c"boost_in_pattern" = 0.8 in 0.0..1.0:
        c"Boost of a page that X in Y names: whole if its title is X, less if its path or its words are.";
    BOOST_FRAMEWORK c"boost_framework" = 0.25 in 0.0..1.0:
        c"Boost of pages that belong to the Y of X in Y.";
    BOOST_FILENAME_EXACT c"boost_filename_exact" = 0.5 in 0.0..1.0:
        c"Boost of a page whose file name is the query.";
    BOOST_FILENAME_ALL_WORDS c"boost_filename_all_words" = 0.4 in 0.0..1.0:
        c"Boost of a page that has all words of the query in its name.";
    BOOST_NAME_WORDS c"boost_name_words" = 0.25 in 0.0..1.0:
        c"Boost of a page whose name has no word but those of the query, among pages named by verbs; with some of them, the square of their share.";
    BOOST_API_NAME c"boost_api_name" = 0.4 in 0.0..1.0:
        c"Boost of a page whose name the query is or mentions; three quarters if not as written.";
    BOOST_GENERIC_TERM c"boost_generic_term" = 1.0 in 0.0..10.0:
        c"Factor of the boosts in docsearch.generic_term.";
    BOOST_ACTION_NAME c"boost_action_name" = 0.4 in 0.0..1.0:
        c"Boost of a page with the query's verb in its name.";
    BOOST_ACTION_DESCRIPTION c"boost_action_description" = 0.2 in 0.0..1.0:
        c"Boost of a page with the query's verb in its summary.";
    BOOST_OBJECT_NAME c"boost_object_name" = 0.2 in 0.0..1.0:
        c"Boost of a page with another word of a query with a verb in its name.";
    BOOST_OBJECT_DESCRIPTION c"boost_object_description" = 0.1 in 0.0..1.0:
        c"Boost of a page with another word of a query with a verb in its summary.";
    SYNONYM_FACTOR c"synonym_factor" = 1.2 in 0.0..10.0:
        c"Factor of a verb's boost where a page has a synonym of it.";
    DIMINISHING_FACTOR c"diminishing_factor" = 0.8 in 0.0..1.0:
        c"Factor of all boosts of words for each further word found.";
    BOOST_CATEGORY_CONTEXT c"boost_category_context" = 0.1 in 0.0..1.0:
        c"Boost of a page whose category a query with a verb names.";
    BOOST_PLATFORM c"boost_platform" = 0.1 in 0.0..1.0:
        c"Boost of a page for the platform that the query names.";
    BOOST_PHRASE c"boost_phrase" = 0.2 in 0.0..1.0:
        c"Boost of a page with a quoted phrase in its title or summary.";
    BOOST_RECENCY c"boost_recency" = 0.3 in 0.0..1.0:
        c"Boost of a new page, where the query asks for what is new.";
    RECENCY_HALF_LIFE c"recency_half_life" = 90.0 in 1.0..36500.0:
        c"Days after which the boost of new pages is half.";
    PENALTY_INTENT_CONFLICT c"penalty_intent_conflict" = 1.0 in 0.0..10.0:
        c"Factor of the penalties in docsearch.intent_conflict.";
    PENALTY_ELSEWHERE c"penalty_elsewhere" = 0.25 in 0.0..1.0:
        c"Share of the score that a page loses which states that it belongs elsewhere than to the Y of X in Y.";
    PENALTY_OLDER_VERSION c"penalty_older_version" = 0.05 in 0.0..1.0:
        c"Share of the score that a page loses of which a newer version was found.";
    WEIGHT_DEFINITION c"weight_definition" = 0.6 in 0.0..1.0:
        c"Strength of the only section of a project that defines a name which the query asks for.";
    DECAY_SLOPE c"decay_slope" = 0.0 in 0.0..10.0:
        c"Distant pages lose this much of their dense score for each unit of distance (1 less the dense score).";
    DECAY_FLOOR c"decay_floor" = 0.1 in 0.0..1.0:
        c"What distant pages keep of their dense score at least.";
    MAX_BOOST c"max_boost" = 2.0 in 1.0..10.0:
        c"Greatest factor of all boosts together.";
    TRANSFORM_SHARE c"transform_share" = 0.5 in 0.0..1.0:
        c"Of what a transformed query finds better than the query itself, the share that is added to a score.";
    GRADE_MIN_SCORE c"grade_min_score" = 0.6 in 0.0..1.0:
        c"Answers of a lower grade are to be refined.";
    GRADE_MIN_RELEVANCE c"grade_min_relevance" = 0.65 in 0.0..1.0:
        c"Answers of a lower relevance are to be refined.";
    GRADE_MIN_COMPLETENESS c"grade_min_completeness" = 0.55 in 0.0..1.0:
        c"Answers of a lower completeness are to be refined.";
    DEDUP_SIMILARITY c"dedup_similarity" = 0.8 in 0.0..1.0:
        c"With dedup 'similar', greatest cosine similarity of a further section to those of its document that stand before it.";
    CONFIDENCE_HIGH c"confidence_high" = 0.85 in 0.0..1.0:
        c"Least trust in a result of high confidence: its score and its lead over the next document.";
    CONFIDENCE_MEDIUM c"confidence_medium" = 0.35 in 0.0..1.0:
        c"Least trust in a result of medium confidence.";
    CONFIDENCE_LEAD c"confidence_lead" = 2.0 in 0.0..10.0:
        c"How much the lead of the first result over the next document, up to 0.2, adds to the trust in it.";
}

ints! {
    INTS:
    // scifact, python-docs, postgres-docs and tldr-commands: nDCG@10 the same within 0.001 whether
    // the dense leg brings all of them or its half.
    CANDIDATES c"candidates" = 200 in 10..10_000:
        c"Candidates of a search, or twice max_results: so many documents from the keyword leg, and of the dense leg its share in sections.";
    // 600 to 1200 give the same quality on the scifact and python-docs development sets.
    KEYWORD_BUDGET c"keyword_budget" = 800 in 10..1_000_000:
        c"Number of sections that keyword search reads at most: rarest words first.";
    // Of 5,000 to 10,000 all are compared in the time in which the index finds its first 80.
    EXACT_SEARCH_LIMIT c"exact_search_limit" = 8000 in 0..10_000_000:
        c"Up to this number of sections vectors are compared one by one and no index is used.";
    MINIMUM_TERM_LENGTH c"minimum_term_length" = 2 in 0..100:
        c"Words of so many characters or fewer earn no boost.";
    SNIPPET_LENGTH c"snippet_length" = 240 in 20..10_000:
        c"Length of snippets, in characters.";
}

/// Threads that embed passages.
pub(crate) static THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);
/// When documents get their vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub(crate) enum IndexMode {
    #[name = c"immediate"]
    Immediate,
    #[name = c"deferred"]
    Deferred,
}

/// Where models run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub(crate) enum Inference {
    #[name = c"service"]
    Service,
    #[name = c"in_process"]
    InProcess,
}

/// When documents get their vectors.
pub(crate) static INDEX_MODE: GucSetting<IndexMode> = GucSetting::<IndexMode>::new(IndexMode::Immediate);
/// Where models run.
pub(crate) static INFERENCE: GucSetting<Inference> = GucSetting::<Inference>::new(Inference::Service);
/// Milliseconds.
static ATTACHED_READ_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(5_000);
/// Milliseconds.
static INFERENCE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(30_000);
/// Megabytes; 0 is no limit.
static INFERENCE_MEMORY_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(4096);
/// Kilobytes.
static QUERY_CACHE_SIZE: GucSetting<i32> = GucSetting::<i32>::new(16 * 1024);
/// `docsearch-inference`.
static INFERENCE_PROGRAM: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
/// `libonnxruntime.so`.
pub(crate) static ONNXRUNTIME_PATH: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
/// Where models are.
pub(crate) static MODEL_DIRECTORY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
/// Model of new projects.
pub(crate) static DEFAULT_MODEL: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"all-MiniLM-L6-v2"));

/// How long the background worker may read rows of an attached table at a time.
pub(crate) fn attached_read_timeout() -> Duration {
    Duration::from_millis(u64::try_from(ATTACHED_READ_TIMEOUT.get()).unwrap_or_default())
}

/// How long an answer of the inference program may take.
pub(crate) fn inference_timeout() -> Duration {
    Duration::from_millis(u64::try_from(INFERENCE_TIMEOUT.get()).unwrap_or_default())
}

/// Greatest size of the inference program's data, in bytes.
pub(crate) fn memory_limit() -> Option<u64> {
    let megabytes = u64::try_from(INFERENCE_MEMORY_LIMIT.get()).unwrap_or_default();
    (megabytes > 0).then_some(megabytes << 20)
}

/// Greatest size of the cache of query vectors, in bytes.
pub(crate) fn query_cache_bytes() -> u64 {
    u64::try_from(QUERY_CACHE_SIZE.get()).unwrap_or_default() << 10
}

/// The program `docsearch-inference`.
pub(crate) fn inference_program() -> PathBuf {
    match INFERENCE_PROGRAM.get() {
        Some(path) if !path.is_empty() => path.to_string_lossy().into_owned().into(),
        _ => library_directory().join("pg_docsearch/docsearch-inference"),
    }
}

/// `libonnxruntime.so`.
pub(crate) fn runtime_path() -> PathBuf {
    match ONNXRUNTIME_PATH.get() {
        Some(path) if !path.is_empty() => path.to_string_lossy().into_owned().into(),
        _ => library_directory().join("pg_docsearch/libonnxruntime.so"),
    }
}

/// Where the server's libraries are.
fn library_directory() -> PathBuf {
    // SAFETY: a path that the server terminated at its start and does not change.
    let path = unsafe { CStr::from_ptr((&raw const pg_sys::pkglib_path).cast()) };
    PathBuf::from(path.to_string_lossy().into_owned())
}

/// `docsearch.` and a name, for the life of the server.
fn qualified(name: &CStr) -> &'static CStr {
    let mut full = b"docsearch.".to_vec();
    full.extend(name.to_bytes());
    let full = CString::new(full).unwrap_or_default();
    Box::leak(full.into_boxed_c_str())
}

/// Defines every setting. Called once, when the library is loaded.
pub(crate) fn define() {
    let flags = GucFlags::default();
    for real in REALS.iter().chain(endpoint::REALS) {
        GucRegistry::define_float_guc(
            qualified(real.name),
            real.help,
            c"",
            &real.guc,
            real.min,
            real.max,
            GucContext::Userset,
            flags,
        );
    }
    let of_anybody = INTS.iter().chain(endpoint::INTS).map(|int| (int, GucContext::Userset));
    let of_operators = endpoint::LIMITS.iter().map(|int| (int, GucContext::Suset));
    for (int, context) in of_anybody.chain(of_operators) {
        GucRegistry::define_int_guc(
            qualified(int.name),
            int.help,
            c"",
            &int.guc,
            int.min,
            int.max,
            context,
            flags,
        );
    }
    GucRegistry::define_string_guc(
        c"docsearch.default_model",
        c"Model of new projects: the name of a directory below docsearch.model_directory.",
        c"A project keeps the model that it was created with.",
        &DEFAULT_MODEL,
        GucContext::Userset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.threads",
        c"Threads that embed passages; 0 is half the cores, at least one.",
        c"One more embeds queries only.",
        &THREADS,
        0,
        1024,
        GucContext::Sighup,
        flags,
    );
    GucRegistry::define_enum_guc(
        c"docsearch.index_mode",
        c"When documents get their vectors: while they are indexed (immediate) or afterwards, in the background (deferred).",
        c"Keyword search finds deferred documents at once. docsearch.wait_for_index() waits for their vectors.",
        &INDEX_MODE,
        GucContext::Userset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.attached_read_timeout",
        c"How long the background worker may read rows of an attached table at a time.",
        c"Casts, policies and other code of its owner run then, and everybody else's documents wait. A table that exceeds it is read in smaller parts and waits longer each time.",
        &ATTACHED_READ_TIMEOUT,
        100,
        600_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_enum_guc(
        c"docsearch.inference",
        c"Where models run: in one program for the whole server (service) or in each backend (in_process).",
        c"In a backend the first embedding of every connection loads the model, and a crash of the library is one of the server.",
        &INFERENCE,
        GucContext::Suset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.inference_timeout",
        c"How long the inference program may take to start or to answer.",
        c"After that a search goes on with keywords, and indexing fails.",
        &INFERENCE_TIMEOUT,
        10,
        3_600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"docsearch.inference_memory_limit",
        c"Greatest size of the inference program's data; 0 is no limit.",
        c"The default model needs about 150 MB, and 65 MB more for each thread.",
        &INFERENCE_MEMORY_LIMIT,
        0,
        1 << 20,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY | GucFlags::UNIT_MB,
    );
    GucRegistry::define_int_guc(
        c"docsearch.query_cache_size",
        c"Memory of the inference program for the vectors of queries that were asked before; 0 is none.",
        c"An eighth of it comes on top for answers of a language model.",
        &QUERY_CACHE_SIZE,
        0,
        1 << 30,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY | GucFlags::UNIT_KB,
    );
    GucRegistry::define_string_guc(
        c"docsearch.inference_program",
        c"Program docsearch-inference.",
        c"Not set: the one that was installed with the extension.",
        &INFERENCE_PROGRAM,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"docsearch.onnxruntime_path",
        c"Library libonnxruntime.so of ONNX Runtime 1.24 or newer.",
        c"Not set: the copy that was installed with the extension.",
        &ONNXRUNTIME_PATH,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"docsearch.model_directory",
        c"Directory that holds the directories of models, or is the directory of one.",
        c"Not set: the one that was installed with the extension.",
        &MODEL_DIRECTORY,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    endpoint::define();
}

#[pg_schema]
mod docsearch {
    use super::*;

    /// Every setting with its value, where the value comes from, its unit and a sentence of help.
    #[pg_extern(stable, parallel_safe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::type_complexity)]
    fn settings() -> Result<
        TableIterator<
            'static,
            (
                name!(name, String),
                name!(value, Option<String>),
                name!(source, String),
                name!(unit, Option<String>),
                name!(minimum, Option<String>),
                name!(maximum, Option<String>),
                name!(help, String),
            ),
        >,
    > {
        let rows = statement::rows(
            "SELECT s.name, s.setting, s.source, s.unit, s.min_val, s.max_val,
                    pg_catalog.concat_ws(' ', s.short_desc, NULLIF(s.extra_desc, ''))
             FROM pg_catalog.pg_settings s WHERE s.name LIKE 'docsearch.%' ORDER BY s.name",
            &[],
            |row| {
                Ok((
                    row.required(1)?,
                    row.optional(2)?,
                    row.required(3)?,
                    row.optional(4)?,
                    row.optional(5)?,
                    row.optional(6)?,
                    row.required(7)?,
                ))
            },
        )?;
        Ok(TableIterator::new(rows))
    }
}
