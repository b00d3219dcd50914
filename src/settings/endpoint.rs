//! Settings of the language model, and the timeout of remote models.

use std::ffi::{CStr, CString, c_char, c_void};
use std::time::Duration;

use docsearch_inference::Endpoint;
use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::prelude::*;

use super::{Int, Real};

reals! {
    REALS:
    LLM_TRANSFORM_TEMPERATURE c"llm_transform_temperature" = 0.3 in 0.0..2.0:
        c"Temperature of the language model when it rewrites a query; 0 is the most likely words only.";
    LLM_TRANSFORM_TOP_P c"llm_transform_top_p" = 0.95 in 0.0..1.0:
        c"Probability of the most likely words (top_p) from which the language model chooses when it rewrites a query; 1 is all.";
    LLM_GRADE_TEMPERATURE c"llm_grade_temperature" = 0.2 in 0.0..2.0:
        c"Temperature of the language model when it grades results; 0 is the most likely words only.";
    LLM_GRADE_TOP_P c"llm_grade_top_p" = 0.95 in 0.0..1.0:
        c"Probability of the most likely words (top_p) from which the language model chooses when it grades results; 1 is all.";
}

ints! {
    INTS:
    LLM_TRANSFORM_TOP_K c"llm_transform_top_k" = 40 in 0..1_000_000:
        c"Number of the most likely words (top_k) from which the language model chooses when it rewrites a query; 0 is all.";
    LLM_GRADE_TOP_K c"llm_grade_top_k" = 40 in 0..1_000_000:
        c"Number of the most likely words (top_k) from which the language model chooses when it grades results; 0 is all.";
}

// Only superusers set these: they limit what a search costs.
ints! {
    LIMITS:
    LLM_MAX_CALLS c"llm_max_calls" = 5 in 0..20:
        c"Maximum number of calls to the language model for one search; 0 is none.";
    LLM_TRANSFORM_MAX_TOKENS c"llm_transform_max_tokens" = 200 in 1..32_768:
        c"Maximum length of the language model's reply when it rewrites a query, in its tokens.";
    LLM_GRADE_MAX_TOKENS c"llm_grade_max_tokens" = 300 in 1..32_768:
        c"Maximum length of the language model's reply when it grades results, in its tokens.";
    LLM_QUESTIONS_MAX_TOKENS c"llm_questions_max_tokens" = 400 in 1..32_768:
        c"Maximum length of the language model's reply when it writes questions for a section, in its tokens.";
}

static LLM_URL: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static LLM_MODEL: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
static LLM_API_KEY_FILE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(None);
/// Milliseconds.
static LLM_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(15_000);
/// Milliseconds.
static ENDPOINT_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(120_000);

/// The language model; `None` if no URL is set.
pub(crate) fn language_model() -> Option<Endpoint> {
    Some(Endpoint {
        url: text_of(&LLM_URL)?,
        model: text_of(&LLM_MODEL).unwrap_or_default(),
        key_file: text_of(&LLM_API_KEY_FILE),
    })
}

/// Maximum time for an answer of a remote model.
pub(crate) fn endpoint_timeout() -> Duration {
    Duration::from_millis(u64::try_from(ENDPOINT_TIMEOUT.get()).unwrap_or_default())
}

/// Maximum time for an answer of the language model.
pub(crate) fn language_model_timeout() -> Duration {
    Duration::from_millis(u64::try_from(LLM_TIMEOUT.get()).unwrap_or_default())
}

/// The text of a setting, unless it is blank.
fn text_of(setting: &GucSetting<Option<CString>>) -> Option<String> {
    let text = setting.get()?.to_string_lossy().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Refuses a URL with a user name or a password.
#[pg_guard]
unsafe extern "C-unwind" fn check_url(
    new: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a terminated string or null, and frees the detail, which its own allocator allocates.
    unsafe {
        if (*new).is_null() || !Endpoint::has_credentials(&CStr::from_ptr(*new).to_string_lossy()) {
            return true;
        }
        pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(
            c"The URL contains a user name or a password. Put the key into a file and set docsearch.llm_api_key_file."
                .as_ptr(),
        );
    }
    false
}

pub(super) fn define() {
    // SAFETY: the hook has the signature of a check hook, is guarded, and lives as long as the server.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            c"docsearch.llm_url",
            c"Base URL of the OpenAI-compatible interface of a language model.",
            c"For example http://127.0.0.1:8080/v1. If not set, no language model is called, and nothing is sent anywhere.",
            &LLM_URL,
            GucContext::Suset,
            GucFlags::SUPERUSER_ONLY,
            Some(check_url),
            None,
            None,
        );
    }
    GucRegistry::define_string_guc(
        c"docsearch.llm_model",
        c"Name of the language model at docsearch.llm_url.",
        c"",
        &LLM_MODEL,
        GucContext::Suset,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"docsearch.llm_api_key_file",
        c"File with the API key for docsearch.llm_url, readable by the server's operating system user.",
        c"It is read again at each call. If not set, no key is sent.",
        &LLM_API_KEY_FILE,
        GucContext::Suset,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_int_guc(
        c"docsearch.llm_timeout",
        c"Maximum time for an answer of the language model, including retries and the pauses between them.",
        c"After it a search goes on with rules.",
        &LLM_TIMEOUT,
        10,
        3_600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"docsearch.endpoint_timeout",
        c"Maximum time for the endpoint of a remote model to embed, including retries and the pauses between them.",
        c"After it indexing fails. A search goes on with keywords after docsearch.inference_timeout, if that is shorter.",
        &ENDPOINT_TIMEOUT,
        10,
        3_600_000,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}
