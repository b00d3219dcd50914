//! `jsonb` as arguments give it and as rows hold it. `jsonb` knows numbers and depths that Rust does not read:
//! an argument with such is refused, a row is read without them.

use std::ffi::CStr;

use docsearch_core::stored_json;
use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::nullable::Nullable;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::report::invalid;

const HINT: &str = "Nest objects and arrays less than 128 levels deep, and give numbers below 1.8e308.";

/// A `jsonb` argument or result.
#[derive(Debug)]
pub(crate) struct JsonB(pub(crate) Value);

/// A `jsonb` argument as text, to be read in parts.
pub(crate) struct JsonBText(pub(crate) String);

/// A `jsonb` of a row: what cannot be read of it is `null`.
pub(crate) struct StoredJson(pub(crate) Value);

/// Reads the text of a `jsonb`.
pub(crate) fn parse(text: &str) -> Result<Value, ErrorReport> {
    serde_json::from_str(text).map_err(|problem| {
        // The place is one in the text that Postgres makes of the value.
        let problem = problem.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default();
        invalid(format!("a JSON value cannot be read: {problem}"), HINT)
    })
}

/// The text of a `jsonb`.
fn text(datum: pg_sys::Datum) -> String {
    // SAFETY: the datum is a jsonb, whose output is a terminated text of our own in the encoding that the
    // extension requires.
    unsafe {
        let text = pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), datum);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        pg_sys::pfree(text.cast());
        copy
    }
}

impl FromDatum for JsonB {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null {
            return None;
        }
        match parse(&text(datum)) {
            Ok(value) => Some(Self(value)),
            Err(problem) => {
                problem.report(PgLogLevel::ERROR);
                None
            }
        }
    }
}

impl FromDatum for JsonBText {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        (!is_null).then(|| Self(text(datum)))
    }
}

impl FromDatum for StoredJson {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        (!is_null).then(|| Self(stored_json::read(&text(datum))))
    }
}

impl IntoDatum for JsonB {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        pgrx::JsonB(self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

impl IntoDatum for StoredJson {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        pgrx::JsonB(self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

// SAFETY: the result is a datum of the type that `SqlTranslatable` names.
unsafe impl BoxRet for JsonB {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            // SAFETY: the caller returns the datum, which is a jsonb.
            Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
            None => fcinfo.return_null(),
        }
    }
}

macro_rules! jsonb_argument {
    ($($type:ty),*) => {$(
        // SAFETY: the SQL type of these arguments is jsonb, as `SqlTranslatable` says.
        unsafe impl<'fcx> ArgAbi<'fcx> for $type {
            unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
                let index = arg.index();
                // SAFETY: the caller vouches for the argument's type.
                let given = unsafe { arg.unbox_arg_using_from_datum() };
                given.unwrap_or_else(|| panic!("argument {index} must not be null"))
            }

            unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
                // SAFETY: the caller vouches for the argument's type.
                unsafe { arg.unbox_arg_using_from_datum().into() }
            }
        }

        // SAFETY: the names are those of the SQL type.
        unsafe impl SqlTranslatable for $type {
            const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
            const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
            const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("jsonb"));
            const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Ok(ReturnsRef::One(SqlMappingRef::literal("jsonb")));
        }
    )*};
}

jsonb_argument!(JsonB, JsonBText);
