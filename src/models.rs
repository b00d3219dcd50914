//! Models: their files, opening them, the program that runs them, and models behind endpoints.

pub(crate) mod batch;
pub(crate) mod embedder;
pub(crate) mod files;
pub(crate) mod language_model;
pub(crate) mod recent_vectors;
pub(crate) mod registration;
pub(crate) mod remote;
pub(crate) mod run_directory;
pub(crate) mod service;
pub(crate) mod supervisor;
pub(crate) mod trial;
