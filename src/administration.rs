//! Making, mending and leaving the house: tables, projects, rights, checks and repairs.

pub(crate) mod check;
pub(crate) mod creation;
pub(crate) mod grant;
pub(crate) mod migration;
pub(crate) mod removal;
pub(crate) mod repair;
pub(crate) mod revocation;
