//! Administration: the schema, projects, privileges, checks, repairs and removal.

pub(crate) mod check;
pub(crate) mod conditions;
pub(crate) mod creation;
pub(crate) mod grant;
pub(crate) mod migration;
pub(crate) mod ranking_state;
pub(crate) mod recall;
pub(crate) mod removal;
pub(crate) mod repair;
pub(crate) mod revocation;
