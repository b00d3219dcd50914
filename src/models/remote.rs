//! Models behind an endpoint: registers, opens and tries them. The inference program makes the calls.

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
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::settings;
use crate::tables::confirmation;
use crate::tables::model::ModelRow;

/// Most components of a vector that can be stored with an index.
const MAX_DIMENSION: usize = 4000;
/// Allowed tokens of one text: with fewer, chunks are of no use to a search.
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
    /// `None` if it has still to be determined.
    dimension: Option<usize>,
    names_dimension: bool,
    query_prefix: String,
    passage_prefix: String,
    max_tokens: usize,
    /// As it is registered, or empty.
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

    /// A digest of what determines a text's vector, as far as it is known. The address may change.
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

/// Raises an error for other roles: the arguments name files of the server and addresses that it connects to.
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

/// A model as it was registered, which the same superuser has to confirm.
pub(crate) struct Registered {
    pub(crate) id: i32,
    terms: Value,
}

impl Registered {
    pub(crate) fn confirm(&self, caller: &mut Caller) -> Result<()> {
        let name = confirmed_by(self.id);
        confirmation::delete(caller, &name)?;
        confirmation::write(caller, &name, &confirmation::text(PREFACE, &self.terms))
    }
}

/// The type whose comment confirms the row of the endpoint.
fn confirmed_by(id: i32) -> String {
    format!("endpoint_{id}")
}

/// The contents of a row of `docsearch.endpoint`.
fn terms(id: i32, endpoint: &Endpoint, names_dimension: bool) -> Value {
    json!({
        "model_id": id,
        "url": endpoint.url,
        "model": endpoint.model,
        "names_dimension": names_dimension,
        "api_key_file": endpoint.key_file,
    })
}

/// Whether a superuser has confirmed a row that is still the same. Other roles may write the table, but must not have
/// the server connect to an address or send a file as a key.
fn is_confirmed(owner: &Owner<'_>, id: i32, terms: &Value) -> Result<bool> {
    // SAFETY: the role need not exist.
    let by_superuser = |keeper| unsafe { pg_sys::superuser_arg(keeper) };
    let confirmed = confirmation::read(owner, &confirmed_by(id))?;
    Ok(confirmed.is_some_and(|(keeper, confirmed)| by_superuser(keeper) && confirmed == *terms))
}

row_type! {
    /// A row of `docsearch.endpoint`.
    struct EndpointRow {
        model_id: i32 = "e.model_id",
        url: String = "e.url",
        model: String = "e.model",
        key_file: Option<String> = "e.api_key_file",
        names_dimension: bool = "e.names_dimension",
    }
}

row_type! {
    /// A model, with what its endpoint decides.
    struct KnownModel {
        id: i32 = "m.id",
        remote: bool = "m.remote",
        dimension: i32 = "m.dimension",
        query_prefix: String = "m.query_prefix",
        passage_prefix: String = "m.passage_prefix",
        max_tokens: i32 = "m.max_tokens",
        model: Option<String> = "e.model",
        names_dimension: Option<bool> = "e.names_dimension",
    }
}

row_type! {
    /// What it takes to open a model.
    struct OpenedRow {
        url: String = "e.url",
        model: String = "e.model",
        key_file: Option<String> = "e.api_key_file",
        names_dimension: bool = "e.names_dimension",
        dimension: i32 = "m.dimension",
        query_prefix: String = "m.query_prefix",
        is_owned_by_superuser: bool = OWNED_BY_SUPERUSER,
    }
}

/// Whether the owner of `docsearch.endpoint` is a superuser.
const OWNED_BY_SUPERUSER: &str = "(SELECT r.rolsuper FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
                WHERE c.oid = 'docsearch.endpoint'::regclass)";

impl KnownModel {
    /// Whether a model has the same vectors.
    fn is_same(&self, new: &RemoteModel) -> bool {
        let same_dimension = |dimension| usize::try_from(self.dimension) == Ok(dimension);
        self.remote
            && self.model.as_deref() == Some(&new.endpoint.model)
            && new.dimension.is_none_or(same_dimension)
            && self.names_dimension == Some(new.names_dimension)
            && self.query_prefix == new.query_prefix
            && self.passage_prefix == new.passage_prefix
            && usize::try_from(self.max_tokens) == Ok(new.max_tokens)
    }
}

/// Confirms, once, the rows of before there were confirmations, if only superusers can have written them. Models of
/// other rows have to be added again.
pub(crate) fn confirm_earlier(caller: &mut Caller) -> Result<()> {
    if !caller.is_superuser() || !confirmation::only_its_owner_writes(caller, "docsearch.endpoint")? {
        return Ok(());
    }
    let rows = statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.endpoint e WHERE {OWNED_BY_SUPERUSER}",
            EndpointRow::select_list()
        ),
        &[],
        EndpointRow::read,
    )?;
    rows.into_iter().try_for_each(|row| {
        let (id, names_dimension) = (row.model_id, row.names_dimension);
        let endpoint = Endpoint {
            url: row.url,
            model: row.model,
            key_file: row.key_file,
        };
        let terms = terms(id, &endpoint, names_dimension);
        Registered { id, terms }.confirm(caller)
    })
}

/// Writes the rows of a new model and its endpoint; changes the address and key of a known one.
pub(crate) fn register(owner: &Owner<'_>, mut new: RemoteModel) -> Result<Registered> {
    Lock::Models.acquire();
    let known = statement::change(
        owner,
        &format!(
            "SELECT {} FROM docsearch.model m LEFT JOIN docsearch.endpoint e ON e.model_id = m.id WHERE m.name = $1",
            KnownModel::select_list()
        ),
        &[DatumWithOid::from(new.name.as_str())],
        KnownModel::read,
    )?;
    match known.first() {
        None => {}
        Some(known) if known.is_same(&new) => {
            new.dimension = usize::try_from(known.dimension).ok();
            return update_endpoint(owner, known.id, new);
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
    let learnt = probe_dimension(&mut new)?;
    let digest = new.compute_digest();
    new.digest.clone_from(&digest);
    let opened = new.open()?;
    let baseline = trial::try_out(&name, opened.as_ref(), learnt, Unfit::Warned)?;
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
            DatumWithOid::from(baseline),
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

/// The number of components of its vectors, determined by embedding a text.
fn probe_dimension(new: &mut RemoteModel) -> Result<usize> {
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
    let vector = embed_test_passage(probe)?;
    let learnt = dimension(i32::try_from(vector.len()).map_err(internal)?)?;
    new.dimension = Some(learnt);
    Ok(learnt)
}

/// The vector of a passage, which no cache holds.
fn embed_test_passage(model: RemoteModel) -> Result<Vec<f32>> {
    let model = model.open()?;
    let batch = model.embed_passages(vec!["A test.".to_owned()]);
    let mut batch = batch.map_err(|failure| inference(&failure))?;
    match batch::next_vector(batch.as_mut())? {
        Some((_, vector)) => vector,
        None => Err(internal("no vector")),
    }
}

/// Changes the address and key of a known model.
fn update_endpoint(owner: &Owner<'_>, id: i32, model: RemoteModel) -> Result<Registered> {
    let terms = terms(id, &model.endpoint, model.names_dimension);
    let Endpoint { url, key_file, .. } = model.endpoint.clone();
    embed_test_passage(model)?;
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
        &format!(
            "SELECT {} FROM docsearch.endpoint e JOIN docsearch.model m ON m.id = e.model_id WHERE m.id = $1",
            OpenedRow::select_list()
        ),
        &[DatumWithOid::from(row.id)],
        OpenedRow::read,
    )?;
    let unusable = |problem: &str, hint: &str| {
        error_with_hint(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("model \"{}\" cannot be used: {problem}", row.name),
            hint,
        )
    };
    let found = found.ok_or_else(|| {
        unusable(
            "it has no row in docsearch.endpoint",
            "A superuser can add it again with docsearch.add_remote_model().",
        )
    })?;
    // A role that can write the table could have the server connect anywhere, and send any file as a key.
    if !found.is_owned_by_superuser {
        return Err(unusable(
            "the owner of docsearch.endpoint is not a superuser",
            "A superuser can run: ALTER TABLE docsearch.endpoint OWNER TO a superuser.",
        ));
    }
    let endpoint = Endpoint {
        url: found.url,
        model: found.model,
        key_file: found.key_file,
    };
    if !is_confirmed(owner, row.id, &terms(row.id, &endpoint, found.names_dimension))? {
        return Err(unusable(
            "no superuser has confirmed its row in docsearch.endpoint as it is",
            "A superuser can look at the row, and add the model again with docsearch.add_remote_model().",
        ));
    }
    let model = RemoteModel {
        name: row.name.clone(),
        endpoint,
        dimension: usize::try_from(found.dimension).ok(),
        names_dimension: found.names_dimension,
        query_prefix: found.query_prefix,
        passage_prefix: row.passage_prefix.clone(),
        max_tokens: row.max_tokens,
        digest: row.digest.clone(),
    };
    model.open()
}
