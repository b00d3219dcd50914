//! Conditions about the rows of a table that a user passes as text. A condition is one expression, parsed like that of
//! `COPY ... FROM ... WHERE`, and deparsed with every name qualified.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::Confined;
use crate::postgres::subtransaction;

/// Longest text, in bytes, as it is passed.
const MAX_BYTES: usize = 8 * 1024;
/// The alias that qualifies columns.
const ROW: &CStr = c"t";

/// A condition for a statement in which the table has the alias `t`.
pub(crate) struct Condition {
    pub(crate) sql: String,
    /// Whether it may change while the row stays the same.
    pub(crate) is_mutable: bool,
}

impl Condition {
    /// Parses a condition about rows of a table. Nothing of it is evaluated: functions, casts and operators are looked
    /// up with the rights of the reader.
    pub(crate) fn read(_reader: &Confined<'_>, table: pg_sys::Oid, text: &str) -> Result<Self> {
        let hint = "Give one expression about columns of the table, such as 'published AND deleted_at IS NULL', without \
                    subqueries, aggregates and functions that return sets; other functions need their schema.";
        if text.trim().is_empty() || text.len() > MAX_BYTES {
            let problem = format!("rows_where must have 1 to {MAX_BYTES} bytes");
            return Err(invalid(problem, hint));
        }
        let text = CString::new(text).map_err(internal)?;
        // SAFETY: within a transaction; the table exists and the caller reads the result before the transaction ends.
        let read = subtransaction::run(|| unsafe { analysed(table, &text) });
        read.map_err(|problem| {
            let message = problem
                .message()
                .replace("COPY FROM WHERE conditions", "rows_where")
                .replace("COPY FROM WHERE condition", "rows_where");
            invalid(format!("rows_where cannot be used: {message}"), hint)
        })?
        .ok_or_else(|| invalid("rows_where cannot be used: it is not one expression", hint))
    }
}

/// # Safety
///
/// Within a transaction.
unsafe fn analysed(table: pg_sys::Oid, text: &CStr) -> Result<Option<Condition>> {
    // SAFETY: the parser's nodes live in the current memory context, which outlives this; the relation is open while
    // the expression is analysed, and Postgres closes it if that fails.
    unsafe {
        let Some(raw) = only_expression(pg_sys::raw_parser(
            text.as_ptr(),
            pg_sys::RawParseMode::RAW_PARSE_PLPGSQL_EXPR,
        )) else {
            return Ok(None);
        };
        let lock = pg_sys::AccessShareLock as i32;
        let relation = pg_sys::relation_open(table, lock);
        let state = pg_sys::make_parsestate(std::ptr::null_mut());
        let alias = pg_sys::makeAlias(ROW.as_ptr(), std::ptr::null_mut());
        let item = pg_sys::addRangeTableEntryForRelation(state, relation, lock, alias, false, true);
        pg_sys::addNSItemToQuery(state, item, true, true, true);
        let expression = pg_sys::transformExpr(state, raw, pg_sys::ParseExprKind::EXPR_KIND_COPY_WHERE);
        let expression = pg_sys::coerce_to_boolean(state, expression, c"rows_where".as_ptr());
        pg_sys::assign_expr_collations(state, expression);
        let is_volatile = pg_sys::contain_volatile_functions(expression);
        let is_mutable = pg_sys::contain_mutable_functions(expression);
        let context = pg_sys::deparse_context_for(ROW.as_ptr(), table);
        let sql = pg_sys::deparse_expression(expression, context, true, false);
        let sql = CStr::from_ptr(sql).to_string_lossy().into_owned();
        pg_sys::free_parsestate(state);
        pg_sys::relation_close(relation, pg_sys::NoLock as i32);
        if is_volatile {
            return Err(invalid("volatile functions are not allowed in rows_where", ""));
        }
        Ok(Some(Condition { sql, is_mutable }))
    }
}

/// The single expression of a parsed statement, if it has no other statement, clause, column or name.
///
/// # Safety
///
/// The list is what the raw parser gives.
unsafe fn only_expression(statements: *mut pg_sys::List) -> Option<*mut pg_sys::Node> {
    // SAFETY: lists and nodes are those of the parser; each node is read as the type of its tag.
    unsafe {
        let statement = only(statements)?.cast::<pg_sys::RawStmt>();
        let select = (*statement).stmt;
        if (*select).type_ != pg_sys::NodeTag::T_SelectStmt {
            return None;
        }
        let select = &*select.cast::<pg_sys::SelectStmt>();
        let lists = [
            select.distinctClause,
            select.fromClause,
            select.groupClause,
            select.windowClause,
            select.valuesLists,
            select.sortClause,
            select.lockingClause,
        ];
        let nodes = [
            select.whereClause,
            select.havingClause,
            select.limitOffset,
            select.limitCount,
            select.intoClause.cast(),
            select.withClause.cast(),
        ];
        let is_plain = lists.iter().all(|list| list.is_null())
            && nodes.iter().all(|node| node.is_null())
            && select.op == pg_sys::SetOperation::SETOP_NONE;
        let target = only(select.targetList)
            .filter(|_| is_plain)?
            .cast::<pg_sys::ResTarget>();
        let target = &*target;
        (target.name.is_null() && target.indirection.is_null() && !is_star(target.val)).then_some(target.val)
    }
}

/// Whether a node is a `*` alone, which only a list of columns can hold.
///
/// # Safety
///
/// The node is one of the parser.
unsafe fn is_star(node: *mut pg_sys::Node) -> bool {
    // SAFETY: each node is read as the type of its tag; the fields of a reference are nodes.
    unsafe {
        (*node).type_ == pg_sys::NodeTag::T_ColumnRef
            && only((*node.cast::<pg_sys::ColumnRef>()).fields)
                .is_some_and(|field| (*field).type_ == pg_sys::NodeTag::T_A_Star)
    }
}

/// # Safety
///
/// The list is one of pointers, or none.
unsafe fn only(list: *mut pg_sys::List) -> Option<*mut pg_sys::Node> {
    // SAFETY: a list that is not null has the length that it names.
    unsafe {
        let list = list.as_ref().filter(|list| list.length == 1)?;
        Some((*list.elements).ptr_value.cast())
    }
}
