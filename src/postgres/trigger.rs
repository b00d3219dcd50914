//! Trigger functions, which any role may also call, or use in a trigger of its own.

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;

use crate::postgres::report::{Result, error_with_hint};

/// The row that the trigger returns, or none.
pub(crate) struct TriggerRow(pub(crate) Option<pg_sys::Datum>);

/// The trigger that calls a function.
///
/// # Safety
///
/// `call` is that of a function that Postgres calls, and outlives the result.
pub(crate) unsafe fn called<'a>(call: pg_sys::FunctionCallInfo, function: &str) -> Result<PgTrigger<'a>> {
    // SAFETY: as required of the caller; whether it is a trigger is checked first.
    let trigger = unsafe { call.as_ref().map(|call| PgTrigger::from_fcinfo(call)) };
    trigger
        .and_then(std::result::Result::ok)
        .ok_or_else(|| misused(function, "was not called by trigger manager"))
}

/// The trigger data of the call.
///
/// # Safety
///
/// As for [`called`].
pub(crate) unsafe fn data<'a>(call: pg_sys::FunctionCallInfo, function: &str) -> Result<&'a mut pg_sys::TriggerData> {
    // SAFETY: as required of the caller; only a node of this type is read as trigger data.
    unsafe {
        let context = call.as_ref().map_or(std::ptr::null_mut(), |call| call.context);
        if context.is_null() || (*context).type_ != pg_sys::NodeTag::T_TriggerData {
            return Err(misused(function, "was not called by trigger manager"));
        }
        Ok(&mut *context.cast::<pg_sys::TriggerData>())
    }
}

/// The error for a call that does not come from the extension's triggers.
pub(crate) fn misused(function: &str, problem: &str) -> pg_sys::panic::ErrorReport {
    error_with_hint(
        PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        format!("{function} {problem}"),
        "The tables in schema docsearch have the triggers that they need.",
    )
}

// SAFETY: a trigger returns a row or a null pointer, and never NULL.
unsafe impl BoxRet for TriggerRow {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: a row of the trigger, or a null pointer.
        unsafe { fcinfo.return_raw_datum(self.0.unwrap_or_else(|| pg_sys::Datum::from(0))) }
    }
}

// SAFETY: the name is that of the SQL type.
unsafe impl SqlTranslatable for TriggerRow {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(TriggerRow);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: std::result::Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("trigger"));
    const RETURN_SQL: std::result::Result<ReturnsRef, ReturnsError> =
        Ok(ReturnsRef::One(SqlMappingRef::literal("trigger")));
}
