//! One graph on one thread.

use std::path::Path;

use ort::ep;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{RunOptions, Session, SessionInputValue};
use ort::value::{Outlet, TensorElementType, TensorRef};
use strum::{EnumString, IntoStaticStr};

use crate::directory::ModelDirectory;
use crate::error::{Error, Result, catch_panic};
use crate::pooling::{Pooling, normalize};
use crate::runtime::Runtime;
use crate::signal::with_signals_blocked;
use crate::tokenizer::TokenIds;
use crate::watchdog::Clock;

/// One loaded graph that turns the tokens of one text into its vector.
///
/// It runs on the calling thread and starts no other.
pub(crate) struct EncoderSession {
    session: Session,
    inputs: Vec<Input>,
    output: Output,
    normalize: bool,
}

/// An input, by the name that graphs give it.
#[derive(Debug, Clone, Copy, EnumString, IntoStaticStr)]
enum Input {
    #[strum(serialize = "input_ids")]
    Ids,
    #[strum(serialize = "attention_mask")]
    Mask,
    #[strum(serialize = "token_type_ids")]
    Types,
}

/// The output to read, and how its values become one vector.
#[derive(Debug)]
enum Output {
    /// `[batch, dimension]`
    SentenceEmbedding { name: String },
    /// `[batch, sequence, dimension]`
    TokenEmbeddings { name: String, pooling: Pooling },
}

impl EncoderSession {
    pub(crate) fn open(runtime: &Runtime, directory: &ModelDirectory) -> Result<Self> {
        let graph = &directory.graph;
        let session = catch_panic(|| {
            with_signals_blocked(|| open_graph(runtime, graph)).map_err(|error| {
                failure(&error, |reason| Error::FileCorrupt {
                    path: graph.clone(),
                    reason,
                })
            })
        })?;
        Ok(Self {
            inputs: session
                .inputs()
                .iter()
                .map(|input| Input::named(input, graph))
                .collect::<Result<_>>()?,
            output: Output::choose(session.outputs(), directory)?,
            normalize: directory.normalize,
            session,
        })
    }

    /// The vector of one text.
    ///
    /// # Errors
    /// [`Error::Run`], [`Error::NotFinite`] or [`Error::Panicked`].
    pub(crate) fn embed(&mut self, tokens: &TokenIds, clock: &Clock) -> Result<Vec<f32>> {
        let mut vector = catch_panic(|| {
            clock
                .run(|options| self.run(tokens, options))
                .map_err(|error| failure(&error, |reason| Error::Run { reason }))
        })?;
        if self.normalize {
            normalize(&mut vector);
        }
        if vector.iter().all(|value| value.is_finite()) {
            Ok(vector)
        } else {
            Err(Error::NotFinite)
        }
    }

    fn run(&mut self, tokens: &TokenIds, options: &RunOptions) -> ort::Result<Vec<f32>> {
        let length = tokens.ids.len();
        let mask = vec![1_i64; length];
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let values = match input {
                Input::Ids => &tokens.ids,
                Input::Mask => &mask,
                Input::Types => &tokens.type_ids,
            };
            let tensor = TensorRef::from_array_view(([1, length], values.as_slice()))?;
            inputs.push((<&str>::from(input), SessionInputValue::from(tensor)));
        }
        let outputs = self.session.run_with_options(inputs, options)?;
        let (shape, values) = outputs[self.output.name()].try_extract_tensor::<f32>()?;
        match (&self.output, &shape[..]) {
            (Output::SentenceEmbedding { .. }, &[1, _]) if !values.is_empty() => Ok(values.to_vec()),
            (Output::TokenEmbeddings { pooling, .. }, &[1, _, dimension]) if !values.is_empty() => {
                Ok(pooling.pool(values, dimension as usize))
            }
            (output, shape) => Err(ort::Error::new(format!(
                "output \"{}\" has shape {shape:?} for one text of {length} tokens",
                output.name()
            ))),
        }
    }
}

/// The error of ONNX Runtime. A lack of memory shows only in its text.
fn failure(error: &ort::Error, otherwise: impl FnOnce(String) -> Error) -> Error {
    let reason = error.to_string();
    if reason.contains("bad_alloc") {
        Error::OutOfMemory { reason }
    } else {
        otherwise(reason)
    }
}

fn open_graph(runtime: &Runtime, graph: &Path) -> ort::Result<Session> {
    Session::builder(runtime.environment())?
        .with_execution_providers([ep::CPU::default().with_arena_allocator(false).build()])?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_parallel_execution(false)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?
        .with_memory_pattern(false)?
        // KleidiAI's products on ARM processors with SME round differently: cosine 0.992 to the vectors of others.
        .with_config_entry("mlas.disable_kleidiai", "1")?
        // Without VNNI, x86 adds products of u8 and s8 in 16 bits, where weights beyond 64 saturate. This turns such
        // weights into u8, whose products are exact and slower. Other processors and weights are not affected.
        .with_config_entry("session.x64quantprecision", "1")?
        .commit_from_file(graph)
}

impl Input {
    fn named(outlet: &Outlet, graph: &Path) -> Result<Self> {
        match (outlet.name().parse::<Self>(), outlet.dtype().tensor_type()) {
            (Ok(input), Some(TensorElementType::Int64)) => Ok(input),
            _ => Err(Error::Unsupported {
                path: graph.into(),
                reason: format!("input \"{}\" of type {}", outlet.name(), outlet.dtype()),
            }),
        }
    }
}

impl Output {
    fn choose(outlets: &[Outlet], directory: &ModelDirectory) -> Result<Self> {
        let rank = |outlet: &Outlet| outlet.dtype().tensor_shape().map(|shape| shape.len());
        let is_float = |outlet: &Outlet| outlet.dtype().tensor_type() == Some(TensorElementType::Float32);
        let find = |name: &str, wanted: usize| {
            outlets
                .iter()
                .find(|outlet| outlet.name() == name && rank(outlet) == Some(wanted))
                .filter(|outlet| is_float(outlet))
        };
        if let Some(outlet) = find("sentence_embedding", 2) {
            return Ok(Self::SentenceEmbedding {
                name: outlet.name().to_owned(),
            });
        }
        if let Some(outlet) = find("last_hidden_state", 3).or_else(|| find("token_embeddings", 3)) {
            return Ok(Self::TokenEmbeddings {
                name: outlet.name().to_owned(),
                pooling: directory.pooling_of_tokens()?,
            });
        }
        let found: Vec<String> = outlets
            .iter()
            .map(|outlet| format!("\"{}\" of type {}", outlet.name(), outlet.dtype()))
            .collect();
        Err(Error::Unsupported {
            path: directory.graph.clone(),
            reason: format!(
                "its outputs are {}; known are float32 sentence_embedding, last_hidden_state and token_embeddings",
                found.join(", ")
            ),
        })
    }

    fn name(&self) -> &str {
        match self {
            Self::SentenceEmbedding { name } | Self::TokenEmbeddings { name, .. } => name,
        }
    }
}
