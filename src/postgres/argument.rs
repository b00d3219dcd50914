//! Arguments of functions. Each is rejected by its size before it is fetched, decompressed or copied: a datum shows its
//! size without that.
//!
//! Every text, array, JSON value and number that a function takes has one of these types; `arguments!` reads them by
//! name. Drivers can send any type that is cast to their SQL types (`sql/argument_types.sql`).

use std::marker::PhantomData;

use docsearch_core::values::bounds::{ARGUMENT_BYTES, BODY_BYTES, CALL_BYTES, CALL_ELEMENTS, JSON_BYTES};
use pgrx::callconv::{Arg, ArgAbi};
use pgrx::nullable::Nullable;
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;
use serde_json::Value;

use crate::postgres::jsonb::{JsonB, Unreadable};
use crate::postgres::report::{Result, invalid};
use crate::postgres::{interrupt, jsonb};

/// An argument of a function.
pub(crate) trait Argument {
    type Value;

    /// The value, or an error if it is too large. `name` is the name of the parameter.
    fn read(self, name: &str) -> Result<Self::Value>;
}

impl<T: Argument> Argument for Option<T> {
    type Value = Option<T::Value>;

    fn read(self, name: &str) -> Result<Self::Value> {
        self.map(|given| given.read(name)).transpose()
    }
}

/// Reads each argument into a variable of its own name, or into the field of a struct. With `..` at the end, other fields
/// of the struct have their defaults.
macro_rules! arguments {
    ($struct:ident { $($name:ident),+ $(,)? }) => {
        $struct {
            $($name: $crate::postgres::argument::Argument::read($name, stringify!($name))?,)+
        }
    };
    ($struct:ident { $($name:ident),+, .. }) => {
        $struct {
            $($name: $crate::postgres::argument::Argument::read($name, stringify!($name))?,)+
            ..Default::default()
        }
    };
    ($($name:ident),+) => {
        $(let $name = $crate::postgres::argument::Argument::read($name, stringify!($name))?;)+
    };
}
pub(crate) use arguments;

/// A datum of variable length that lives as long as the call.
#[derive(Clone, Copy)]
struct Given<'a>(pg_sys::Datum, PhantomData<&'a ()>);

impl<'a> Given<'a> {
    /// The datum, fetched and decompressed, if it has at most `most` bytes then.
    fn within(self, most: usize) -> Option<*mut pg_sys::varlena> {
        // SAFETY: the datum has variable length, and its header shows the size even where it is stored elsewhere. Only
        // that is read before the size is checked.
        unsafe {
            let bytes = pg_sys::toast_raw_datum_size(self.0).saturating_sub(pg_sys::VARHDRSZ);
            (bytes <= most).then(|| pg_sys::pg_detoast_datum(self.0.cast_mut_ptr()))
        }
    }

    fn text(self, name: &str, most: usize) -> Result<&'a str> {
        let detoasted = self
            .within(most)
            .ok_or_else(|| invalid(format!("{name} is too long"), format!("Give at most {most} bytes.")))?;
        // SAFETY: a text of checked size; it or its copy lives as long as the call.
        let text = unsafe { <&str>::from_datum(pg_sys::Datum::from(detoasted), false) };
        Ok(text.unwrap_or_default())
    }

    fn jsonb(self, name: &str, most: usize) -> Result<*mut pg_sys::Jsonb> {
        let detoasted = self
            .within(most)
            .ok_or_else(|| invalid(format!("{name} is too large"), format!("Give at most {most} bytes.")))?;
        Ok(detoasted.cast())
    }

    fn elements<T: FromDatum>(self, name: &str, most: usize, type_oid: pg_sys::Oid) -> Result<Vec<Option<T>>>
    where
        Vec<Option<T>>: FromDatum,
    {
        let too_many = || {
            invalid(
                format!("{name} has too many elements, or too large ones"),
                format!("Give at most {most} elements, of {CALL_BYTES} bytes in all."),
            )
        };
        let detoasted = self.within(CALL_BYTES).ok_or_else(too_many)?;
        // SAFETY: an array, whose dimensions follow its header.
        let (dimensions, count) = unsafe {
            let array = detoasted.cast::<pg_sys::ArrayType>();
            let dimensions = (*array).ndim;
            (dimensions, pg_sys::ArrayGetNItems(dimensions, array.add(1).cast()))
        };
        if dimensions > 1 {
            return Err(invalid(
                format!("{name} is an array of {dimensions} dimensions"),
                "Give an array of one dimension.",
            ));
        }
        if usize::try_from(count).is_ok_and(|count| count > most) {
            return Err(too_many());
        }
        interrupt::check();
        // SAFETY: an array of this type.
        let elements = unsafe { FromDatum::from_polymorphic_datum(pg_sys::Datum::from(detoasted), false, type_oid) };
        Ok(elements.unwrap_or_default())
    }
}

/// A name, a query, a label: up to 1 MiB. Shorter limits have errors of their own.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a>(Given<'a>);

/// The text of a document, or another text of that length.
#[derive(Clone, Copy)]
pub(crate) struct LongText<'a>(Given<'a>);

/// An array of texts.
pub(crate) struct Texts<'a>(Given<'a>);

/// An array of relations.
pub(crate) struct Relations<'a>(Given<'a>);

/// A JSON value, in the format of `jsonb`.
pub(crate) struct Json<'a>(Given<'a>);

/// An array of documents, in the format of `jsonb`.
pub(crate) struct JsonDocuments<'a>(Given<'a>);

/// A whole number.
#[derive(Clone, Copy)]
pub(crate) struct Whole(i64);

/// A number.
#[derive(Clone, Copy)]
pub(crate) struct Number(f64);

impl Argument for Whole {
    type Value = i32;

    fn read(self, name: &str) -> Result<i32> {
        i32::try_from(self.0).map_err(|_| {
            invalid(
                format!("{name} is {}, which is out of range", self.0),
                format!("Give a whole number from {} to {}.", i32::MIN, i32::MAX),
            )
        })
    }
}

impl Argument for Number {
    type Value = f32;

    /// The nearest number of single precision; one that is too large is infinite.
    fn read(self, _name: &str) -> Result<f32> {
        Ok(self.0 as f32)
    }
}

impl<'a> Argument for Text<'a> {
    type Value = &'a str;

    fn read(self, name: &str) -> Result<&'a str> {
        self.0.text(name, ARGUMENT_BYTES)
    }
}

impl<'a> Argument for LongText<'a> {
    type Value = &'a str;

    fn read(self, name: &str) -> Result<&'a str> {
        self.0.text(name, BODY_BYTES)
    }
}

impl Texts<'_> {
    /// The texts, if they are at most `most`.
    pub(crate) fn up_to(self, name: &str, most: usize) -> Result<Vec<Option<String>>> {
        self.0.elements(name, most, pg_sys::TEXTARRAYOID)
    }
}

impl Argument for Texts<'_> {
    type Value = Vec<Option<String>>;

    fn read(self, name: &str) -> Result<Self::Value> {
        self.up_to(name, CALL_ELEMENTS)
    }
}

impl Argument for Relations<'_> {
    type Value = Vec<Option<pg_sys::Oid>>;

    fn read(self, name: &str) -> Result<Self::Value> {
        self.0.elements(name, CALL_ELEMENTS, pg_sys::REGCLASSARRAYOID)
    }
}

impl Argument for Json<'_> {
    type Value = JsonB;

    fn read(self, name: &str) -> Result<JsonB> {
        let given = self.0.jsonb(name, JSON_BYTES)?;
        // SAFETY: a jsonb that has been fetched.
        let value = unsafe { jsonb::read(given) };
        value.map(JsonB).map_err(|problem| jsonb::unreadable(&problem))
    }
}

impl Argument for JsonDocuments<'_> {
    /// The elements; for one that cannot be read, its slug and problem. `None` if the value is not an array.
    type Value = Option<Vec<std::result::Result<Value, Unreadable>>>;

    fn read(self, name: &str) -> Result<Self::Value> {
        let given = self.0.jsonb(name, CALL_BYTES)?;
        // SAFETY: a jsonb that has been fetched.
        let count = unsafe { jsonb::length(given) };
        if count.is_some_and(|count| count > CALL_ELEMENTS) {
            return Err(invalid(
                format!("{name} holds too many documents"),
                format!("Give at most {CALL_ELEMENTS} at once."),
            ));
        }
        // SAFETY: as above.
        Ok(count.map(|_| unsafe { jsonb::elements(given) }))
    }
}

macro_rules! argument_types {
    ($($type:ident, $sql:literal);+) => {$(
        // SAFETY: the SQL type of these arguments, which `SqlTranslatable` names, is one of variable length.
        unsafe impl<'fcx> ArgAbi<'fcx> for $type<'fcx> {
            unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
                let index = arg.index();
                // SAFETY: any datum can be read as one.
                let given: Option<pg_sys::Datum> = unsafe { arg.unbox_arg_using_from_datum() };
                let given = given.unwrap_or_else(|| panic!("argument {index} must not be null"));
                Self(Given(given, PhantomData))
            }

            unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
                // SAFETY: any datum can be read as one.
                let given: Option<pg_sys::Datum> = unsafe { arg.unbox_arg_using_from_datum() };
                given.map(|given| Self(Given(given, PhantomData))).into()
            }
        }

        // SAFETY: the names are those of the SQL type.
        unsafe impl SqlTranslatable for $type<'_> {
            const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type<'static>);
            const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
            const ARGUMENT_SQL: std::result::Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal($sql));
            const RETURN_SQL: std::result::Result<ReturnsRef, ReturnsError> =
                Ok(ReturnsRef::One(SqlMappingRef::literal($sql)));
        }
    )+};
}

argument_types! {
    Text, "text"; LongText, "text"; Texts, "text[]"; Relations, "regclass[]";
    Json, "docsearch.json_argument"; JsonDocuments, "docsearch.json_argument"
}

macro_rules! number_types {
    ($($type:ident, $number:ty, $sql:literal);+) => {$(
        // SAFETY: the SQL type of these arguments, which `SqlTranslatable` names, is that of the number.
        unsafe impl<'fcx> ArgAbi<'fcx> for $type {
            unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
                let index = arg.index();
                // SAFETY: as above.
                let given: Option<$number> = unsafe { arg.unbox_arg_using_from_datum() };
                Self(given.unwrap_or_else(|| panic!("argument {index} must not be null")))
            }

            unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
                // SAFETY: as above.
                let given: Option<$number> = unsafe { arg.unbox_arg_using_from_datum() };
                given.map(Self).into()
            }
        }

        // SAFETY: the name is that of the SQL type.
        unsafe impl SqlTranslatable for $type {
            const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
            const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
            const ARGUMENT_SQL: std::result::Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal($sql));
            const RETURN_SQL: std::result::Result<ReturnsRef, ReturnsError> =
                Ok(ReturnsRef::One(SqlMappingRef::literal($sql)));
        }
    )+};
}

number_types! { Whole, i64, "bigint"; Number, f64, "double precision" }
