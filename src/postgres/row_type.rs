//! Row types: structures that name the SQL of each of their columns, so that a statement and its reader cannot differ.

use pgrx::datum::{FromDatum, IntoDatum, TimestampWithTimeZone};
use pgrx::pg_sys;

use crate::postgres::jsonb::StoredJson;
use crate::postgres::report::Result;
use crate::postgres::statement::Row;
use crate::postgres::tsvector::TsVectorBytes;

/// A type of columns. NULL is a value of an `Option`, and an error for any other type.
pub(crate) trait Column: Sized {
    /// The column with this number, counted from 1.
    fn read(row: &Row, ordinal: usize) -> Result<Self>;
}

impl<T: FromDatum + IntoDatum> Column for Option<T> {
    fn read(row: &Row, ordinal: usize) -> Result<Self> {
        row.optional(ordinal)
    }
}

macro_rules! never_null {
    ($($type:ty),*) => {
        $(impl Column for $type {
            fn read(row: &Row, ordinal: usize) -> Result<Self> {
                row.required(ordinal)
            }
        })*
    };
}

never_null!(
    bool,
    i16,
    i32,
    i64,
    f32,
    f64,
    String,
    Vec<u8>,
    Vec<i64>,
    Vec<String>,
    Vec<f32>,
    StoredJson,
    TsVectorBytes,
    TimestampWithTimeZone,
    pg_sys::Oid
);

/// Defines a structure with one field for each column, beside its SQL:
///
/// ```ignore
/// row_type! {
///     /// A page.
///     struct PageRow {
///         title: String = "d.title",
///         kind: Option<String> = "d.kind",
///     }
/// }
/// ```
///
/// `PageRow::select_list()` is the text after `SELECT`, and `PageRow::read(row)` reads a row that begins with these columns.
macro_rules! row_type {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty = $sql:expr,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        impl $name {
            /// The columns, separated by commas.
            fn select_list() -> String {
                [$(AsRef::<str>::as_ref(&$sql)),*].join(", ")
            }

            /// Reads a row that begins with the columns.
            fn read(row: &$crate::postgres::statement::Row) -> $crate::postgres::report::Result<Self> {
                let mut ordinal = 0;
                $(
                    ordinal += 1;
                    let $field = <$type as $crate::postgres::row_type::Column>::read(row, ordinal)?;
                )*
                Ok(Self { $($field),* })
            }
        }
    };
}

pub(crate) use row_type;

#[cfg(feature = "pg_test")]
mod tests;
