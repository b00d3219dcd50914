//! Prepared statements, kept for the life of the backend so that every search reuses its plans. Each takes its role.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::slice;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::report::{Result, internal};
use crate::postgres::restriction::LoweredSuperuser;
use crate::postgres::role::{InStatement, Role};

thread_local! {
    /// By the text of the statement.
    static PLANS: RefCell<HashMap<String, Vec<Plan>>> = RefCell::default();
}

/// A prepared statement. A text has one for each combination of argument types, planning and whether policies are
/// forced.
struct Plan {
    planning: Planning,
    /// Whether forced policies apply to the owner of a table. Postgres plans again for another role, but not when this
    /// changes for the same one.
    is_forced: bool,
    types: Vec<pg_sys::Oid>,
    plan: pg_sys::SPIPlanPtr,
}

impl Plan {
    fn serves(&self, args: &[DatumWithOid<'_>], planning: Planning) -> bool {
        self.planning == planning
            && self.is_forced == is_forced()
            && self.types.iter().copied().eq(args.iter().map(DatumWithOid::oid))
    }
}

fn is_forced() -> bool {
    // SAFETY: reads the security context of this process.
    unsafe { !pg_sys::InNoForceRLSOperation() }
}

/// A row, read where the executor or a scan has it: a thousand rows with wide `tsvector` columns are not copied first.
pub(crate) struct Row<'a> {
    values: &'a [pg_sys::Datum],
    nulls: &'a [bool],
    types: &'a [pg_sys::Oid],
}

impl<'a> Row<'a> {
    /// # Safety
    ///
    /// The values have these types, unless they are null.
    pub(super) unsafe fn new(values: &'a [pg_sys::Datum], nulls: &'a [bool], types: &'a [pg_sys::Oid]) -> Self {
        Self { values, nulls, types }
    }

    /// A column that may be NULL, counted from 1.
    pub(crate) fn optional<T: FromDatum + IntoDatum>(&self, ordinal: usize) -> Result<Option<T>> {
        let missing = || internal(format_args!("there is no column {ordinal}"));
        let column = ordinal.checked_sub(1).ok_or_else(missing)?;
        let oid = *self.types.get(column).ok_or_else(missing)?;
        if !T::is_compatible_with(oid) {
            return Err(internal(format_args!("column {ordinal} has type {oid}")));
        }
        // SAFETY: the value has this type, as `new` requires.
        Ok(unsafe { T::from_polymorphic_datum(self.values[column], self.nulls[column], oid) })
    }

    /// A column that is never NULL.
    pub(crate) fn required<T: FromDatum + IntoDatum>(&self, ordinal: usize) -> Result<T> {
        self.optional(ordinal)?
            .ok_or_else(|| internal(format_args!("column {ordinal} is null")))
    }
}

/// How a statement is planned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Planning {
    /// For the given parameters, until Postgres chooses a generic plan.
    Custom,
    /// For any parameters.
    Generic,
    /// For the given parameters, with parallel workers if the planner chooses so.
    Parallel,
}

impl Planning {
    fn options(self) -> i32 {
        match self {
            Self::Custom => 0,
            Self::Generic => pg_sys::CURSOR_OPT_GENERIC_PLAN as i32,
            Self::Parallel => pg_sys::CURSOR_OPT_PARALLEL_OK as i32,
        }
    }
}

/// Runs a read-only query and converts each row.
pub(crate) fn rows<T>(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    read(sql, args, Planning::Custom, convert)
}

/// The same for rows with certain keys, with a generic plan. Otherwise Postgres would plan each search again, which
/// took 7 % of its time, since a generic plan assumes arrays of ten elements.
pub(crate) fn lookup<T>(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    read(sql, args, Planning::Generic, convert)
}

/// The same for a query over many rows, which parallel workers may read.
pub(crate) fn report<T>(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    read(sql, args, Planning::Parallel, convert)
}

/// Runs a read-only query and passes on each row, so that a million rows need no memory.
pub(crate) fn each(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    visit: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    read(sql, args, Planning::Custom, visit).map(|_| ())
}

fn read<T>(
    sql: &str,
    args: &[DatumWithOid<'_>],
    planning: Planning,
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    Spi::connect(|_| run(sql, args, planning, is_transaction_unchanged(), convert))
}

/// Whether this transaction has changed nothing that a query would have to see.
pub(super) fn is_transaction_unchanged() -> bool {
    // SAFETY: reads the state of the transaction.
    unsafe { pg_sys::GetCurrentTransactionIdIfAny() == pg_sys::InvalidTransactionId }
}

/// Makes Postgres plan all statements of this session again, those that check foreign keys included.
pub(crate) fn forget_plans() {
    // SAFETY: marks the plans, as Postgres itself does when a statistics object changes.
    unsafe { pg_sys::ResetPlanCache() };
}

/// The first row of [`rows`].
pub(crate) fn one<T>(
    role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Option<T>> {
    Ok(rows(role, sql, args, convert)?.into_iter().next())
}

/// Runs a query that sees what other sessions have committed meanwhile.
pub(crate) fn latest<T>(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    Spi::connect(|_| run(sql, args, Planning::Custom, false, convert))
}

/// Runs a read-only query that sees what is committed now, whatever the snapshot of its transaction.
pub(crate) fn committed<T>(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    Spi::connect(|_| {
        // SAFETY: the snapshot is popped below, and by Postgres when the (sub)transaction aborts.
        unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot()) };
        let rows = run(sql, args, Planning::Custom, true, convert);
        // SAFETY: as above.
        unsafe { pg_sys::PopActiveSnapshot() };
        rows
    })
}

/// Runs a statement with changes and converts each row that it returns.
pub(crate) fn change<T>(
    _role: &dyn Role,
    sql: &str,
    args: &[DatumWithOid<'_>],
    convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    // SAFETY: assigns a transaction id, by which `rows` knows that it has to see changes: those of this statement, or
    // of other sessions before it got its lock.
    unsafe { pg_sys::GetCurrentTransactionId() };
    Spi::connect_mut(|_| run(sql, args, Planning::Custom, false, convert))
}

/// Runs a statement for its changes.
pub(crate) fn execute(role: &dyn Role, sql: &str, args: &[DatumWithOid<'_>]) -> Result<()> {
    change(role, sql, args, |_| Ok(())).map(|_| ())
}

/// Runs utility statements, whose text is used once.
pub(crate) fn utility(_role: &dyn Role, sql: &str) -> Result<()> {
    let _inside = InStatement::begin();
    Spi::run(sql).map_err(internal)
}

/// Runs a statement that reads the transition tables of a trigger; returns its numbers.
pub(crate) fn of_trigger(_role: &dyn Role, data: &mut pg_sys::TriggerData, sql: &str) -> Result<Vec<i64>> {
    let _inside = InStatement::begin();
    Spi::connect_mut(|client| {
        // SAFETY: the trigger data outlives the connection.
        if unsafe { pg_sys::SPI_register_trigger_data(data) } < 0 {
            return Err(internal("the transition tables are not known"));
        }
        let rows = client.update(sql, None, &[]).map_err(internal)?;
        let mut numbers = Vec::new();
        for row in rows {
            numbers.extend(row.get::<i64>(1).map_err(internal)?);
        }
        Ok(numbers)
    })
}

/// Receives rows from the executor; Postgres sees the first field only.
#[repr(C)]
struct Receiver<'a> {
    postgres: pg_sys::DestReceiver,
    /// The types of the columns, read once: a search reads thousands of values.
    types: Vec<pg_sys::Oid>,
    /// Whether more rows are wanted.
    take: &'a mut dyn FnMut(&Row) -> bool,
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(slot: *mut pg_sys::TupleTableSlot, receiver: *mut pg_sys::DestReceiver) -> bool {
    // SAFETY: Postgres gives back the receiver that `run` made, and a slot with a row.
    unsafe {
        let columns = (*(*slot).tts_tupleDescriptor).natts;
        if i32::from((*slot).tts_nvalid) < columns {
            pg_sys::slot_getsomeattrs_int(slot, columns);
        }
        let receiver = &mut *receiver.cast::<Receiver<'_>>();
        let values = slice::from_raw_parts((*slot).tts_values, columns as usize);
        let nulls = slice::from_raw_parts((*slot).tts_isnull, columns as usize);
        (receiver.take)(&Row::new(values, nulls, &receiver.types))
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn start(
    receiver: *mut pg_sys::DestReceiver,
    _operation: i32,
    description: pg_sys::TupleDesc,
) {
    // SAFETY: Postgres gives back the receiver that `run` made, and a description of the rows that follow.
    unsafe {
        let columns = (*description).natts;
        let types = (1..=columns).map(|column| pg_sys::SPI_gettypeid(description, column));
        (*receiver.cast::<Receiver<'_>>()).types = types.collect();
    }
}

unsafe extern "C-unwind" fn end(_: *mut pg_sys::DestReceiver) {}

fn run<T>(
    sql: &str,
    args: &[DatumWithOid<'_>],
    planning: Planning,
    read_only: bool,
    mut convert: impl FnMut(&Row) -> Result<T>,
) -> Result<Vec<T>> {
    let _inside = InStatement::begin();
    let _lowered = LoweredSuperuser::for_statement(sql);
    let plan = prepare(sql, args, planning)?;
    let mut converted = Vec::new();
    let mut problem = None;
    let mut take = |row: &Row| match convert(row) {
        Ok(value) => {
            converted.push(value);
            true
        }
        Err(error) => {
            problem = Some(error);
            false
        }
    };
    let mut receiver = Receiver {
        postgres: pg_sys::DestReceiver {
            receiveSlot: Some(receive),
            rStartup: Some(start),
            rShutdown: Some(end),
            rDestroy: Some(end),
            mydest: pg_sys::CommandDest::DestTuplestore,
        },
        types: Vec::new(),
        take: &mut take,
    };
    // SAFETY: SPI is connected. The parameters have the number and types that the plan was prepared with; they and the
    // receiver outlive the call. A panic of `convert` passes through Postgres as an error.
    let status = unsafe {
        let options = pg_sys::SPIExecuteOptions {
            params: parameters(args)?,
            read_only,
            dest: (&raw mut receiver).cast(),
            ..Default::default()
        };
        pg_sys::SPI_execute_plan_extended(plan, &options)
    };
    match problem {
        Some(error) => Err(error),
        None if status < 0 => Err(failure(status)),
        None => Ok(converted),
    }
}

/// Allocates a list of parameters in the current memory context, SPI's own.
unsafe fn parameters(args: &[DatumWithOid<'_>]) -> Result<pg_sys::ParamListInfo> {
    let count = i32::try_from(args.len()).map_err(internal)?;
    // SAFETY: the list has room for `count` parameters.
    unsafe {
        let list = pg_sys::makeParamList(count);
        for (place, arg) in args.iter().enumerate() {
            let datum = arg.datum();
            *(*list).params.as_mut_ptr().add(place) = pg_sys::ParamExternData {
                isnull: datum.is_none(),
                value: datum.map_or(pg_sys::Datum::null(), |datum| datum.sans_lifetime()),
                pflags: pg_sys::PARAM_FLAG_CONST as u16,
                ptype: arg.oid(),
            };
        }
        Ok(list)
    }
}

fn prepare(sql: &str, args: &[DatumWithOid<'_>], planning: Planning) -> Result<pg_sys::SPIPlanPtr> {
    let known = PLANS.with_borrow(|plans| {
        let known = plans.get(sql)?.iter().find(|known| known.serves(args, planning));
        known.map(|known| known.plan)
    });
    if let Some(plan) = known {
        return Ok(plan);
    }
    let text = CString::new(sql).map_err(internal)?;
    let count = i32::try_from(args.len()).map_err(internal)?;
    let mut types: Vec<pg_sys::Oid> = args.iter().map(DatumWithOid::oid).collect();
    // SAFETY: SPI is connected; the text and the types outlive the call.
    let plan = unsafe {
        let plan = pg_sys::SPI_prepare_cursor(text.as_ptr(), count, types.as_mut_ptr(), planning.options());
        if plan.is_null() {
            return Err(failure(pg_sys::SPI_result));
        }
        pg_sys::SPI_keepplan(plan);
        plan
    };
    PLANS.with_borrow_mut(|plans| {
        let of_text = plans.entry(sql.to_owned()).or_default();
        of_text.push(Plan {
            planning,
            is_forced: is_forced(),
            types,
            plan,
        });
    });
    Ok(plan)
}

fn failure(status: i32) -> pg_sys::panic::ErrorReport {
    // SAFETY: the name of a status is a constant of Postgres.
    let name = unsafe { CStr::from_ptr(pg_sys::SPI_result_code_string(status)) };
    internal(name.to_string_lossy())
}

#[cfg(feature = "leaks")]
mod leaks;
#[cfg(feature = "pg_test")]
mod tests;
