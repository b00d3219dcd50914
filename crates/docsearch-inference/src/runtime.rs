//! Loads ONNX Runtime, once for each process.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::error::{Error, Result, catch_panic};
use crate::lock::lock;
use crate::signal::with_signals_blocked;
use crate::telemetry;

/// The library of this process. It is never unloaded: `ort` holds the environment weakly and cannot create a second.
static LOADED: Mutex<Option<Runtime>> = Mutex::new(None);

/// ONNX Runtime, loaded into this process.
#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    path: PathBuf,
    environment: Environment,
}

impl Runtime {
    /// Loads ONNX Runtime from the library at `path`, or returns the one loaded from there before.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let requested = path
            .canonicalize()
            .map_err(|_| Error::RuntimeMissing { path: path.into() })?;
        let mut loaded = lock(&LOADED);
        match &*loaded {
            Some(runtime) if runtime.path == requested => Ok(runtime.clone()),
            Some(runtime) => Err(Error::RuntimeAlreadyLoaded {
                loaded: runtime.path.clone(),
                requested,
            }),
            None => {
                let runtime = with_signals_blocked(|| Self::open(requested))?;
                Ok(loaded.insert(runtime).clone())
            }
        }
    }

    fn open(path: PathBuf) -> Result<Self> {
        let unusable = |reason: String| Error::RuntimeUnusable {
            path: path.clone(),
            reason,
        };
        telemetry::disable();
        let environment = catch_panic(|| {
            ort::init_from(&path)
                .map_err(|error| unusable(error.to_string()))?
                .with_name("docsearch")
                .with_telemetry(false)
                .build()
                .map_err(|error| unusable(error.to_string()))
        })?;
        // Errors reach the caller as values; stderr would repeat them.
        environment.set_log_level(LogLevel::Fatal);
        Ok(Self { path, environment })
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }
}
