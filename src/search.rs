//! From a query to an answer.

mod answer;
mod basis;
pub(crate) mod candidates;
pub(crate) mod conditions;
pub(crate) mod config;
pub(crate) mod exclusion;
pub(crate) mod explain;
mod filtering;
pub(crate) mod grade;
pub(crate) mod group;
pub(crate) mod invariants;
mod joint_search;
pub(crate) mod language;
pub(crate) mod lexical;
pub(crate) mod logging;
pub(crate) mod newest;
mod pages;
pub(crate) mod present;
mod query_vector;
pub(crate) mod refine;
pub(crate) mod request;
pub(crate) mod retrieval;
pub(crate) mod section;
pub(crate) mod suggest;
pub(crate) mod transform;
pub(crate) mod vocabulary;
mod wordings;
