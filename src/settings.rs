//! The settings `docsearch.*`: names, units, bounds and help.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use docsearch_core::ranking::weight::{WEIGHTS, Weight};
use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};
use pgrx::prelude::*;

use crate::postgres::report;

/// A number between bounds that a session may set.
pub(crate) struct Real {
    /// Name without `docsearch.`.
    name: &'static CStr,
    pub(crate) guc: GucSetting<f64>,
    min: f64,
    max: f64,
    help: &'static CStr,
}

/// A whole number between bounds that a session may set.
pub(crate) struct Int {
    /// Name without `docsearch.`.
    name: &'static CStr,
    pub(crate) guc: GucSetting<i32>,
    min: i32,
    max: i32,
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
mod language;
pub(crate) mod query_log;
pub(crate) use endpoint::{
    LLM_GRADE_MAX_TOKENS, LLM_GRADE_TEMPERATURE, LLM_GRADE_TOP_K, LLM_GRADE_TOP_P, LLM_MAX_CALLS,
    LLM_QUESTIONS_MAX_TOKENS, LLM_TRANSFORM_MAX_TOKENS, LLM_TRANSFORM_TEMPERATURE, LLM_TRANSFORM_TOP_K,
    LLM_TRANSFORM_TOP_P, endpoint_timeout, language_model, language_model_timeout,
};

pub(crate) use language::default_language;

/// A row of [`WEIGHTS`] as a setting.
enum WeightSetting {
    Real(GucSetting<f64>),
    Whole(GucSetting<i32>),
    /// A row that was a setting before 0.2. It accepts any text, has no effect but a warning, and is not shown. If its
    /// name were unknown, connections, restored dumps and scripts that set it would fail where the library is
    /// preloaded.
    Removed(&'static GucSetting<Option<CString>>),
}

/// In the order of [`WEIGHTS`]; created when the library is loaded, and never changed.
static WEIGHT_SETTINGS: OnceLock<Vec<WeightSetting>> = OnceLock::new();

thread_local! {
    /// Removed settings that this session was warned of, by index into [`WEIGHTS`].
    static WARNED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

/// Minimum of `docsearch.inference_timeout`.
pub(crate) const MIN_INFERENCE_TIMEOUT: Duration = Duration::from_millis(10);

/// The session's value for a row of [`WEIGHTS`]. Warns once if the row is a removed setting that is set.
pub(crate) fn weight(place: usize, row: &Weight) -> f64 {
    match WEIGHT_SETTINGS.get().and_then(|settings| settings.get(place)) {
        Some(WeightSetting::Real(guc)) => guc.get(),
        Some(WeightSetting::Whole(guc)) => guc.get().into(),
        Some(WeightSetting::Removed(guc)) => {
            if guc.get().is_some() && WARNED.with_borrow_mut(|warned| warned.insert(place)) {
                warn_of_removed(row.name);
            }
            row.default
        }
        None => row.default,
    }
}

fn warn_of_removed(name: &str) {
    report::warn(
        PgSqlErrorCode::ERRCODE_WARNING_DEPRECATED_FEATURE,
        format!("docsearch.{name} is no longer a setting and has no effect"),
        &format!(
            "\"{name}\" is a key of config and of project settings: SELECT docsearch.configure_project('name', '{{\"{name}\": ...}}'). \
             RESET docsearch.{name} where it is set: in the session, ALTER ROLE, ALTER DATABASE or postgresql.conf."
        ),
    );
}

fn define_weights(flags: GucFlags) {
    let settings = WEIGHT_SETTINGS.get_or_init(|| {
        let setting = |row: &Weight| match row.is_whole {
            _ if !row.is_setting => {
                WeightSetting::Removed(Box::leak(Box::new(GucSetting::<Option<CString>>::new(None))))
            }
            true => WeightSetting::Whole(GucSetting::<i32>::new(row.default as i32)),
            false => WeightSetting::Real(GucSetting::<f64>::new(row.default)),
        };
        WEIGHTS.iter().map(setting).collect()
    });
    for (row, setting) in WEIGHTS.iter().zip(settings) {
        let (name, help) = (leak(&format!("docsearch.{}", row.name)), leak(row.help));
        match setting {
            WeightSetting::Real(guc) => {
                let (min, max) = (row.min, row.max);
                GucRegistry::define_float_guc(name, help, c"", guc, min, max, GucContext::Userset, flags);
            }
            WeightSetting::Whole(guc) => {
                let (min, max) = (row.min as i32, row.max as i32);
                GucRegistry::define_int_guc(name, help, c"", guc, min, max, GucContext::Userset, flags);
            }
            WeightSetting::Removed(guc) => {
                let flags = flags | GucFlags::NO_SHOW_ALL;
                GucRegistry::define_string_guc(name, c"Has no effect.", c"", guc, GucContext::Userset, flags);
            }
        }
    }
}

/// A C string for the life of the server, which PostgreSQL does not copy. Empty if the text holds a NUL; ours hold
/// none.
fn leak(text: &str) -> &'static CStr {
    CString::new(text).map_or(c"", |text| Box::leak(text.into_boxed_c_str()))
}

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

/// 0 is half the cores.
static THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);
pub(crate) static INDEX_MODE: GucSetting<IndexMode> = GucSetting::<IndexMode>::new(IndexMode::Immediate);
pub(crate) static INFERENCE: GucSetting<Inference> = GucSetting::<Inference>::new(Inference::Service);
/// Milliseconds.
static ATTACHED_READ_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(5_000);
/// Milliseconds; 0 is no limit.
static LOCK_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(5_000);
/// Milliseconds.
static INFERENCE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(30_000);
/// Milliseconds.
static INFERENCE_TEXT_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(20_000);
/// Megabytes; 0 is no limit.
static INFERENCE_MEMORY_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(4096);
/// Kilobytes.
static QUERY_CACHE_SIZE: GucSetting<i32> = GucSetting::<i32>::new(16 * 1024);
static INFERENCE_PROGRAM: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
pub(crate) static ONNXRUNTIME_PATH: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
pub(crate) static MODEL_DIRECTORY: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
pub(crate) static DEFAULT_MODEL: GucSetting<Option<CString>> =
    GucSetting::<Option<CString>>::new(Some(c"all-MiniLM-L6-v2"));

/// Maximum time for which the worker reads and indexes rows of an attached table without a pause.
pub(crate) fn attached_read_timeout() -> Duration {
    Duration::from_millis(u64::try_from(ATTACHED_READ_TIMEOUT.get()).unwrap_or_default())
}

/// Maximum time for which functions that read documents wait for a lock; `None` is the session's `lock_timeout`.
pub(crate) fn lock_timeout() -> Option<Duration> {
    let milliseconds = u64::try_from(LOCK_TIMEOUT.get()).unwrap_or_default();
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

/// Maximum time for an answer of the inference program.
pub(crate) fn inference_timeout() -> Duration {
    Duration::from_millis(u64::try_from(INFERENCE_TIMEOUT.get()).unwrap_or_default())
}

/// Maximum time for embedding one text.
pub(crate) fn inference_text_limit() -> Duration {
    Duration::from_millis(u64::try_from(INFERENCE_TEXT_LIMIT.get()).unwrap_or_default())
}

/// Maximum size of the inference program's data, in bytes; `None` is no limit.
pub(crate) fn memory_limit() -> Option<u64> {
    let megabytes = u64::try_from(INFERENCE_MEMORY_LIMIT.get()).unwrap_or_default();
    (megabytes > 0).then_some(megabytes << 20)
}

/// Maximum size of the cache of query vectors, in bytes.
pub(crate) fn query_cache_bytes() -> u64 {
    u64::try_from(QUERY_CACHE_SIZE.get()).unwrap_or_default() << 10
}

/// Path of `docsearch-inference`.
pub(crate) fn inference_program() -> PathBuf {
    match INFERENCE_PROGRAM.get() {
        Some(path) if !path.is_empty() => path.to_string_lossy().into_owned().into(),
        _ => library_directory().join("pg_docsearch/docsearch-inference"),
    }
}

/// Path of `libonnxruntime.so`.
pub(crate) fn runtime_path() -> PathBuf {
    match ONNXRUNTIME_PATH.get() {
        Some(path) if !path.is_empty() => path.to_string_lossy().into_owned().into(),
        _ => library_directory().join("pg_docsearch/libonnxruntime.so"),
    }
}

/// `pg_config --pkglibdir` of the running server.
fn library_directory() -> PathBuf {
    // SAFETY: the server sets this terminated path when it starts, and never changes it.
    let path = unsafe { CStr::from_ptr((&raw const pg_sys::pkglib_path).cast()) };
    PathBuf::from(path.to_string_lossy().into_owned())
}

/// Defines every setting. Called once, when the library is loaded.
pub(crate) fn define() {
    let flags = GucFlags::default();
    define_weights(flags);
    for real in endpoint::REALS {
        GucRegistry::define_float_guc(
            leak(&format!("docsearch.{}", real.name.to_string_lossy())),
            real.help,
            c"",
            &real.guc,
            real.min,
            real.max,
            GucContext::Userset,
            flags,
        );
    }
    let of_users = endpoint::INTS.iter().map(|int| (int, GucContext::Userset));
    let of_superusers = endpoint::LIMITS.iter().map(|int| (int, GucContext::Suset));
    for (int, context) in of_users.chain(of_superusers) {
        GucRegistry::define_int_guc(
            leak(&format!("docsearch.{}", int.name.to_string_lossy())),
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
        c"Model of new projects and of embed.",
        c"The name of a directory below docsearch.model_directory. A project keeps the model that it was created with.",
        &DEFAULT_MODEL,
        GucContext::Userset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.threads",
        c"Number of threads that embed passages; 0 is half the cores, at least one.",
        c"One more thread embeds only queries.",
        &THREADS,
        0,
        1024,
        GucContext::Sighup,
        flags,
    );
    GucRegistry::define_enum_guc(
        c"docsearch.index_mode",
        c"When documents get their vectors: while they are indexed (immediate) or later in the background (deferred).",
        c"Keyword search finds deferred documents at once. docsearch.wait_for_index() waits for their vectors.",
        &INDEX_MODE,
        GucContext::Userset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.attached_read_timeout",
        c"Maximum time for which the worker reads and indexes rows of an attached table without a pause.",
        c"Documents of other tables and projects wait meanwhile. A table that exceeds it is read in smaller parts, and a single row that does is left out.",
        &ATTACHED_READ_TIMEOUT,
        100,
        600_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"docsearch.lock_timeout",
        c"Maximum time for which functions that read documents wait for a lock of another session; 0 is no limit.",
        c"If lock_timeout is shorter, it applies.",
        &LOCK_TIMEOUT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_enum_guc(
        c"docsearch.inference",
        c"Where models run: in one program for the whole server (service) or in each backend (in_process).",
        c"In a backend, the first embedding of each connection loads the model, and a crash of the library is a crash of the server.",
        &INFERENCE,
        GucContext::Suset,
        flags,
    );
    GucRegistry::define_int_guc(
        c"docsearch.inference_timeout",
        c"Maximum time for the inference program to start or to answer.",
        c"After it a search goes on with keywords, and indexing fails.",
        &INFERENCE_TIMEOUT,
        MIN_INFERENCE_TIMEOUT.as_millis() as i32,
        3_600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"docsearch.inference_text_limit",
        c"Maximum time for embedding one text.",
        c"A text that takes longer fails, and others go on. If its thread does not return, the inference program is restarted.",
        &INFERENCE_TEXT_LIMIT,
        100,
        3_600_000,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"docsearch.inference_memory_limit",
        c"Maximum size of the inference program's data; 0 is no limit.",
        c"The default model needs about 150 MB, and 65 MB more for each thread.",
        &INFERENCE_MEMORY_LIMIT,
        0,
        1 << 20,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY | GucFlags::UNIT_MB,
    );
    GucRegistry::define_int_guc(
        c"docsearch.query_cache_size",
        c"Memory of the inference program for vectors of earlier queries; 0 is none.",
        c"The cache for answers of a language model takes an eighth of it in addition.",
        &QUERY_CACHE_SIZE,
        0,
        1 << 30,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY | GucFlags::UNIT_KB,
    );
    GucRegistry::define_string_guc(
        c"docsearch.inference_program",
        c"Path of the program docsearch-inference.",
        c"If not set, the program that was installed with the extension.",
        &INFERENCE_PROGRAM,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"docsearch.onnxruntime_path",
        c"Path of libonnxruntime.so of ONNX Runtime 1.24 or newer.",
        c"If not set, the library that was installed with the extension.",
        &ONNXRUNTIME_PATH,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"docsearch.model_directory",
        c"Directory that holds the directories of models, or directory of a single model.",
        c"If not set, the directory that was installed with the extension.",
        &MODEL_DIRECTORY,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    endpoint::define();
    language::define();
    query_log::define();
    // SAFETY: Postgres copies the prefix; all settings of this library have been defined.
    unsafe { pgrx::pg_sys::MarkGUCPrefixReserved(c"docsearch".as_ptr()) };
}

/// Number of threads that embed passages.
pub(crate) fn threads() -> NonZeroUsize {
    let set = usize::try_from(THREADS.get()).ok().and_then(NonZeroUsize::new);
    set.unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        NonZeroUsize::new(cores / 2).unwrap_or(NonZeroUsize::MIN)
    })
}
