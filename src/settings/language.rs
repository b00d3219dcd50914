//! The language of texts whose language cannot be detected.

use std::ffi::CString;

use docsearch_core::text::language::{LANGUAGES, Language};
use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};

use crate::postgres::report::{Result, invalid};

static DEFAULT_LANGUAGE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"en"));

/// `docsearch.default_language`; `None` if it is empty.
pub(crate) fn default_language() -> Result<Option<Language>> {
    let code = DEFAULT_LANGUAGE.get().unwrap_or_default();
    let code = code.to_string_lossy();
    if code.is_empty() {
        return Ok(None);
    }
    let unknown = || {
        invalid(
            format!("unknown language \"{code}\" in docsearch.default_language"),
            format!(
                "Set an ISO 639-1 code: {}.",
                LANGUAGES.map(|language| language.code).join(", ")
            ),
        )
    };
    Language::of(&code).map(Some).ok_or_else(unknown)
}

pub(super) fn define() {
    GucRegistry::define_string_guc(
        c"docsearch.default_language",
        c"Language that detect_language returns for a text that does not show its own, as an ISO 639-1 code.",
        c"If empty, none.",
        &DEFAULT_LANGUAGE,
        GucContext::Userset,
        GucFlags::default(),
    );
}
