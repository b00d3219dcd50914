//! Reads the files of a sentence-transformers directory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::pooling::Pooling;

/// Possible paths of the graph, in search order.
const GRAPH_PATHS: [&str; 2] = ["onnx/model.onnx", "model.onnx"];
/// Names of the passage prompt in `config_sentence_transformers.json`, in order of preference.
const PASSAGE_PROMPTS: [&str; 3] = ["passage", "document", "corpus"];

/// The configuration in a sentence-transformers directory.
#[derive(Debug, Clone)]
pub(crate) struct ModelDirectory {
    pub(crate) root: PathBuf,
    pub(crate) graph: PathBuf,
    pub(crate) tokenizer: PathBuf,
    /// Maximum number of tokens of one text, including special tokens.
    pub(crate) max_tokens: usize,
    pub(crate) lowercase: bool,
    pub(crate) normalize: bool,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
    pooling: Option<PoolingModule>,
    /// Modules after the transformer that only a graph can compute, such as `Dense`.
    other_modules: Vec<String>,
}

#[derive(Debug, Clone)]
struct PoolingModule {
    path: PathBuf,
    dimension: Option<usize>,
    modes: Vec<String>,
    include_prompt: bool,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

impl Module {
    fn class(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or(&self.kind)
    }

    /// The directory of its files. The model must not name directories outside its own.
    fn directory(&self, root: &Path) -> Result<PathBuf> {
        let is_below = |step| matches!(step, Component::Normal(_) | Component::CurDir);
        if Path::new(&self.path).components().all(is_below) {
            return Ok(root.join(&self.path));
        }
        Err(Error::Unsupported {
            path: root.join("modules.json"),
            reason: format!("path \"{}\" outside the model's directory", self.path),
        })
    }
}

#[derive(Deserialize)]
struct Config {
    max_position_embeddings: Option<usize>,
}

#[derive(Deserialize, Default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

#[derive(Deserialize, Default)]
struct TokenizerConfig {
    /// A float, since "no limit" is written as an integer of 31 digits.
    model_max_length: Option<f64>,
}

#[derive(Deserialize, Default)]
struct PromptConfig {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    default_prompt_name: Option<String>,
}

impl ModelDirectory {
    /// Reads the small files of the directory, and locates the graph and the tokenizer.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let missing = || Error::DirectoryMissing { path: path.into() };
        let root = path.canonicalize().map_err(|_| missing())?;
        if !root.is_dir() {
            return Err(missing());
        }
        let modules: Vec<Module> = read_json(&root.join("modules.json"))?;
        let transformer = modules
            .iter()
            .find(|module| module.class() == "Transformer")
            .ok_or_else(|| Error::Unsupported {
                path: root.join("modules.json"),
                reason: "no module is a Transformer".to_owned(),
            })?;
        let base = transformer.directory(&root)?;
        let sentence: SentenceConfig =
            read_json_if_exists(&base.join("sentence_bert_config.json"))?.unwrap_or_default();
        let prompts: PromptConfig =
            read_json_if_exists(&root.join("config_sentence_transformers.json"))?.unwrap_or_default();

        Ok(Self {
            graph: locate_graph(&base)?,
            tokenizer: existing(base.join("tokenizer.json"))?,
            max_tokens: max_tokens(&base, &sentence)?,
            lowercase: sentence.do_lower_case,
            normalize: modules.iter().any(|module| module.class() == "Normalize"),
            query_prefix: prompts.prefix(&["query"]),
            passage_prefix: prompts.prefix(&PASSAGE_PROMPTS),
            pooling: modules
                .iter()
                .find(|module| module.class() == "Pooling")
                .map(|module| PoolingModule::read(&module.directory(&root)?))
                .transpose()?,
            other_modules: modules
                .iter()
                .map(Module::class)
                .filter(|class| !["Transformer", "Pooling", "Normalize"].contains(class))
                .map(str::to_owned)
                .collect(),
            root,
        })
    }

    /// The pooling mode; `None` unless the directory states exactly one that [`Pooling`] knows.
    pub(crate) fn pooling(&self) -> Option<Pooling> {
        self.pooling.as_ref().and_then(PoolingModule::mode)
    }

    /// The pooling mode for a graph that returns token embeddings.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the model needs more than pooling and normalising.
    pub(crate) fn pooling_of_tokens(&self) -> Result<Pooling> {
        let unsupported = |path: PathBuf, reason: String| Error::Unsupported { path, reason };
        if let Some(module) = self.other_modules.first() {
            return Err(unsupported(
                self.root.join("modules.json"),
                format!("module {module} outside the graph"),
            ));
        }
        let Some(pooling) = &self.pooling else {
            return Err(unsupported(
                self.root.join("modules.json"),
                "no Pooling module, and the graph returns token embeddings".to_owned(),
            ));
        };
        let prefixed = !self.query_prefix.is_empty() || !self.passage_prefix.is_empty();
        if prefixed && !pooling.include_prompt {
            return Err(unsupported(
                pooling.path.clone(),
                "pooling that leaves out the prompt".to_owned(),
            ));
        }
        pooling.mode().ok_or_else(|| {
            let modes = pooling.modes.join(" and ");
            unsupported(
                pooling.path.clone(),
                format!("pooling mode \"{modes}\"; known are mean, cls, lasttoken and max"),
            )
        })
    }

    /// Compares the dimension of the graph's vectors with the directory's.
    pub(crate) fn check_dimension(&self, dimension: usize) -> Result<()> {
        match &self.pooling {
            Some(PoolingModule {
                dimension: Some(stated),
                path,
                ..
            }) if *stated != dimension && self.other_modules.is_empty() => Err(Error::Inconsistent {
                path: path.clone(),
                reason: format!("it states {stated} dimensions, the graph gives {dimension}"),
            }),
            _ => Ok(()),
        }
    }

    /// SHA-256, in hexadecimal digits, of everything that determines a text's vector: the graph, its external weights,
    /// the tokenizer, and the settings in the other files.
    pub(crate) fn digest(&self) -> Result<String> {
        let mut hasher = Sha256::new();
        for path in [&self.graph, &self.tokenizer]
            .into_iter()
            .chain(&self.external_weights())
        {
            hash_file(path, &mut hasher)?;
        }
        let modes = self.pooling.as_ref().map(|pooling| pooling.modes.join(","));
        for (name, value) in [
            ("max_tokens", self.max_tokens.to_string().as_str()),
            ("lowercase", &self.lowercase.to_string()),
            ("pooling", modes.as_deref().unwrap_or_default()),
            ("normalize", &self.normalize.to_string()),
            ("query_prefix", &self.query_prefix),
            ("passage_prefix", &self.passage_prefix),
        ] {
            hasher.update(format!("{name} {} {value}\n", value.len()));
        }
        Ok(base16ct::lower::encode_string(&hasher.finalize()))
    }

    fn external_weights(&self) -> Vec<PathBuf> {
        ["onnx_data", "onnx.data"]
            .map(|extension| self.graph.with_extension(extension))
            .into_iter()
            .filter(|path| path.is_file())
            .collect()
    }
}

impl PoolingModule {
    fn read(directory: &Path) -> Result<Self> {
        let path = directory.join("config.json");
        let config: serde_json::Map<String, serde_json::Value> = read_json(&path)?;
        let flagged = config
            .iter()
            .filter(|(_, value)| **value == serde_json::Value::Bool(true))
            .filter_map(|(key, _)| key.strip_prefix("pooling_mode_"));
        let named = config.get("pooling_mode").and_then(|mode| mode.as_str());
        let dimension = ["word_embedding_dimension", "embedding_dimension"]
            .iter()
            .find_map(|key| config.get(*key)?.as_u64());
        Ok(Self {
            dimension: dimension.and_then(|dimension| usize::try_from(dimension).ok()),
            modes: flagged.chain(named).map(str::to_owned).collect(),
            include_prompt: config.get("include_prompt").and_then(|flag| flag.as_bool()) != Some(false),
            path,
        })
    }

    fn mode(&self) -> Option<Pooling> {
        let [mode] = self.modes.as_slice() else {
            return None;
        };
        mode.parse().ok()
    }
}

impl PromptConfig {
    fn prefix(&self, names: &[&str]) -> String {
        names
            .iter()
            .copied()
            .chain(self.default_prompt_name.as_deref())
            .find_map(|name| self.prompts.get(name))
            .cloned()
            .unwrap_or_default()
    }
}

fn max_tokens(base: &Path, sentence: &SentenceConfig) -> Result<usize> {
    let config_path = base.join("config.json");
    let config: Config = read_json(&config_path)?;
    let positions = config.max_position_embeddings;
    if let Some(stated) = sentence.max_seq_length {
        return match positions {
            Some(positions) if stated > positions => Err(Error::Inconsistent {
                path: base.join("sentence_bert_config.json"),
                reason: format!("max_seq_length is {stated}, the transformer has {positions} positions"),
            }),
            _ => Ok(stated),
        };
    }
    let tokenizer: TokenizerConfig = read_json_if_exists(&base.join("tokenizer_config.json"))?.unwrap_or_default();
    let tokenizer_limit = tokenizer
        .model_max_length
        .filter(|limit| (1.0..1e9).contains(limit))
        .map(|limit| limit as usize);
    positions
        .into_iter()
        .chain(tokenizer_limit)
        .min()
        .ok_or_else(|| Error::Unsupported {
            path: config_path,
            reason: "unlimited length; state max_seq_length in sentence_bert_config.json".to_owned(),
        })
}

fn locate_graph(base: &Path) -> Result<PathBuf> {
    GRAPH_PATHS
        .iter()
        .map(|path| base.join(path))
        .find(|path| path.is_file())
        .map_or_else(|| existing(base.join(GRAPH_PATHS[0])), Ok)
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    if path.is_file() {
        Ok(path)
    } else {
        Err(Error::FileMissing { path })
    }
}

/// Reads a file that the model needs.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| file_error(path, source))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&read_file(path)?).map_err(|error| Error::FileCorrupt {
        path: path.into(),
        reason: error.to_string(),
    })
}

fn read_json_if_exists<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match read_json(path) {
        Err(Error::FileMissing { .. }) => Ok(None),
        other => other.map(Some),
    }
}

fn hash_file(path: &Path, hasher: &mut Sha256) -> Result<()> {
    let unreadable = |source| file_error(path, source);
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    hasher.update(length.to_le_bytes());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn file_error(path: &Path, source: std::io::Error) -> Error {
    let path = path.into();
    match source.kind() {
        std::io::ErrorKind::NotFound => Error::FileMissing { path },
        _ => Error::FileUnreadable { path, source },
    }
}

/// The licence of a model: `license` in the front matter of `README.md`, else the first line of `LICENSE` or
/// `LICENSE.txt`.
pub fn licence(directory: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(directory.join(name)).ok();
    let card = read("README.md").unwrap_or_default();
    let matter = card.strip_prefix("---").and_then(|rest| rest.split("\n---").next());
    let stated = matter
        .into_iter()
        .flat_map(str::lines)
        .find_map(|line| line.strip_prefix("license:").map(|licence| licence.trim().to_owned()));
    let first_line = || {
        let text = read("LICENSE").or_else(|| read("LICENSE.txt"))?;
        text.lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(str::to_owned)
    };
    stated.filter(|licence| !licence.is_empty()).or_else(first_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_stated_on_the_card_or_in_a_file() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(licence(directory.path()), None);
        fs::write(directory.path().join("LICENSE"), "\n  MIT License\n\nCopyright").expect("written");
        assert_eq!(licence(directory.path()).as_deref(), Some("MIT License"));
        let card = "---\nlanguage: en\nlicense: apache-2.0\n---\n# Model\nlicense: none\n";
        fs::write(directory.path().join("README.md"), card).expect("written");
        assert_eq!(licence(directory.path()).as_deref(), Some("apache-2.0"));
    }
}
