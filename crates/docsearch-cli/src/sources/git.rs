//! Git repositories, read with the program `git`.

mod address;
mod cache;
mod changes;
mod checkout;
mod export;
mod process;
mod repository;
#[cfg(test)]
mod tests;

pub(crate) use address::{RepositoryAddress, RepositoryLocation, name};
pub(crate) use cache::fetch;
pub(crate) use changes::changes;
pub(crate) use checkout::{Checkout, name_below};
pub(crate) use export::export;
pub(crate) use repository::Repository;
