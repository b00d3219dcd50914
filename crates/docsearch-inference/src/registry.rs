//! The models of a process, each loaded once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::{Model, Options};

/// The models of this process, each loaded once. Can be a `static`: creating one does nothing.
pub struct Registry {
    models: Mutex<BTreeMap<PathBuf, Arc<Model>>>,
}

impl Registry {
    /// A registry without models.
    pub const fn new() -> Self {
        Self {
            models: Mutex::new(BTreeMap::new()),
        }
    }

    /// The model in `directory`, loaded at the first call; later calls ignore `options`.
    ///
    /// # Errors
    /// Those of [`Model::load`]. The next call tries again.
    pub fn get(&self, directory: &Path, options: &Options) -> Result<Arc<Model>> {
        let path = directory
            .canonicalize()
            .map_err(|_| Error::DirectoryMissing { path: directory.into() })?;
        let mut models = self.lock();
        if let Some(model) = models.get(&path) {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(Model::load(&path, options)?);
        models.insert(path, Arc::clone(&model));
        Ok(model)
    }

    /// Stops all models, see [`Model::stop`], and removes them.
    pub fn stop(&self) {
        for model in std::mem::take(&mut *self.lock()).into_values() {
            model.stop();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Model>>> {
        lock(&self.models)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}
