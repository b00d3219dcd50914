//! The system caches: a search reads them several times, and a statement would cost more than the answer.

use std::ffi::{CStr, CString, c_char};

use docsearch_core::postgres::sql_name;
use pgrx::pg_sys;

use crate::postgres::report::{Result, internal};

/// The table of this name in schema `docsearch`.
pub(crate) fn table(name: &CStr) -> Option<pg_sys::Oid> {
    // SAFETY: the names are terminated, and what does not exist gives InvalidOid.
    let oid = unsafe {
        let schema = pg_sys::get_namespace_oid(c"docsearch".as_ptr(), true);
        pg_sys::get_relname_relid(name.as_ptr(), schema)
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Whether a table of the schema has a column.
pub(crate) fn has_column(table: &CStr, column: &CStr) -> bool {
    // SAFETY: the name is terminated, and a column that does not exist has the number 0.
    self::table(table).is_some_and(|table| unsafe { pg_sys::get_attnum(table, column.as_ptr()) } != 0)
}

/// The owner of a table.
pub(crate) fn owner_of(table: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: the cache gives a row of pg_class or null; it is read before it is given back.
    unsafe {
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, table.into());
        if row.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_class>()).relowner;
        pg_sys::ReleaseSysCache(row);
        Some(owner)
    }
}

/// The owner of schema `docsearch`.
pub(crate) fn schema_owner() -> Option<pg_sys::Oid> {
    // SAFETY: the cache gives a row of pg_namespace or null; it is read before it is given back.
    unsafe {
        let schema = pg_sys::get_namespace_oid(c"docsearch".as_ptr(), true);
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::NAMESPACEOID as i32, schema.into());
        if row.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_namespace>()).nspowner;
        pg_sys::ReleaseSysCache(row);
        Some(owner)
    }
}

/// Whether policies on a table apply to a role.
pub(crate) fn row_security_active(role: pg_sys::Oid, table: pg_sys::Oid) -> bool {
    // SAFETY: the role exists; no error is raised, as the last argument says.
    let state = unsafe { pg_sys::check_enable_rls(table, role, true) };
    state == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
}

/// Why a text search configuration cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextConfigProblem {
    Missing,
    /// The role may not use its schema.
    Forbidden,
}

/// Why a role cannot use the text search configuration with this name. Without a schema, it is one that comes with
/// Postgres.
pub(crate) fn text_config_problem(role: pg_sys::Oid, name: &str) -> Option<TextConfigProblem> {
    let Some((schema, config)) = sql_name::parse(name) else {
        return Some(TextConfigProblem::Missing);
    };
    let schema = schema.as_deref().unwrap_or("pg_catalog");
    let is_name = |text: &str| text.len() < pg_sys::NAMEDATALEN as usize;
    let (Ok(schema), Ok(config), true) = (
        CString::new(schema),
        CString::new(config.as_str()),
        is_name(schema) && is_name(&config),
    ) else {
        return Some(TextConfigProblem::Missing);
    };
    // SAFETY: the names are terminated and shorter than a name may be; what does not exist gives InvalidOid or false.
    unsafe {
        let schema = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        let exists = schema != pg_sys::InvalidOid
            && pg_sys::SearchSysCacheExists(
                pg_sys::SysCacheIdentifier::TSCONFIGNAMENSP as i32,
                config.as_ptr().into(),
                schema.into(),
                pg_sys::Datum::from(0),
                pg_sys::Datum::from(0),
            );
        if !exists {
            return Some(TextConfigProblem::Missing);
        }
        let usage = pg_sys::object_aclcheck(pg_sys::NamespaceRelationId, schema, role, pg_sys::ACL_USAGE.into());
        (usage != pg_sys::AclResult::ACLCHECK_OK).then_some(TextConfigProblem::Forbidden)
    }
}

/// The schema an extension is installed in, quoted.
pub(crate) fn extension_schema(extension: &CStr) -> Result<String> {
    // SAFETY: the names are terminated; what does not exist gives InvalidOid and then null.
    let schema = unsafe {
        let oid = pg_sys::get_extension_oid(extension.as_ptr(), true);
        let name = pg_sys::get_namespace_name(pg_sys::get_extension_schema(oid));
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    };
    let schema = schema.ok_or_else(|| {
        internal(format_args!(
            "extension {} is not installed",
            extension.to_string_lossy()
        ))
    })?;
    Ok(pgrx::spi::quote_identifier(schema))
}

/// The schema of pg_trgm, quoted.
pub(crate) fn trigram_schema() -> Result<String> {
    extension_schema(c"pg_trgm")
}

/// A column of a table.
pub(crate) struct Column {
    pub(crate) number: i16,
    pub(crate) type_oid: pg_sys::Oid,
    /// The type as a statement names it, with its length or precision.
    pub(crate) type_name: String,
    /// Whether it is computed when it is read, and not stored.
    pub(crate) is_virtual: bool,
}

/// The column with this name, if the table has it.
pub(crate) fn column(table: pg_sys::Oid, name: &str) -> Result<Option<Column>> {
    let name = CString::new(name).map_err(internal)?;
    // SAFETY: the name is terminated; a column that does not exist has no number. The name of a type that
    // exists is terminated.
    unsafe {
        let number = pg_sys::get_attnum(table, name.as_ptr());
        if number <= 0 {
            return Ok(None);
        }
        let (mut type_oid, mut modifier, mut collation) = (pg_sys::InvalidOid, -1, pg_sys::InvalidOid);
        pg_sys::get_atttypetypmodcoll(table, number, &mut type_oid, &mut modifier, &mut collation);
        let type_name = CStr::from_ptr(pg_sys::format_type_with_typemod(type_oid, modifier));
        Ok(Some(Column {
            number,
            type_oid,
            type_name: type_name.to_string_lossy().into_owned(),
            is_virtual: is_virtual(table, number),
        }))
    }
}

/// Whether the column with this number is computed when it is read, and not stored.
pub(crate) fn is_virtual(table: pg_sys::Oid, number: i16) -> bool {
    // SAFETY: reads the cache of columns; the table has this one.
    unsafe { pg_sys::get_attgenerated(table, number) == b'v' as c_char }
}

/// Whether a type is a base type that comes with Postgres: its functions are those of Postgres.
pub(crate) fn is_plain_type(oid: pg_sys::Oid) -> bool {
    // SAFETY: both read the cache of types, which returns 0 for what does not exist.
    let is_base = || unsafe {
        pg_sys::get_typtype(oid) == pg_sys::TYPTYPE_BASE as c_char
            && pg_sys::get_element_type(oid) == pg_sys::InvalidOid
    };
    oid.to_u32() < pg_sys::FirstNormalObjectId && is_base()
}

/// Whether values of a type have an order.
pub(crate) fn is_ordered(oid: pg_sys::Oid) -> bool {
    // SAFETY: the cache creates an entry for a type that exists, which is read at once.
    unsafe { (*pg_sys::lookup_type_cache(oid, pg_sys::TYPECACHE_LT_OPR as i32)).lt_opr != pg_sys::InvalidOid }
}

/// The name of a role.
pub(crate) fn role_name(role: pg_sys::Oid) -> Option<String> {
    // SAFETY: a role that does not exist gives null; a name is terminated.
    unsafe {
        let name = pg_sys::GetUserNameFromId(role, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

#[cfg(feature = "pg_test")]
mod tests;
