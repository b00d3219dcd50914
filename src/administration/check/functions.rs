//! Compares the functions of the extension with those that its version declares.

use pgrx::datum::DatumWithOid;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::postgres::{library, statement};

const UPDATE: &str = "ALTER EXTENSION pg_docsearch UPDATE";
/// Members of the extension, as `sql/declared.sql` writes them.
const MEMBERS: &str = "SELECT p.oid, p.probin, pg_catalog.format('%I.%I(%s) %s', n.nspname, p.proname,
            pg_catalog.oidvectortypes(p.proargtypes), pg_catalog.format_type(p.prorettype, NULL)) AS signature
     FROM pg_extension e
     JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
                     AND d.classid = 'pg_proc'::regclass
     JOIN pg_proc p ON p.oid = d.objid
     JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE e.extname = 'pg_docsearch'";

/// The result of the function `p`, read from its body as `sql/declared.sql` writes it: one signature a line, between
/// the first and the last line. Only the owner of the extension may call it.
const DECLARED: &str = r"pg_catalog.trim_array((pg_catalog.string_to_array(p.prosrc, E'\n'))[2:], 1)";

pub(super) fn functions(owner: &mut Owner<'_>, _: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = other_version(owner)?;
    if !exists(owner, "docsearch.declared_functions()")? {
        findings.push(missing("docsearch.declared_functions() text[]".to_owned()));
        return Ok(findings);
    }
    let undefined = statement::rows(
        owner,
        &format!(
            "SELECT d.signature
             FROM pg_proc p, pg_catalog.unnest({DECLARED}) d (signature)
             WHERE p.oid = pg_catalog.to_regprocedure('docsearch.declared_functions()') AND d.signature NOT IN (SELECT m.signature FROM ({MEMBERS}) m) ORDER BY 1"
        ),
        &[],
        |row| row.required::<String>(1),
    )?;
    findings.extend(undefined.into_iter().map(missing));
    Ok(findings)
}

fn other_version(owner: &Owner<'_>) -> Result<Vec<Finding>> {
    let version = env!("CARGO_PKG_VERSION");
    let older = statement::rows(
        owner,
        "SELECT e.extversion FROM pg_extension e WHERE e.extname = 'pg_docsearch' AND e.extversion <> $1",
        &[DatumWithOid::from(version)],
        |row| row.required::<String>(1),
    )?;
    let file = format!("$libdir/{}", library::NAME);
    let elsewhere = statement::rows(
        owner,
        &format!("SELECT m.signature FROM ({MEMBERS}) m WHERE m.probin <> $1 ORDER BY 1"),
        &[DatumWithOid::from(file.as_str())],
        |row| row.required::<String>(1),
    )?;
    let finding = |object: String, detail: String| Finding {
        problem: "functions of another version",
        object,
        detail,
        repair: Repair::Manual(UPDATE.to_owned()),
    };
    let extension = older.into_iter().map(|found| {
        finding(
            "pg_docsearch".to_owned(),
            format!("version {found}; the library has version {version}"),
        )
    });
    let functions = elsewhere
        .into_iter()
        .map(|signature| finding(signature, format!("its library is not {file}")));
    Ok(extension.chain(functions).collect())
}

fn exists(owner: &Owner<'_>, signature: &str) -> Result<bool> {
    let found = statement::one(
        owner,
        "SELECT pg_catalog.to_regprocedure($1) IS NOT NULL",
        &[DatumWithOid::from(signature)],
        |row| row.required::<bool>(1),
    )?;
    Ok(found == Some(true))
}

fn missing(signature: String) -> Finding {
    Finding {
        problem: "function missing",
        object: signature,
        detail: "the extension declares it".to_owned(),
        repair: Repair::Manual(format!(
            "Run its CREATE FUNCTION from the server's pg_docsearch--{}.sql, then \
             ALTER EXTENSION pg_docsearch ADD FUNCTION.",
            env!("CARGO_PKG_VERSION")
        )),
    }
}
