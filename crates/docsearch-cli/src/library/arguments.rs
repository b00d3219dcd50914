//! Arguments of statements that are sent without asking the server first which types it expects.

use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};

/// What the server is told that a value is.
trait SqlType {
    const TYPE: Type;
}

impl SqlType for &str {
    const TYPE: Type = Type::TEXT;
}

impl SqlType for String {
    const TYPE: Type = Type::TEXT;
}

impl SqlType for bool {
    const TYPE: Type = Type::BOOL;
}

impl SqlType for i32 {
    const TYPE: Type = Type::INT4;
}

impl SqlType for i64 {
    const TYPE: Type = Type::INT8;
}

impl SqlType for f32 {
    const TYPE: Type = Type::FLOAT4;
}

impl SqlType for Value {
    const TYPE: Type = Type::JSONB;
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
