//! Functions that embed, and functions that register and test models.

use docsearch_core::values::bounds;
use docsearch_inference::Embedder;
use pgrx::prelude::*;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::administration::migration;
use crate::models::remote::{self, RemoteModel, RemoteModelArguments};
use crate::models::trial::{self, Trial, Unfit};
use crate::models::{batch, embedder, files, registration};
use crate::postgres::argument::{LongText, Text, Texts, Whole, arguments};
use crate::postgres::report::{Result, inference, internal, invalid};
use crate::postgres::role::{Caller, Role};
use crate::postgres::vector::{Vector, Vectors};
use crate::tables::schema;

/// Bytes of a passage whose tokens are counted, at most.
const MAX_COUNTED_BYTES: usize = 256 << 10;

/// Passages that may have more tokens than the model reads.
struct LongPassages {
    /// Their beginnings.
    beginnings: Vec<String>,
    /// Number of all passages.
    count: usize,
    max_tokens: usize,
}

impl LongPassages {
    fn of(model: &dyn Embedder, passages: &[String]) -> Result<Self> {
        let max_tokens = embedder::describe(model)?.info.passage_tokens;
        // A token has at least one byte.
        let long = passages.iter().filter(|passage| passage.len() > max_tokens);
        Ok(Self {
            beginnings: long
                .map(|passage| bounds::beginning(passage, MAX_COUNTED_BYTES).to_owned())
                .collect(),
            count: passages.len(),
            max_tokens,
        })
    }

    /// Raises a notice if some have more tokens. Only after they are embedded: the inference program has a time limit for a
    /// text that takes very long to be tokenised, and a backend has none.
    fn notice_truncated(&self, model: &dyn Embedder) -> Result<()> {
        if self.beginnings.is_empty() {
            return Ok(());
        }
        let tokenizer = model.tokenizer().map_err(|failure| inference(&failure))?;
        let mut truncated = 0;
        for beginning in &self.beginnings {
            let tokens = tokenizer.count(beginning).map_err(|failure| inference(&failure))?;
            truncated += usize::from(tokens > self.max_tokens);
        }
        if truncated > 0 {
            notice!(
                "{truncated} of {} passages are longer than the {} tokens that the model reads: the rest is not embedded",
                self.count,
                self.max_tokens
            );
        }
        Ok(())
    }
}

#[pg_schema]
mod docsearch {
    use super::*;

    /// Returns the vector of a query.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.embed(query text, model text DEFAULT NULL) RETURNS @extschema:vector@.vector
STABLE PARALLEL RESTRICTED COST 10000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn embed(query: Option<LongText<'_>>, model: Option<Text<'_>>) -> Result<Option<Vector>> {
        arguments!(query, model);
        let caller = &mut Caller::of_call()?;
        let Some(query) = query else {
            return Ok(None);
        };
        let model = embedder::open_for_caller(caller, &files::model_name(model)?)?;
        let vector = model.embed_query(query).map_err(|failure| inference(&failure))?;
        Vector::new(vector).map(Some)
    }

    /// Returns the vectors of passages, in the same order.
    #[pg_extern(sql = r#"
CREATE FUNCTION docsearch.embed_passages(passages text[], model text DEFAULT NULL) RETURNS @extschema:vector@.vector[]
STABLE PARALLEL RESTRICTED COST 100000
SET search_path TO pg_catalog, pg_temp
LANGUAGE c AS 'MODULE_PATHNAME', '@FUNCTION_NAME@';
"#)]
    fn embed_passages(passages: Option<Texts<'_>>, model: Option<Text<'_>>) -> Result<Option<Vectors>> {
        arguments!(passages, model);
        let caller = &mut Caller::of_call()?;
        let model = embedder::open_for_caller(caller, &files::model_name(model)?)?;
        let passages = passages.unwrap_or_default();
        let count = passages.len();
        let (indexes, texts): (Vec<usize>, Vec<String>) = passages
            .into_iter()
            .enumerate()
            .filter_map(|(index, passage)| passage.map(|text| (index, text)))
            .unzip();
        let mut vectors: Vec<Option<Vector>> = (0..count).map(|_| None).collect();
        let long = LongPassages::of(model.as_ref(), &texts)?;
        let mut batch = model.embed_passages(texts).map_err(|failure| inference(&failure))?;
        while let Some((index, vector)) = batch::next_vector(batch.as_mut())? {
            vectors[indexes[index]] = Some(Vector::new(vector?)?);
        }
        long.notice_truncated(model.as_ref())?;
        Ok((count > 0).then_some(Vectors(vectors)))
    }

    /// Returns the number of components of a model's vectors.
    #[pg_extern(stable, parallel_restricted)]
    #[search_path(pg_catalog, pg_temp)]
    fn embedding_dimension(model: default!(Option<Text<'_>>, "NULL")) -> Result<i32> {
        arguments!(model);
        let caller = &mut Caller::of_call()?;
        let model = embedder::open(caller, &files::model_name(model)?)?;
        i32::try_from(embedder::describe(model.as_ref())?.info.dimension).map_err(internal)
    }

    /// Registers a model whose files are below docsearch.model_directory, and returns its number.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn add_model(
        name: Option<Text<'_>>,
        directory: default!(Option<Text<'_>>, "NULL"),
        self_test: default!(Option<bool>, "true"),
    ) -> Result<i32> {
        arguments!(name, directory);
        let caller = &mut Caller::of_call()?;
        let name = name.ok_or_else(|| {
            invalid(
                "name must not be null",
                "Name the model. Its directory below docsearch.model_directory has the same name unless directory is given.",
            )
        })?;
        let name = files::model_name(Some(name))?;
        let directory = directory
            .map(|directory| files::model_name(Some(directory)))
            .transpose()?;
        migration::migrate(caller)?;
        schema::require_owner(caller, "SELECT docsearch.add_model(...)")?;
        let owner = &caller.as_owner()?;
        let unfit = if self_test == Some(false) {
            Unfit::Warned
        } else {
            Unfit::Refused
        };
        registration::register(owner, &name, directory.as_deref(), unfit)
    }

    /// Registers a model that runs behind an OpenAI-compatible interface, and returns its number.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    #[allow(clippy::too_many_arguments, reason = "the SQL function has them")]
    fn add_remote_model(
        name: Option<Text<'_>>,
        url: Option<Text<'_>>,
        model: Option<Text<'_>>,
        dimension: default!(Option<Whole>, "NULL"),
        api_key_file: default!(Option<Text<'_>>, "NULL"),
        query_prefix: default!(Text<'_>, "''"),
        passage_prefix: default!(Text<'_>, "''"),
        max_tokens: default!(Whole, "512"),
    ) -> Result<i32> {
        arguments!(
            name,
            url,
            model,
            api_key_file,
            query_prefix,
            passage_prefix,
            dimension,
            max_tokens
        );
        let caller = &mut Caller::of_call()?;
        let new = RemoteModel::given(RemoteModelArguments {
            name,
            url,
            model,
            dimension,
            api_key_file,
            query_prefix,
            passage_prefix,
            max_tokens,
        })?;
        remote::require_superuser(caller)?;
        migration::migrate(caller)?;
        schema::require_owner(caller, remote::CALL)?;
        let registered = {
            let owner = &caller.as_owner()?;
            remote::register(owner, new)?
        };
        registered.confirm(caller)?;
        Ok(registered.id)
    }

    /// Embeds a text with a model, and returns the number of components and the time that it took.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn test_model(model: default!(Option<Text<'_>>, "NULL")) -> Result<String> {
        arguments!(model);
        let caller = &mut Caller::of_call()?;
        let name = files::model_name(model)?;
        let (model, is_remote) = embedder::open_with_location(caller, &name)?;
        // Another text each time: a cache must not answer.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(internal)?;
        let begun = Instant::now();
        let vector = model.embed_query(&format!("A test at {} ns", now.as_nanos()));
        let vector = vector.map_err(|failure| inference(&failure))?;
        let milliseconds = begun.elapsed().as_millis();
        let mut report = format!("a vector of {} components in {milliseconds} ms", vector.len());
        if !is_remote {
            let test = Trial::of(model.as_ref())?.result();
            if !test.is_passed() {
                trial::warn_of(&name, test);
            }
            report.push_str(&format!("; {}", trial::outcome(test)));
        }
        Ok(report)
    }
}
