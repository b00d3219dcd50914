//! The models that the service has loaded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::encoder::Encoder;
use crate::error::Result;
use crate::lock::lock;
use crate::sessions::Sessions;
use crate::status::ModelStatus;

/// How long an idle model stays loaded beside others.
const IDLE: Duration = Duration::from_secs(600);

/// The models that are loaded, by directory.
pub(super) struct Models {
    runtime: PathBuf,
    loaded: Mutex<BTreeMap<String, Arc<Slot>>>,
}

/// A model's slot. Its lock is held while the model loads, so that other models are not blocked.
#[derive(Default)]
struct Slot {
    state: Mutex<Option<LoadedModel>>,
}

struct LoadedModel {
    encoder: Arc<Encoder>,
    used: Instant,
}

impl Models {
    pub(super) fn new(runtime: PathBuf) -> Self {
        Self {
            runtime,
            loaded: Mutex::default(),
        }
    }

    /// The model, or `None` if it is not loaded or still loading.
    pub(super) fn peek(&self, directory: &str) -> Option<Arc<Encoder>> {
        let slot = Arc::clone(lock(&self.loaded).get(directory)?);
        let mut state = slot.state.try_lock().ok()?;
        let loaded = state.as_mut()?;
        loaded.used = Instant::now();
        Some(Arc::clone(&loaded.encoder))
    }

    /// The model. Loads it if necessary, and keeps the session that tested it.
    pub(super) fn get(&self, directory: &str, sessions: &mut Sessions) -> Result<Arc<Encoder>> {
        let clock = Arc::clone(sessions.clock());
        clock.loading(|| self.get_or_load(directory, sessions))
    }

    fn get_or_load(&self, directory: &str, sessions: &mut Sessions) -> Result<Arc<Encoder>> {
        let slot = Arc::clone(lock(&self.loaded).entry(directory.to_owned()).or_default());
        let mut state = lock(&slot.state);
        if let Some(loaded) = state.as_mut() {
            loaded.used = Instant::now();
            return Ok(Arc::clone(&loaded.encoder));
        }
        self.unload_idle(directory);
        let (encoder, session) = Encoder::load(directory.as_ref(), &self.runtime)?;
        sessions.keep(&encoder, session);
        *state = Some(LoadedModel {
            encoder: Arc::clone(&encoder),
            used: Instant::now(),
        });
        Ok(encoder)
    }

    pub(super) fn status(&self) -> Vec<ModelStatus> {
        let slots: Vec<_> = lock(&self.loaded)
            .iter()
            .map(|(directory, slot)| (directory.clone(), Arc::clone(slot)))
            .collect();
        slots
            .into_iter()
            .filter_map(|(directory, slot)| {
                let state = slot.state.try_lock().ok()?;
                let encoder = &state.as_ref()?.encoder;
                Some(ModelStatus {
                    directory,
                    digest: encoder.digest().ok()?.to_owned(),
                    dimension: encoder.info.dimension,
                })
            })
            .collect()
    }

    /// Unloads models that were idle for [`IDLE`], before another is loaded.
    fn unload_idle(&self, except: &str) {
        lock(&self.loaded).retain(|directory, slot| match slot.state.try_lock() {
            Ok(state) => state.as_ref().is_some_and(|loaded| loaded.used.elapsed() < IDLE),
            Err(_) => directory == except || Arc::strong_count(slot) > 1,
        });
    }
}
