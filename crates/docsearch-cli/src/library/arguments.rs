//! Typed arguments of statements, so that the server need not be asked for their types.

use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};

/// The SQL type of a Rust type.
trait SqlType {
    const TYPE: Type;
}

macro_rules! sql_types {
    ($($rust:ty => $sql:ident),+ $(,)?) => {$(
        impl SqlType for $rust {
            const TYPE: Type = Type::$sql;
        }
    )+};
}

sql_types! {
    &str => TEXT,
    String => TEXT,
    bool => BOOL,
    i32 => INT4,
    i64 => INT8,
    f32 => FLOAT4,
    Value => JSONB,
    Vec<String> => TEXT_ARRAY,
}

impl<T: SqlType> SqlType for Option<T> {
    const TYPE: Type = T::TYPE;
}

/// A value with its type.
pub(super) trait Argument: Sync {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type);
}

impl<T: SqlType + ToSql + Sync> Argument for T {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        (self, T::TYPE)
    }
}
