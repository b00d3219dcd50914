//! Models behind an endpoint: recording them, opening them, trying them. The inference program makes
//! the calls.

use docsearch_core::values::digest::digest;
use docsearch_inference::{Embedder, Endpoint, EndpointModel, RemoteEmbedding};
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::models::trial::{self, Unfit};
use crate::models::{batch, files, service};
use crate::postgres::lock::Lock;
use crate::postgres::report::{Result, error_with_hint, inference, internal, invalid};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::settings;
use crate::tables::confirmation;
use crate::tables::model::ModelRow;

/// Components of a vector that an index of the vectors can take.
const MAX_DIMENSION: usize = 4000;
/// Tokens of one text, with which chunks are of use to search.
const TOKENS: std::ops::RangeInclusive<i32> = 32..=32_768;
const PREFACE: &str =
    "What a superuser gave docsearch.add_remote_model(); the model is used only while its row stays as it is.";
pub(crate) const CALL: &str = "SELECT docsearch.add_remote_model(...)";

/// The arguments of `add_remote_model`.
pub(crate) struct RemoteModelArguments<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) url: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) dimension: Option<i32>,
    pub(crate) api_key_file: Option<&'a str>,
    pub(crate) query_prefix: &'a str,
    pub(crate) passage_prefix: &'a str,
    pub(crate) max_tokens: i32,
}

/// A model behind an endpoint.
pub(crate) struct RemoteModel {
    name: String,
    endpoint: Endpoint,
    /// `None` if it is to be learnt.
    dimension: Option<usize>,
    names_dimension: bool,
    query_prefix: String,
    passage_prefix: String,
    max_tokens: usize,
    /// As it was recorded, or empty.
    digest: String,
}

impl RemoteModel {
    /// Checks the arguments.
    pub(crate) fn given(given: RemoteModelArguments<'_>) -> Result<Self> {
        let url = given.url.map(str::trim).unwrap_or_default();
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(invalid(
                "url must be the address of an interface over HTTP",
                "Give the base of an OpenAI-compatible interface, such as http://127.0.0.1:8080/v1.",
            ));
        }
        if Endpoint::has_credentials(url) {
            return Err(invalid(
                "url must not hold a user name or a password",
                "It is stored and dumped as it is. Put a key into a file of the server, and give api_key_file.",
            ));
        }
        let model = given.model.map(str::trim).filter(|model| !model.is_empty());
        let model = model.ok_or_else(|| {
            invalid(
                "model must not be null or blank",
                "Give the name that the endpoint has for the model.",
            )
        })?;
        if given.api_key_file.is_some_and(|path| !path.starts_with('/')) {
            return Err(invalid(
                "api_key_file must be an absolute path",
                "Give the path of a file on the server that holds the key and nothing else.",
            ));
        }
        if !TOKENS.contains(&given.max_tokens) {
            return Err(invalid(
                format!("max_tokens is {}", given.max_tokens),
                format!("Use {} to {}.", TOKENS.start(), TOKENS.end()),
            ));
        }
        let dimension = given.dimension.map(dimension).transpose()?;
        let name = given.name.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| invalid("name must not be null or blank", "Name the model."))?;
        Ok(Self {
            name: files::model_name(Some(name))?,
            endpoint: Endpoint {
                url: url.to_owned(),
                model: model.to_owned(),
                key_file: given.api_key_file.map(str::to_owned),
            },
            dimension,
            names_dimension: dimension.is_some(),
            query_prefix: given.query_prefix.to_owned(),
            passage_prefix: given.passage_prefix.to_owned(),
            max_tokens: usize::try_from(given.max_tokens).map_err(internal)?,
            digest: String::new(),
        })
    }

    /// What decides a text's vector, as far as it is known. The address may change.
    fn compute_digest(&self) -> String {
        let dimension = self.dimension.unwrap_or_default().to_string();
        let (query, passage) = (&self.query_prefix, &self.passage_prefix);
        digest(&["remote", &self.endpoint.model, &dimension, query, passage])
    }

    fn open(self) -> Result<Box<dyn Embedder>> {
        Ok(Box::new(EndpointModel {
            client: service::shared(),
            digest: self.digest,
            tokenizer: files::shipped_directory()?,
            remote: RemoteEmbedding {
                endpoint: self.endpoint,
                dimension: self.dimension,
                names_dimension: self.names_dimension,
                limit: settings::endpoint_timeout(),
            },
            max_tokens: self.max_tokens,
            query_prefix: self.query_prefix,
            passage_prefix: self.passage_prefix,
        }))
    }
}

fn dimension(given: i32) -> Result<usize> {
    usize::try_from(given)
        .ok()
        .filter(|dimension| (1..=MAX_DIMENSION).contains(dimension))
        .ok_or_else(|| {
            invalid(
                format!("a dimension of {given} cannot be indexed"),
                format!("Ask the endpoint for 1 to {MAX_DIMENSION} components: dimension => 1024."),
            )
        })
}

/// Who names files of the server and addresses that it connects to.
pub(crate) fn require_superuser(caller: &Caller) -> Result<()> {
    if caller.is_superuser() {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        "permission denied to add a remote model",
        format!("Ask a superuser to run: {CALL}."),
    ))
}

/// A model as it was registered, which the superuser who did so has to confirm.
pub(crate) struct Registered {
    pub(crate) id: i32,
    terms: Value,
}

impl Registered {
    pub(crate) fn confirm(&self, caller: &mut Caller) -> Result<()> {
        let name = confirmed_by(self.id);
        confirmation::forget(caller, &name)?;
        confirmation::write(caller, &name, &confirmation::text(PREFACE, &self.terms))
    }
}

/// The type whose comment confirms where a model is.
fn confirmed_by(id: i32) -> String {
    format!("endpoint_{id}")
}

/// All that a row of `docsearch.endpoint` says.
fn terms(id: i32, endpoint: &Endpoint, names_dimension: bool) -> Value {
    json!({
        "model_id": id,
        "url": endpoint.url,
        "model": endpoint.model,
        "names_dimension": names_dimension,
        "api_key_file": endpoint.key_file,
    })
}

/// Whether a superuser has confirmed a row, and nobody has changed it since: others may write the table, but must not have
/// the server connect anywhere and send any file of it as a key.
fn is_confirmed(owner: &Owner<'_>, id: i32, terms: &Value) -> Result<bool> {
    // SAFETY: asks about a role, which need not exist.
    let by_superuser = |keeper| unsafe { pg_sys::superuser_arg(keeper) };
    let confirmed = confirmation::read(owner, &confirmed_by(id))?;
    Ok(confirmed.is_some_and(|(keeper, confirmed)| by_superuser(keeper) && confirmed == *terms))
}

/// Confirms the rows of before there were confirmations, once, where nobody can have written them but superusers. A model of another row
/// has to be added again.
pub(crate) fn confirm_earlier(caller: &mut Caller) -> Result<()> {
    if !caller.is_superuser() || !confirmation::only_its_owner_writes(caller, "docsearch.endpoint")? {
        return Ok(());
    }
    let rows = statement::rows(
        caller,
        "SELECT e.model_id, e.url, e.model, e.api_key_file, e.names_dimension FROM docsearch.endpoint e
         WHERE (SELECT r.rolsuper FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                WHERE c.oid = 'docsearch.endpoint'::regclass)",
        &[],
        |row| {
            let id = row.required(1)?;
            let endpoint = Endpoint {
                url: row.required(2)?,
                model: row.required(3)?,
                key_file: row.optional(4)?,
            };
            let terms = terms(id, &endpoint, row.required(5)?);
            Ok(Registered { id, terms })
        },
    )?;
    rows.iter().try_for_each(|row| row.confirm(caller))
}

/// The row of a new model, with its endpoint; of a known one, its address and key are changed.
pub(crate) fn register(owner: &Owner<'_>, mut new: RemoteModel) -> Result<Registered> {
    Lock::Models.acquire();
    let known = statement::change(
        owner,
        "SELECT m.id, m.remote, e.model, m.dimension, e.names_dimension, m.query_prefix, m.passage_prefix, m.max_tokens
         FROM docsearch.model m LEFT JOIN docsearch.endpoint e ON e.model_id = m.id WHERE m.name = $1",
        &[DatumWithOid::from(new.name.as_str())],
        |row| {
            Ok((
                row.required::<i32>(1)?,
                row.required::<bool>(2)?
                    && row.optional::<String>(3)?.as_deref() == Some(&new.endpoint.model)
                    && new
                        .dimension
                        .is_none_or(|asked| row.required::<i32>(4).is_ok_and(|known| known as usize == asked))
                    && row.optional::<bool>(5)? == Some(new.names_dimension)
                    && row.required::<String>(6)? == new.query_prefix
                    && row.required::<String>(7)? == new.passage_prefix
                    && row.required::<i32>(8)? as usize == new.max_tokens,
                row.required::<i32>(4)?,
            ))
        },
    )?;
    match known.first() {
        None => {}
        Some(&(id, true, dimension)) => {
            new.dimension = usize::try_from(dimension).ok();
            return move_to(owner, id, new);
        }
        Some(_) => {
            return Err(error_with_hint(
                PgSqlErrorCode::ERRCODE_DUPLICATE_OBJECT,
                format!("model \"{}\" already exists, with other vectors", new.name),
                "Only url and api_key_file of a model can change. Add the model under another name.",
            ));
        }
    }
    add(owner, new)
}

fn add(owner: &Owner<'_>, mut new: RemoteModel) -> Result<Registered> {
    let (name, endpoint) = (new.name.clone(), new.endpoint.clone());
    let (query_prefix, passage_prefix) = (new.query_prefix.clone(), new.passage_prefix.clone());
    let (max_tokens, names_dimension) = (new.max_tokens, new.names_dimension);
    let learnt = learn_dimension(&mut new)?;
    let digest = new.compute_digest();
    new.digest.clone_from(&digest);
    let opened = new.open()?;
    let background = trial::try_out(&name, opened.as_ref(), learnt, Unfit::Warned)?;
    let id = statement::change(
        owner,
        "INSERT INTO docsearch.model
             (name, dimension, max_tokens, query_prefix, passage_prefix, digest, background, remote)
         VALUES ($1, $2, $3, $4, $5, $6, $7, true) RETURNING id",
        &[
            DatumWithOid::from(name),
            DatumWithOid::from(i32::try_from(learnt).map_err(internal)?),
            DatumWithOid::from(i32::try_from(max_tokens).map_err(internal)?),
            DatumWithOid::from(query_prefix),
            DatumWithOid::from(passage_prefix),
            DatumWithOid::from(digest),
            DatumWithOid::from(background),
        ],
        |row| row.required::<i32>(1),
    )?;
    let id = *id.first().ok_or_else(|| internal("no model id"))?;
    let terms = terms(id, &endpoint, names_dimension);
    statement::execute(
        owner,
        "INSERT INTO docsearch.endpoint (model_id, url, model, names_dimension, api_key_file) VALUES ($1, $2, $3, $4, $5)",
        &[
            DatumWithOid::from(id),
            DatumWithOid::from(endpoint.url),
            DatumWithOid::from(endpoint.model),
            DatumWithOid::from(names_dimension),
            DatumWithOid::from(endpoint.key_file),
        ],
    )?;
    Ok(Registered { id, terms })
}

/// The number of components of its vectors, by embedding a text.
fn learn_dimension(new: &mut RemoteModel) -> Result<usize> {
    if let Some(dimension) = new.dimension {
        return Ok(dimension);
    }
    let probe = RemoteModel {
        name: new.name.clone(),
        endpoint: new.endpoint.clone(),
        dimension: None,
        names_dimension: false,
        query_prefix: String::new(),
        passage_prefix: String::new(),
        max_tokens: new.max_tokens,
        digest: String::new(),
    };
    let vector = try_one(probe)?;
    let learnt = dimension(i32::try_from(vector.len()).map_err(internal)?)?;
    new.dimension = Some(learnt);
    Ok(learnt)
}

/// The vector of a passage, which no cache gives.
fn try_one(model: RemoteModel) -> Result<Vec<f32>> {
    let model = model.open()?;
    let batch = model.embed_passages(vec!["A test.".to_owned()]);
    let mut batch = batch.map_err(|failure| inference(&failure))?;
    match batch::next_vector(batch.as_mut())? {
        Some((_, vector)) => vector,
        None => Err(internal("no vector")),
    }
}

/// Another address and key for a model that is known.
fn move_to(owner: &Owner<'_>, id: i32, model: RemoteModel) -> Result<Registered> {
    let terms = terms(id, &model.endpoint, model.names_dimension);
    let Endpoint { url, key_file, .. } = model.endpoint.clone();
    try_one(model)?;
    statement::execute(
        owner,
        "UPDATE docsearch.endpoint e SET url = $2, api_key_file = $3 WHERE e.model_id = $1",
        &[
            DatumWithOid::from(id),
            DatumWithOid::from(url),
            DatumWithOid::from(key_file),
        ],
    )?;
    Ok(Registered { id, terms })
}

/// The model of a row.
pub(crate) fn open(role: &mut dyn Role, row: &ModelRow) -> Result<Box<dyn Embedder>> {
    let owner = &role.as_owner()?;
    let found = statement::one(
        owner,
        "SELECT e.url, e.model, e.api_key_file, e.names_dimension, m.dimension, m.query_prefix,
                (SELECT r.rolsuper FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                 WHERE c.oid = 'docsearch.endpoint'::regclass)
         FROM docsearch.endpoint e JOIN docsearch.model m ON m.id = e.model_id WHERE m.id = $1",
        &[DatumWithOid::from(row.id)],
        |found| {
            let model = RemoteModel {
                name: row.name.clone(),
                endpoint: Endpoint {
                    url: found.required(1)?,
                    model: found.required(2)?,
                    key_file: found.optional(3)?,
                },
                dimension: usize::try_from(found.required::<i32>(5)?).ok(),
                names_dimension: found.required(4)?,
                query_prefix: found.required(6)?,
                passage_prefix: row.passage_prefix.clone(),
                max_tokens: row.max_tokens,
                digest: row.digest.clone(),
            };
            Ok((model, found.required::<bool>(7)?))
        },
    )?;
    let unusable = |problem: &str, hint: &str| {
        error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("model \"{}\" cannot be used: {problem}", row.name),
            hint,
        )
    };
    match found {
        None => Err(unusable(
            "it has no row in docsearch.endpoint",
            "A superuser can add it again with docsearch.add_remote_model().",
        )),
        // Whoever can write the table could have the server connect anywhere, and send any file as a key.
        Some((_, false)) => Err(unusable(
            "the owner of docsearch.endpoint is not a superuser",
            "A superuser can run: ALTER TABLE docsearch.endpoint OWNER TO a superuser.",
        )),
        Some((model, true))
            if !is_confirmed(owner, row.id, &terms(row.id, &model.endpoint, model.names_dimension))? =>
        {
            Err(unusable(
                "no superuser has confirmed its row in docsearch.endpoint as it is",
                "A superuser can look at the row, and add the model again with docsearch.add_remote_model().",
            ))
        }
        Some((model, true)) => model.open(),
    }
}
