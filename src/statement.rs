//! Prepared statements, kept for the life of the backend: every search reuses its plans.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::PgOid;
use pgrx::prelude::*;
use pgrx::spi::{OwnedPreparedStatement, SpiClient, SpiTupleTable};

use crate::report::{Result, internal};

thread_local! {
    static PLANS: RefCell<HashMap<String, Rc<OwnedPreparedStatement>>> = RefCell::default();
}

/// A row of a result.
pub(crate) struct Row<'a, 'conn>(&'a SpiTupleTable<'conn>);

impl Row<'_, '_> {
    /// A column that may be NULL, counted from 1.
    pub(crate) fn optional<T: FromDatum + IntoDatum>(&self, ordinal: usize) -> Result<Option<T>> {
        self.0.get(ordinal).map_err(internal)
    }

    /// A column that is never NULL.
    pub(crate) fn required<T: FromDatum + IntoDatum>(&self, ordinal: usize) -> Result<T> {
        self.optional(ordinal)?
            .ok_or_else(|| internal(format_args!("column {ordinal} is null")))
    }
}

/// Runs a query that changes nothing and converts each row.
pub(crate) fn rows<T>(
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row<'_, '_>) -> Result<T>,
) -> Result<Vec<T>> {
    Spi::connect(|client| {
        let plan = prepare(client, sql, args)?;
        collect(client.select(&*plan, None, args).map_err(internal)?, convert)
    })
}

/// The first row of [`rows`].
pub(crate) fn one<T>(
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row<'_, '_>) -> Result<T>,
) -> Result<Option<T>> {
    Ok(rows(sql, args, convert)?.into_iter().next())
}

/// Runs a statement that changes something and converts each row it returns.
pub(crate) fn change<T>(
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row<'_, '_>) -> Result<T>,
) -> Result<Vec<T>> {
    Spi::connect_mut(|client| {
        let plan = prepare(client, sql, args)?;
        collect(client.update(&*plan, None, args).map_err(internal)?, convert)
    })
}

/// Runs a statement for what it changes.
pub(crate) fn execute(sql: &str, args: &[DatumWithOid<'_>]) -> Result<()> {
    change(sql, args, |_| Ok(())).map(|_| ())
}

fn prepare(client: &SpiClient<'_>, sql: &str, args: &[DatumWithOid<'_>]) -> Result<Rc<OwnedPreparedStatement>> {
    if let Some(plan) = PLANS.with_borrow(|plans| plans.get(sql).cloned()) {
        return Ok(plan);
    }
    let types: Vec<PgOid> = args.iter().map(|arg| PgOid::from(arg.oid())).collect();
    let plan = Rc::new(client.prepare(sql, &types).map_err(internal)?.keep());
    PLANS.with_borrow_mut(|plans| plans.insert(sql.to_owned(), Rc::clone(&plan)));
    Ok(plan)
}

fn collect<T>(mut table: SpiTupleTable<'_>, mut convert: impl FnMut(&Row<'_, '_>) -> Result<T>) -> Result<Vec<T>> {
    let mut rows = Vec::with_capacity(table.len());
    while table.next().is_some() {
        rows.push(convert(&Row(&table))?);
    }
    Ok(rows)
}
