//! Mistakes that must not compile: `scripts/leaks.py` expects each error in the line that names it, and no other.

use pgrx::pg_sys;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;

fn visible(caller: &Caller) -> Result<Vec<i64>> {
    statement::rows(caller, "SELECT d.id FROM docsearch.document d", &[], |row| {
        row.required(1)
    })
}

fn all(owner: &Owner<'_>) -> Result<Vec<i64>> {
    statement::rows(owner, "SELECT c.document_id FROM docsearch.chunk c", &[], |row| {
        row.required(1)
    })
}

pub(crate) fn caller_while_the_owner_acts(caller: &mut Caller) -> Result<Vec<i64>> {
    let owner = &caller.as_owner()?;
    let seen = visible(caller)?; //~ E0502
    all(owner)?;
    Ok(seen)
}

pub(crate) fn caller_after_the_last_use_of_the_owner(caller: &mut Caller) -> Result<Vec<i64>> {
    let owner = &caller.as_owner()?;
    all(owner)?;
    visible(caller) //~ E0502
}

pub(crate) fn caller_in_what_the_owner_reads(caller: &mut Caller) -> Result<Vec<i64>> {
    let owner = &caller.as_owner()?;
    let ids = all(owner)?.into_iter().map(|id| Ok((id, visible(caller)?))); //~ E0502
    ids.map(|seen| seen.map(|(id, _)| id)).collect()
}

pub(crate) fn owner_in_place_of_the_caller(owner: &Owner<'_>) -> Result<Vec<i64>> {
    visible(owner) //~ E0308
}

pub(crate) fn caller_in_place_of_the_owner(caller: &Caller) -> Result<Vec<i64>> {
    all(caller) //~ E0308
}

pub(crate) fn owner_while_another_role_calls(owner: &mut Owner<'_>, role: pg_sys::Oid) -> Result<Vec<i64>> {
    let writer = &*owner.acting_as(role)?;
    visible(writer)?;
    all(owner) //~ E0502
}

pub(crate) fn owner_while_another_role_is_confined(owner: &mut Owner<'_>, role: pg_sys::Oid) -> Result<Vec<i64>> {
    let _confined = owner.confined_to(role)?;
    all(owner) //~ E0502
}

pub(crate) fn statement_of_no_role() -> Result<()> {
    statement::utility("TRUNCATE docsearch.document") //~ E0061, E0277
}
