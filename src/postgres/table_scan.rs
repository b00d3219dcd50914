//! Reads small tables as a whole, without a statement: parsing and planning one takes longer than reading its rows.

use std::ffi::{CStr, c_char};

use pgrx::pg_sys;

use crate::postgres::catalog;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::{Owner, Role};
use crate::postgres::statement::{self, Row};

/// Passes on these columns of each row of a table of schema `docsearch` that a statement would see now.
pub(crate) fn each(
    owner: &Owner<'_>,
    name: &CStr,
    columns: &[&CStr],
    mut visit: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    let table =
        catalog::table(name).ok_or_else(|| internal(format_args!("there is no table {}", name.to_string_lossy())))?;
    // SAFETY: the relation is open and locked while its columns are looked up and its rows are read. The lock lasts as
    // long as that of a statement. If Postgres raises an error, it closes the relation.
    let is_scanned = unsafe {
        let relation = pg_sys::table_open(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let scanned = places(table, columns).and_then(|places| match is_plain(relation, owner, &places) {
            true => scan(relation, &places, &mut visit).map(|()| true),
            false => Ok(false),
        });
        pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        scanned?
    };
    if is_scanned {
        return Ok(());
    }
    let columns: Vec<_> = columns.iter().map(|column| column.to_string_lossy()).collect();
    let select = format!(
        "SELECT {} FROM docsearch.{}",
        columns.join(", "),
        name.to_string_lossy()
    );
    statement::each(owner, &select, &[], visit)
}

/// Whether its stored rows are what a statement would read, without running code or hiding some. The owner of the
/// schema may have put a view, a partitioned or a foreign table in the place of a table, or policies on it.
///
/// # Safety
///
/// The relation is open, and has columns at these places.
unsafe fn is_plain(relation: pg_sys::Relation, owner: &Owner<'_>, places: &[usize]) -> bool {
    // SAFETY: an open relation has a row of pg_class and a description of its columns; the role exists.
    unsafe {
        let table = (*relation).rd_id;
        let class = &*(*relation).rd_rel;
        let is_heap = class.relkind == pg_sys::RELKIND_RELATION as c_char
            && class.relpersistence == pg_sys::RELPERSISTENCE_PERMANENT as c_char
            && class.relam == pg_sys::HEAP_TABLE_AM_OID
            && !class.relhassubclass;
        let is_stored = |place: &usize| !catalog::is_virtual(table, *place as i16 + 1);
        let may_read = || {
            pg_sys::pg_class_aclcheck(table, owner.id(), pg_sys::ACL_SELECT.into()) == pg_sys::AclResult::ACLCHECK_OK
        };
        is_heap && places.iter().all(is_stored) && may_read() && !catalog::row_security_active(owner.id(), table)
    }
}

/// # Safety
///
/// [`is_plain`] holds for the open relation.
unsafe fn scan(relation: pg_sys::Relation, places: &[usize], mut visit: impl FnMut(&Row) -> Result<()>) -> Result<()> {
    // SAFETY: the description of the relation says how many columns its rows have. If Postgres raises an error, it ends
    // the scan and forgets the snapshot.
    unsafe {
        let description = (*relation).rd_att;
        let types = |place: &usize| pg_sys::SPI_gettypeid(description, *place as i32 + 1);
        let types: Vec<pg_sys::Oid> = places.iter().map(types).collect();
        let width = (*description).natts as usize;
        let mut values = vec![pg_sys::Datum::null(); width];
        let mut nulls = vec![true; width];
        push_snapshot();
        let none = std::ptr::null_mut();
        let snapshot = pg_sys::GetActiveSnapshot();
        let scan = pg_sys::systable_beginscan(relation, pg_sys::InvalidOid, false, snapshot, 0, none);
        let mut visited = Ok(());
        while visited.is_ok() {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            pg_sys::heap_deform_tuple(tuple, description, values.as_mut_ptr(), nulls.as_mut_ptr());
            let values: Vec<pg_sys::Datum> = places.iter().map(|place| values[*place]).collect();
            let nulls: Vec<bool> = places.iter().map(|place| nulls[*place]).collect();
            visited = visit(&Row::new(&values, &nulls, &types));
        }
        pg_sys::systable_endscan(scan);
        pg_sys::PopActiveSnapshot();
        visited
    }
}

/// The places of columns in a row.
fn places(table: pg_sys::Oid, columns: &[&CStr]) -> Result<Vec<usize>> {
    let place = |column: &&CStr| {
        // SAFETY: the name is terminated, and a column that does not exist has the number 0.
        let number = unsafe { pg_sys::get_attnum(table, column.as_ptr()) };
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        place.ok_or_else(|| internal(format_args!("there is no column {}", column.to_string_lossy())))
    };
    columns.iter().map(place).collect()
}

/// Makes the snapshot active that a statement would have: a transaction that has changed something sees its changes.
///
/// # Safety
///
/// Within a transaction. The snapshot has to be popped.
unsafe fn push_snapshot() {
    // SAFETY: a function runs with an active snapshot.
    unsafe {
        if statement::is_transaction_unchanged() {
            pg_sys::PushActiveSnapshot(pg_sys::GetActiveSnapshot());
        } else {
            pg_sys::CommandCounterIncrement();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        }
    }
}

#[cfg(feature = "pg_test")]
mod tests;
