//! Models: where they are, opening them where they run, and the functions that embed.

use std::cell::Cell;
use std::ffi::CStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use docsearch_inference::{Description, Embedder, Embeddings, Error, Model, Options, Progress, Registry, RemoteModel};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::lock::Lock;
use crate::owner::AsOwner;
use crate::report::{Result, error_with_hint, inference, internal, invalid, undefined, warn};
use crate::settings::Inference;
use crate::{remote_model, schema, service, settings, statement};

/// How long a backend waits for a vector before it looks whether it was cancelled.
const WAIT: Duration = Duration::from_millis(10);

/// Least cosine similarity of two vectors of the same text. An endpoint may compute in another order.
const SAME: f32 = 0.999;
/// The model that is installed with the extension.
const SHIPPED: &str = "all-MiniLM-L6-v2";

static MODELS: Registry = Registry::new();

thread_local! {
    static STOPS_AT_EXIT: Cell<bool> = const { Cell::new(false) };
}

#[pg_schema]
pub(crate) mod docsearch {
    use super::*;

    /// The vector of a query, as real[]; docsearch.embed gives it as vector.
    #[pg_extern(stable, parallel_restricted, cost = 10000)]
    #[search_path(pg_catalog, pg_temp)]
    fn query_embedding(query: Option<&str>, model: default!(Option<&str>, "NULL")) -> Result<Option<Vec<f32>>> {
        let Some(query) = query else {
            return Ok(None);
        };
        let model = open(&model_name(model)?)?;
        model
            .embed_query(query)
            .map(Some)
            .map_err(|failure| inference(&failure))
    }

    /// The vectors of passages, as real[]; docsearch.embed_passages gives them as vector[].
    #[pg_extern(stable, parallel_restricted, cost = 100000)]
    #[search_path(pg_catalog, pg_temp)]
    fn passage_embeddings(
        passages: Option<Vec<Option<String>>>,
        model: default!(Option<&str>, "NULL"),
    ) -> Result<TableIterator<'static, (name!(ordinal, i32), name!(embedding, Option<Vec<f32>>))>> {
        let model = open(&model_name(model)?)?;
        let passages = passages.unwrap_or_default();
        let count = passages.len();
        let (places, texts): (Vec<usize>, Vec<String>) = passages
            .into_iter()
            .enumerate()
            .filter_map(|(place, passage)| passage.map(|text| (place, text)))
            .unzip();
        let mut vectors = vec![None; count];
        let mut batch = model.embed_passages(texts).map_err(|failure| inference(&failure))?;
        while let Some((index, vector)) = next_vector(batch.as_mut())? {
            vectors[places[index]] = Some(vector?);
        }
        Ok(TableIterator::new((1..).zip(vectors)))
    }

    /// Number of components of a model's vectors.
    #[pg_extern(stable, parallel_restricted)]
    #[search_path(pg_catalog, pg_temp)]
    fn embedding_dimension(model: default!(Option<&str>, "NULL")) -> Result<i32> {
        let model = open(&model_name(model)?)?;
        i32::try_from(describe(model.as_ref())?.info.dimension).map_err(internal)
    }

    /// Makes a model known whose files lie in a directory below docsearch.model_directory, after
    /// checking the files and embedding some texts. Returns its number.
    #[pg_extern(volatile, parallel_unsafe)]
    #[search_path(pg_catalog, pg_temp)]
    fn add_model(name: Option<&str>, directory: default!(Option<&str>, "NULL")) -> Result<i32> {
        let name = name.ok_or_else(|| {
            invalid(
                "name must not be null",
                "Name the model; it is also its directory below docsearch.model_directory, unless that is given.",
            )
        })?;
        let name = model_name(Some(name))?;
        let directory = directory.map(|directory| model_name(Some(directory))).transpose()?;
        schema::migrate()?;
        schema::require_owner("SELECT docsearch.add_model(...)")?;
        let _owner = AsOwner::enter()?;
        register(&name, directory.as_deref())
    }
}

/// A row of `docsearch.model`.
#[derive(Clone, Debug)]
pub(crate) struct ModelRow {
    pub(crate) id: i32,
    pub(crate) name: String,
    /// Below `docsearch.model_directory`.
    pub(crate) directory: String,
    pub(crate) background: f32,
    pub(crate) digest: String,
    /// Tokens of one text that it reads, special tokens included.
    pub(crate) max_tokens: usize,
    pub(crate) passage_prefix: String,
    /// Whether an endpoint runs it.
    pub(crate) remote: bool,
}

impl ModelRow {
    /// Of a table `m`, as [`ModelRow::read`] wants them.
    pub(crate) const COLUMNS: &'static str =
        "m.id, m.name, coalesce(m.directory, m.name), m.background, m.digest, m.max_tokens, m.passage_prefix, m.remote";

    /// Reads the columns that begin with the one numbered `first`.
    pub(crate) fn read(row: &statement::Row, first: usize) -> Result<Self> {
        Ok(Self {
            id: row.required(first)?,
            name: row.required(first + 1)?,
            directory: row.required(first + 2)?,
            background: row.required(first + 3)?,
            digest: row.required(first + 4)?,
            max_tokens: usize::try_from(row.required::<i32>(first + 5)?).map_err(internal)?,
            passage_prefix: row.required(first + 6)?,
            remote: row.required(first + 7)?,
        })
    }

    /// The table of its vectors: the number comes from the catalog.
    pub(crate) fn vector_table(&self) -> String {
        format!("docsearch.vector_{}", self.id)
    }
}

/// The name of the model that is asked for, or the one of new projects.
pub(crate) fn model_name(asked: Option<&str>) -> Result<String> {
    let name = match asked {
        Some(name) => name.to_owned(),
        None => match settings::DEFAULT_MODEL.get() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => String::new(),
        },
    };
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(undefined(
            format!("model \"{name}\" does not exist"),
            "Name a directory below docsearch.model_directory.",
        ));
    }
    Ok(name)
}

/// The directory of the model that is installed with the extension. Its tokenizer counts for models that
/// show none.
pub(crate) fn shipped_directory() -> Result<String> {
    let directory = share_directory().join("pg_docsearch/models").join(SHIPPED);
    let directory = directory.into_os_string().into_string();
    directory.map_err(|_| internal("the directory of the shipped model is not valid UTF-8"))
}

/// Whether there is this directory of a model.
pub(crate) fn has_directory(below: &str) -> bool {
    directory(below).is_dir()
}

/// The model of this name, wherever it runs.
pub(crate) fn open(name: &str) -> Result<Box<dyn Embedder>> {
    if !directory(name).is_dir() && schema::is_current()? {
        let known = statement::one(
            &format!(
                "SELECT {} FROM docsearch.model m WHERE m.name = $1 AND (m.remote OR m.directory IS NOT NULL)",
                ModelRow::COLUMNS
            ),
            &[DatumWithOid::from(name)],
            |row| ModelRow::read(row, 1),
        )?;
        match known {
            Some(row) if row.remote => return remote_model::open(&row),
            Some(row) => return open_directory(name, &row.directory, None),
            None => {}
        }
    }
    open_directory(name, name, None)
}

/// The model in a directory. With a digest, only if its files are those.
pub(crate) fn open_directory(name: &str, below: &str, digest: Option<&str>) -> Result<Box<dyn Embedder>> {
    let directory = directory(below);
    if !directory.is_dir() {
        return Err(undefined(
            format!("model \"{name}\" does not exist"),
            "Name a directory below docsearch.model_directory.",
        ));
    }
    match settings::INFERENCE.get() {
        Inference::Service => {
            let directory = directory.into_os_string().into_string();
            let directory = directory.map_err(|_| internal("the model's directory is not valid UTF-8"))?;
            let digest = digest.map(str::to_owned);
            Ok(Box::new(RemoteModel::new(service::shared(), directory, digest)))
        }
        Inference::InProcess => Ok(Box::new(in_process(&directory, digest)?)),
    }
}

/// A model in this backend, loaded at the first call.
fn in_process(directory: &Path, digest: Option<&str>) -> Result<Arc<Model>> {
    let options = Options {
        runtime: settings::runtime_path(),
        lanes: lanes(),
    };
    let model = MODELS.get(directory, &options).map_err(|failure| inference(&failure))?;
    if !STOPS_AT_EXIT.replace(true) {
        // SAFETY: the callback has the signature that Postgres asks for and touches no Postgres state.
        unsafe { pg_sys::on_proc_exit(Some(stop_models), pg_sys::Datum::from(0)) };
    }
    if let Some(digest) = digest {
        model.check_digest(digest).map_err(|failure| inference(&failure))?;
    }
    Ok(model)
}

unsafe extern "C-unwind" fn stop_models(_code: i32, _argument: pg_sys::Datum) {
    MODELS.stop();
}

/// What a model is.
pub(crate) fn describe(model: &dyn Embedder) -> Result<Description> {
    model.describe().map_err(|failure| inference(&failure))
}

/// The next vector of a batch with its index, or `None` after the last. Cancelling acts at once.
pub(crate) fn next_vector(batch: &mut dyn Embeddings) -> Result<Option<(usize, Result<Vec<f32>>)>> {
    loop {
        pgrx::check_for_interrupts!();
        match batch.next_timeout(WAIT) {
            Ok(Progress::Embedded(done)) => return Ok(Some((done.index, Ok(done.vector)))),
            Ok(Progress::Finished) => return Ok(None),
            Ok(Progress::Pending) => {}
            Err(Error::Passage { index, source }) => return Ok(Some((index, Err(inference(&source))))),
            Err(failure) => return Err(inference(&failure)),
        }
    }
}

/// Threads that embed passages.
pub(crate) fn lanes() -> NonZeroUsize {
    let asked = usize::try_from(settings::THREADS.get())
        .ok()
        .and_then(NonZeroUsize::new);
    asked.unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        NonZeroUsize::new(cores / 2).unwrap_or(NonZeroUsize::MIN)
    })
}

/// A directory of models holds one directory for each; a model's own directory serves under any name.
fn directory(name: &str) -> PathBuf {
    let base = match settings::MODEL_DIRECTORY.get() {
        Some(path) if !path.is_empty() => PathBuf::from(path.to_string_lossy().into_owned()),
        _ => share_directory().join("pg_docsearch/models"),
    };
    if base.join("config.json").is_file() {
        base
    } else {
        base.join(name)
    }
}

fn share_directory() -> PathBuf {
    let mut path = [0; pg_sys::MAXPGPATH as usize];
    // SAFETY: the function writes at most MAXPGPATH bytes with their terminator.
    let path = unsafe {
        pg_sys::get_share_path((&raw const pg_sys::my_exec_path).cast(), path.as_mut_ptr());
        CStr::from_ptr(path.as_ptr())
    };
    PathBuf::from(path.to_string_lossy().into_owned())
}

/// The row of the model of this name; written, with its table of vectors, when it is new.
///
/// Runs as the owner of the tables.
pub(crate) fn register(name: &str, directory: Option<&str>) -> Result<i32> {
    let known = statement::one(
        "SELECT m.id, m.directory, m.digest, m.remote FROM docsearch.model m WHERE m.name = $1",
        &[DatumWithOid::from(name)],
        |row| {
            let (id, remote) = (row.required(1)?, row.required::<bool>(4)?);
            Ok((id, row.optional::<String>(2)?, row.required::<String>(3)?, remote))
        },
    )?;
    if let Some((id, known, digest, remote)) = known {
        if remote && directory.is_none() {
            return Ok(id);
        }
        if let Some(directory) = directory
            && known.as_deref().unwrap_or(name) != directory
        {
            return Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
                format!("model \"{name}\" already exists, with other files"),
                "Add the model under another name.",
            ));
        }
        let below = known.as_deref().unwrap_or(name);
        open_directory(name, below, Some(&digest)).and_then(|model| describe(model.as_ref()))?;
        return Ok(id);
    }
    // Of two calls that add the same model the second waits here and then finds it.
    Lock::Models.acquire();
    let known = statement::change(
        "SELECT m.id FROM docsearch.model m WHERE m.name = $1",
        &[DatumWithOid::from(name)],
        |row| row.required(1),
    )?;
    if let Some(&id) = known.first() {
        return Ok(id);
    }
    let model = open_directory(name, directory.unwrap_or(name), None)?;
    let Description { info, digest } = describe(model.as_ref())?;
    let background = try_out(name, model.as_ref(), info.dimension)?;
    let licence = docsearch_inference::licence(&self::directory(directory.unwrap_or(name)));
    let id = statement::change(
        "INSERT INTO docsearch.model
             (name, dimension, max_tokens, pooling, query_prefix, passage_prefix, digest, background, directory, licence)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id",
        &[
            DatumWithOid::from(name),
            DatumWithOid::from(i32::try_from(info.dimension).map_err(internal)?),
            DatumWithOid::from(i32::try_from(info.max_tokens).map_err(internal)?),
            DatumWithOid::from(info.pooling.map(|pooling| format!("{pooling:?}").to_lowercase())),
            DatumWithOid::from(info.query_prefix.as_str()),
            DatumWithOid::from(info.passage_prefix.as_str()),
            DatumWithOid::from(digest.as_str()),
            DatumWithOid::from(background),
            DatumWithOid::from(directory),
            DatumWithOid::from(licence),
        ],
        |row| row.required::<i32>(1),
    )?;
    let id = *id.first().ok_or_else(|| internal("no model id"))?;
    Ok(id)
}

/// The cosine similarity of unrelated texts, after the self-test.
pub(crate) fn try_out(name: &str, model: &dyn Embedder, dimension: usize) -> Result<f32> {
    if !self_test(name, model, dimension)? {
        warn(
            PgSqlErrorCode::ERRCODE_WARNING,
            format!("model \"{name}\" puts texts that say the same further apart than others"),
            "Check that the graph, pooling and the tokenizer fit together.",
        );
    }
    background(model)
}

/// Embeds texts to see that vectors are of one length and the same for the same text; whether they are
/// nearer for texts that say the same.
fn self_test(name: &str, model: &dyn Embedder, dimension: usize) -> Result<bool> {
    const TEXTS: [&str; 4] = [
        "How do I delete a file?",
        "Remove files with the command rm.",
        "How do I delete a file?",
        "The orchestra tunes before the concert begins.",
    ];
    let texts = TEXTS.map(str::to_owned).to_vec();
    let mut vectors = vec![Vec::new(); TEXTS.len()];
    let mut batch = model.embed_passages(texts).map_err(|failure| inference(&failure))?;
    while let Some((place, vector)) = next_vector(batch.as_mut())? {
        vectors[place] = vector?;
    }
    let near = |a: usize, b: usize| docsearch_core::rank::cosine(&vectors[a], &vectors[b]);
    let problem = if vectors.iter().any(|vector| vector.len() != dimension) {
        "its vectors differ in length"
    } else if near(0, 2) < SAME {
        "the same text has two vectors"
    } else {
        return Ok(near(0, 1) > near(0, 3));
    };
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
        format!("model \"{name}\" cannot be used: {problem}"),
        "Check how the model was exported.",
    ))
}

/// Mean cosine similarity of sentences that have nothing to do with each other, 0 to 0.9.
fn background(model: &dyn Embedder) -> Result<f32> {
    const UNRELATED: [&str; 8] = [
        "The ferry to the island leaves twice a day in winter.",
        "Create an index concurrently to avoid blocking writes.",
        "She whisked the egg whites until they formed stiff peaks.",
        "The enzyme is inhibited by high concentrations of calcium.",
        "Press the button to show the next page of the form.",
        "The treaty was signed after eleven years of negotiations.",
        "A tenor saxophone plays the melody over a walking bass.",
        "Tighten the bolts crosswise before you lower the car.",
    ];
    let vectors: Vec<Vec<f32>> = UNRELATED
        .iter()
        .map(|text| model.embed_query(text).map_err(|failure| inference(&failure)))
        .collect::<Result<_>>()?;
    let mut similarities = Vec::new();
    for (i, a) in vectors.iter().enumerate() {
        for b in &vectors[i + 1..] {
            similarities.push(docsearch_core::rank::cosine(a, b));
        }
    }
    let mean = similarities.iter().sum::<f32>() / similarities.len() as f32;
    Ok(mean.clamp(0.0, 0.9))
}

/// The model of this number.
pub(crate) fn by_id(id: i32) -> Result<ModelRow> {
    let row = statement::one(
        &format!("SELECT {} FROM docsearch.model m WHERE m.id = $1", ModelRow::COLUMNS),
        &[DatumWithOid::from(id)],
        |row| ModelRow::read(row, 1),
    )?;
    row.ok_or_else(|| internal(format_args!("there is no model {id}")))
}

/// The model of a row, if its files are those that the row's vectors were made with.
pub(crate) fn of_row(row: &ModelRow) -> Result<Box<dyn Embedder>> {
    if row.remote {
        return remote_model::open(row);
    }
    open_directory(&row.name, &row.directory, Some(&row.digest))
}
