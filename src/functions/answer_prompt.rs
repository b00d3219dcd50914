//! `answer_prompt` and `detect_language`.

use docsearch_core::answer::delivery::Notice;
use docsearch_core::models::prompt::answer_prompt as prompt;
use docsearch_core::text::language::{LANGUAGES, Language};
use pgrx::prelude::*;

use crate::postgres::argument::{Json, LongText, Text, Texts, Whole, arguments};
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::search::arguments::Arguments;
use crate::search::grade::{self, Context};
use crate::search::language;
use crate::search::retrieval::Detail;
use crate::settings;

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns a prompt that has a language model answer a question from the best sections.
    #[pg_extern(volatile, parallel_unsafe, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments)]
    fn answer_prompt(
        query: Option<Text<'_>>,
        project: default!(Option<Text<'_>>, "NULL"),
        category: default!(Option<Text<'_>>, "NULL"),
        filter: default!(Option<Json<'_>>, "NULL"),
        max_results: default!(Option<Whole>, "NULL"),
        config: default!(Option<Json<'_>>, "NULL"),
        max_tokens: default!(Option<Whole>, 4000),
        language: default!(Option<Text<'_>>, "NULL"),
        projects: default!(Option<Texts<'_>>, "NULL"),
    ) -> Result<String> {
        arguments!(
            query,
            project,
            category,
            filter,
            config,
            language,
            max_results,
            max_tokens,
            projects
        );
        let caller = &mut Caller::of_call()?;
        let language = match language {
            Some(code) => Some(Language::of(code).ok_or_else(|| unknown_language(code))?),
            None => language::detected(caller, query.unwrap_or_default())?,
        };
        let arguments = Arguments {
            query,
            project,
            projects,
            category,
            filter,
            max_results,
            config,
            ..Arguments::default()
        };
        let request = arguments.resolve(caller)?;
        let max_tokens = max_tokens
            .and_then(|most| usize::try_from(most).ok())
            .filter(|&most| most >= 200);
        let max_tokens = max_tokens.ok_or_else(|| {
            invalid(
                "max_tokens must be at least 200",
                "Use 200 or more, or omit max_tokens.",
            )
        })?;
        let answer = request.answer(caller, Detail::Rows)?;
        let contexts = grade::contexts(caller, &answer.results, usize::MAX)?;
        if contexts.is_empty()
            && let Some(notice) = Notice::in_one_text(&answer.notices)
        {
            notice!("the prompt has no contexts: {notice}");
        }
        let sources = contexts.iter().map(Context::as_source);
        Ok(prompt(
            &request.query.text,
            sources,
            language.map(|language| language.name),
            max_tokens,
        ))
    }

    /// Returns the language of a text as an ISO 639-1 code.
    #[pg_extern(stable, parallel_safe, strict)]
    #[search_path(pg_catalog, pg_temp)]
    fn detect_language(text: LongText<'_>) -> Result<Option<String>> {
        arguments!(text);
        let caller = &mut Caller::of_call()?;
        let language = match language::detected(caller, text)? {
            Some(language) => Some(language),
            None => settings::default_language()?,
        };
        Ok(language.map(|language| language.code.to_owned()))
    }
}

fn unknown_language(code: &str) -> pg_sys::panic::ErrorReport {
    let codes = LANGUAGES.map(|language| language.code);
    invalid(
        format!("unknown language \"{code}\""),
        format!("Use an ISO 639-1 code: {}.", codes.join(", ")),
    )
}
