//! The trigger of attached tables, which records the keys of changed rows.
//!
//! It runs as the user who changes the table, and looks up nothing by name. Rows come from the transition tables that
//! Postgres passes, and the output function of the key's type converts keys to text. A trigger that a user created, for
//! other tables or without transition tables, records nothing.

use std::collections::HashSet;
use std::ffi::CStr;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::prelude::*;

use super::rows::{FORMATS, MAX_KEY_BYTES};
use super::watched;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{catalog, statement};
use crate::tables::schema::Part;
use crate::tables::wake;

/// Keys that one statement records.
const AT_ONCE: usize = 10_000;
const BYTES_AT_ONCE: usize = 1 << 20;

/// Required by Postgres for each function of a library.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pg_finfo_docsearch_attached_changed() -> &'static pg_sys::Pg_finfo_record {
    const RECORD: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };
    &RECORD
}

/// Records which rows changed; a trigger function of attached tables.
///
/// # Safety
///
/// Postgres calls it with the arguments of a function.
#[pg_guard]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn docsearch_attached_changed(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    // SAFETY: every caller of a function passes this structure. If a trigger calls it, its context is the data of the
    // trigger, which lives as long as the call.
    let fired = unsafe { Fired::of(fcinfo) };
    let recorded = match fired {
        Some(fired) => Caller::of_call().and_then(|mut caller| fired.record(&mut caller)),
        None => Err(error_with_hint(
            PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            "docsearch.attached_changed() is a trigger for statements",
            "docsearch.attach_table() creates the triggers that a table needs.",
        )),
    };
    recorded.unwrap_or_report();
    pg_sys::Datum::null()
}

/// A trigger for statements that has fired.
struct Fired<'a> {
    data: &'a pg_sys::TriggerData,
    trigger: &'a pg_sys::Trigger,
    table: pg_sys::Oid,
}

impl<'a> Fired<'a> {
    /// # Safety
    ///
    /// Postgres calls the function with this argument, which outlives the result.
    unsafe fn of(fcinfo: pg_sys::FunctionCallInfo) -> Option<Self> {
        // SAFETY: only a node of this type is read as trigger data, whose pointers are valid.
        unsafe {
            let context = (*fcinfo).context;
            if context.is_null() || (*context).type_ != pg_sys::NodeTag::T_TriggerData {
                return None;
            }
            let data = &*context.cast::<pg_sys::TriggerData>();
            let for_rows = data.tg_event & pg_sys::TRIGGER_EVENT_ROW != 0;
            let after = data.tg_event & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_AFTER;
            (!for_rows && after).then_some(Self {
                data,
                trigger: &*data.tg_trigger,
                table: (*data.tg_relation).rd_id,
            })
        }
    }

    /// The id of the attached table.
    fn attached(&self) -> Option<i32> {
        if self.trigger.tgnargs < 1 {
            return None;
        }
        // SAFETY: the trigger has an argument, which is terminated.
        let argument = unsafe { CStr::from_ptr(*self.trigger.tgargs) };
        argument.to_str().ok()?.parse().ok()
    }

    fn record(&self, caller: &mut Caller) -> Result<()> {
        let Some(attached) = self.attached() else {
            return Ok(());
        };
        let column = match meaning(caller, attached, self.table)? {
            None => return Ok(()),
            // It is unknown which rows of the view have changed.
            Some(Meaning::Part) => return record(caller, attached, vec![None]),
            Some(Meaning::Rows { key_column }) => key_column,
        };
        match self.data.tg_event & pg_sys::TRIGGER_EVENT_OPMASK {
            pg_sys::TRIGGER_EVENT_TRUNCATE => record(caller, attached, vec![None]),
            _ => self.record_keys(caller, attached, &column),
        }
    }

    fn record_keys(&self, caller: &mut Caller, attached: i32, column: &str) -> Result<()> {
        let tables = [self.data.tg_oldtable, self.data.tg_newtable];
        let Some(key) = Key::find(self.table, column)? else {
            // The user who changes the table cannot solve this. The worker reports the problem, and starts over when it
            // is solved.
            return record(caller, attached, vec![None]);
        };
        let _formats = LocalSettings::apply(&FORMATS)?;
        let (mut keys, mut bytes) = (HashSet::new(), 0);
        for table in tables.into_iter().filter(|table| !table.is_null()) {
            // SAFETY: a transition table of this trigger, whose rows are those of its table.
            unsafe {
                self.read(table, |slot| {
                    let Some(key) = key.text(slot).filter(|key| key.len() <= MAX_KEY_BYTES) else {
                        return Ok(());
                    };
                    bytes += key.len();
                    keys.insert(key);
                    if keys.len() < AT_ONCE && bytes < BYTES_AT_ONCE {
                        return Ok(());
                    }
                    bytes = 0;
                    record(caller, attached, keys.drain().map(Some).collect())
                })?;
            }
        }
        record(caller, attached, keys.into_iter().map(Some).collect())
    }

    /// Reads the rows of a transition table.
    ///
    /// # Safety
    ///
    /// The store holds rows of the trigger's table.
    unsafe fn read(
        &self,
        store: *mut pg_sys::Tuplestorestate,
        mut each: impl FnMut(*mut pg_sys::TupleTableSlot) -> Result<()>,
    ) -> Result<()> {
        // SAFETY: as the executor reads transition tables: with a read pointer of its own, from the start.
        unsafe {
            let slot = pg_sys::MakeSingleTupleTableSlot((*self.data.tg_relation).rd_att, &pg_sys::TTSOpsMinimalTuple);
            let pointer = pg_sys::tuplestore_alloc_read_pointer(store, pg_sys::EXEC_FLAG_REWIND as i32);
            pg_sys::tuplestore_select_read_pointer(store, pointer);
            pg_sys::tuplestore_rescan(store);
            while pg_sys::tuplestore_gettupleslot(store, true, false, slot) {
                pgrx::check_for_interrupts!();
                each(slot)?;
            }
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
        Ok(())
    }
}

/// A key column, as it is now.
struct Key {
    number: i16,
    output: pg_sys::FmgrInfo,
}

impl Key {
    /// The column, if it exists, is stored, and has a type that comes with Postgres: it may have been dropped, renamed
    /// or given another type since the table was attached.
    fn find(table: pg_sys::Oid, column: &str) -> Result<Option<Self>> {
        let Some(column) = catalog::column(table, column)? else {
            return Ok(None);
        };
        if !catalog::is_plain_type(column.type_oid) || column.is_virtual {
            return Ok(None);
        }
        let mut output = pg_sys::FmgrInfo::default();
        // SAFETY: the type exists, and its output function comes with Postgres.
        unsafe {
            let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
            pg_sys::getTypeOutputInfo(column.type_oid, &mut function, &mut is_varlena);
            pg_sys::fmgr_info(function, &mut output);
        }
        Ok(Some(Self {
            number: column.number,
            output,
        }))
    }

    /// The key of a row as text, unless it is NULL.
    ///
    /// # Safety
    ///
    /// The slot holds a row of the table.
    unsafe fn text(&self, slot: *mut pg_sys::TupleTableSlot) -> Option<String> {
        let place = usize::try_from(self.number - 1).ok()?;
        let mut output = self.output;
        // SAFETY: the row has this column, and its value is of the type whose output function this is; the
        // text is terminated and copied before it is freed.
        unsafe {
            if (*slot).tts_nvalid < self.number {
                pg_sys::slot_getsomeattrs_int(slot, self.number.into());
            }
            if *(*slot).tts_isnull.add(place) {
                return None;
            }
            let text = pg_sys::OutputFunctionCall(&mut output, *(*slot).tts_values.add(place));
            let key = CStr::from_ptr(text).to_string_lossy().into_owned();
            pg_sys::pfree(text.cast());
            Some(key)
        }
    }
}

/// The meaning of a change of a table.
enum Meaning {
    /// Rows of the attached table have changed.
    Rows { key_column: String },
    /// A table that an attached view reads from has changed.
    Part,
}

/// What a change of a table means for the attached table with this id; `None` if it is not attached any more.
fn meaning(caller: &mut Caller, attached: i32, table: pg_sys::Oid) -> Result<Option<Meaning>> {
    if !Part::AttachedTables.exists() {
        return Ok(None);
    }
    let owner = match caller.as_owner() {
        Ok(owner) => owner,
        Err(problem) => {
            // The user who changes the table cannot solve this.
            problem.report(PgLogLevel::WARNING);
            return Ok(None);
        }
    };
    // The snapshot of the transaction may be older than the attachment, but its changes still count.
    let columns = statement::committed(
        &owner,
        "SELECT a.key_column::text FROM docsearch.attached_table a
         WHERE a.id = $1 AND a.source = $2::oid::regclass",
        &[DatumWithOid::from(attached), DatumWithOid::from(table)],
        |row| row.required(1),
    )?;
    match columns.into_iter().next() {
        Some(key_column) => Ok(Some(Meaning::Rows { key_column })),
        None => Ok(watched::is_watched(&owner, attached, table)?.then_some(Meaning::Part)),
    }
}

/// Records keys of changed rows; a NULL key means that all rows have to be read again.
fn record(caller: &mut Caller, attached: i32, keys: Vec<Option<String>>) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    {
        let owner = &caller.as_owner()?;
        statement::execute(
            owner,
            "INSERT INTO docsearch.table_change (attached_id, key) SELECT $1, k.key FROM unnest($2::text[]) AS k(key)",
            &[DatumWithOid::from(attached), DatumWithOid::from(keys)],
        )?;
    }
    wake::after_commit()
}
