//! `jsonb` of arguments and of rows. Some of its numbers and nesting depths cannot be read in Rust: such an argument is
//! an error, and such a value of a row becomes `null`.

use std::borrow::Cow;
use std::ffi::CStr;

use docsearch_core::postgres::stored_json;
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{JsonbIteratorToken, jbvType};
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;
use serde_json::{Map, Value};

use crate::postgres::interrupt;
use crate::postgres::report::{in_one_line, invalid};

/// Deepest nesting of arrays and objects: the limit of `serde_json`.
const MAX_LEVELS: usize = 127;

const HINT: &str = "Nest objects and arrays less than 128 levels deep, and give numbers below 1.8e308.";

/// A `jsonb` argument that has been read, or a result.
#[derive(Debug)]
pub(crate) struct JsonB(pub(crate) Value);

/// A `jsonb` of a row: what cannot be read of it is `null`.
pub(crate) struct StoredJson(pub(crate) Value);

/// A document that cannot be read: its slug, if it has one, and the problem.
pub(crate) type Unreadable = (Option<String>, String);

/// The error for a `jsonb` that cannot be read.
pub(crate) fn unreadable(problem: &str) -> ErrorReport {
    invalid(format!("a JSON value cannot be read: {problem}"), HINT)
}

/// Reads a `jsonb`.
///
/// # Safety
///
/// It is one, in memory.
pub(crate) unsafe fn read(jsonb: *mut pg_sys::Jsonb) -> Result<Value, String> {
    // SAFETY: as required of the caller.
    unsafe { contents(&raw mut (*jsonb).root) }
}

/// The number of elements of a `jsonb` that is an array.
///
/// # Safety
///
/// It is one, in memory.
pub(crate) unsafe fn length(jsonb: *mut pg_sys::Jsonb) -> Option<usize> {
    // SAFETY: as required of the caller; each jsonb has a header.
    let header = unsafe { (*jsonb).root.header };
    let is_array = header & pg_sys::JB_FARRAY != 0 && header & pg_sys::JB_FSCALAR == 0;
    is_array.then(|| usize::try_from(header & pg_sys::JB_CMASK).unwrap_or(usize::MAX))
}

/// The elements of a `jsonb` that is an array, each read on its own.
///
/// # Safety
///
/// It is one, in memory.
pub(crate) unsafe fn elements(jsonb: *mut pg_sys::Jsonb) -> Vec<Result<Value, Unreadable>> {
    let mut elements = Vec::new();
    // SAFETY: as required of the caller; the iterator's values are inside the jsonb.
    unsafe {
        let mut iterator = pg_sys::JsonbIteratorInit(&raw mut (*jsonb).root);
        let mut item = empty();
        loop {
            match pg_sys::JsonbIteratorNext(&raw mut iterator, &raw mut item, true) {
                JsonbIteratorToken::WJB_DONE => return elements,
                JsonbIteratorToken::WJB_ELEM => {
                    let read = if item.type_ == jbvType::jbvBinary {
                        let container = item.val.binary.data;
                        contents(container).map_err(|problem| (slug(container), in_one_line(&unreadable(&problem))))
                    } else {
                        scalar(&item).map_err(|problem| (None, in_one_line(&unreadable(&problem))))
                    };
                    elements.push(read);
                }
                _ => {}
            }
        }
    }
}

/// The slug in an object that cannot be read completely.
///
/// # Safety
///
/// The container is part of a `jsonb`.
unsafe fn slug(container: *mut pg_sys::JsonbContainer) -> Option<String> {
    // SAFETY: as required of the caller; the iterator's values are inside the jsonb.
    unsafe {
        let mut iterator = pg_sys::JsonbIteratorInit(container);
        let mut item = empty();
        let mut is_next = false;
        loop {
            match pg_sys::JsonbIteratorNext(&raw mut iterator, &raw mut item, true) {
                JsonbIteratorToken::WJB_DONE => return None,
                JsonbIteratorToken::WJB_KEY => is_next = string(&item) == "slug",
                JsonbIteratorToken::WJB_VALUE if is_next => {
                    return (item.type_ == jbvType::jbvString).then(|| string(&item).into_owned());
                }
                _ => {}
            }
        }
    }
}

/// An array or object whose end has not been read yet.
enum Open {
    Array(Vec<Value>),
    Object(Map<String, Value>, String),
}

/// The value of a container. Nothing recurses, and each number is read before the next is converted to text.
///
/// # Safety
///
/// The container is that of a `jsonb`, or part of one.
unsafe fn contents(container: *mut pg_sys::JsonbContainer) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut is_scalar = false;
    // SAFETY: as required of the caller; the iterator's values are inside the container.
    unsafe {
        let mut iterator = pg_sys::JsonbIteratorInit(container);
        let mut item = empty();
        loop {
            interrupt::check();
            let token = pg_sys::JsonbIteratorNext(&raw mut iterator, &raw mut item, false);
            let value = match token {
                JsonbIteratorToken::WJB_BEGIN_ARRAY | JsonbIteratorToken::WJB_BEGIN_OBJECT => {
                    if open.len() >= MAX_LEVELS {
                        return Err("recursion limit exceeded".to_owned());
                    }
                    open.push(if token == JsonbIteratorToken::WJB_BEGIN_OBJECT {
                        Open::Object(Map::new(), String::new())
                    } else {
                        // A scalar is stored as an array of one element.
                        is_scalar |= item.val.array.rawScalar;
                        Open::Array(Vec::new())
                    });
                    continue;
                }
                JsonbIteratorToken::WJB_KEY => {
                    if let Some(Open::Object(_, key)) = open.last_mut() {
                        *key = string(&item).into_owned();
                    }
                    continue;
                }
                JsonbIteratorToken::WJB_END_ARRAY | JsonbIteratorToken::WJB_END_OBJECT => match open.pop() {
                    Some(Open::Array(mut values)) if is_scalar => values.pop().unwrap_or_default(),
                    Some(Open::Array(values)) => Value::Array(values),
                    Some(Open::Object(values, _)) => Value::Object(values),
                    None => Value::Null,
                },
                JsonbIteratorToken::WJB_DONE => return Ok(Value::Null),
                _ => scalar(&item)?,
            };
            match open.last_mut() {
                Some(Open::Array(values)) => values.push(value),
                Some(Open::Object(values, key)) => {
                    values.insert(std::mem::take(key), value);
                }
                None => return Ok(value),
            }
        }
    }
}

/// # Safety
///
/// An iterator returned the item, which is not a container.
unsafe fn scalar(item: &pg_sys::JsonbValue) -> Result<Value, String> {
    // SAFETY: the type determines which field is set.
    unsafe {
        match item.type_ {
            jbvType::jbvString => Ok(Value::String(string(item).into_owned())),
            jbvType::jbvBool => Ok(Value::Bool(item.val.boolean)),
            jbvType::jbvNumeric => {
                let number = pg_sys::Datum::from(item.val.numeric);
                let text = pg_sys::OidOutputFunctionCall(pg_sys::F_NUMERIC_OUT.into(), number);
                let value = serde_json::from_str(&CStr::from_ptr(text).to_string_lossy());
                pg_sys::pfree(text.cast());
                value.map_err(|problem| {
                    let problem = problem.to_string();
                    problem.split(" at line ").next().unwrap_or_default().to_owned()
                })
            }
            _ => Ok(Value::Null),
        }
    }
}

/// # Safety
///
/// An iterator returned the item, which is a key or a string.
unsafe fn string(item: &pg_sys::JsonbValue) -> Cow<'_, str> {
    // SAFETY: the type is required of the caller; the bytes are inside the jsonb, in the encoding that the extension
    // requires.
    unsafe {
        let string = item.val.string;
        String::from_utf8_lossy(std::slice::from_raw_parts(string.val.cast(), string.len as usize))
    }
}

fn empty() -> pg_sys::JsonbValue {
    // SAFETY: null, which has no value.
    unsafe { std::mem::zeroed() }
}

/// The text of a `jsonb`.
fn text(datum: pg_sys::Datum) -> String {
    // SAFETY: the datum is a jsonb, whose output is a terminated text of this process in the encoding that the
    // extension requires.
    unsafe {
        let text = pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), datum);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        pg_sys::pfree(text.cast());
        copy
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

// SAFETY: the names are those of the SQL type.
unsafe impl SqlTranslatable for JsonB {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(JsonB);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("jsonb"));
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Ok(ReturnsRef::One(SqlMappingRef::literal("jsonb")));
}
