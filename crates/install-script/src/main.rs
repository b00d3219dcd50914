//! Writes the SQL script that `CREATE EXTENSION` runs, from what pgrx notes of each function in the library.
//!
//! `cargo pgrx schema` does the same, in another order each time, and takes minutes to build. Here a script says the
//! same whenever the library does: `bootstrap`, schemas, functions by name, the other SQL files in the order of the
//! sources, and at last what finalizes.

use std::path::{Path, PathBuf};
use std::{env, fs, iter};

use eyre::{Result, WrapErr, ensure, eyre};
use object::{Object, ObjectSection};
use pgrx_sql_entity_graph::section::{ELF_SECTION_NAME, decode_entities};
use pgrx_sql_entity_graph::{ControlFile, PgrxSql, SqlGraphEntity, ToSql};

const EXTENSION: &str = "pg_docsearch";

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [library, control, script] = arguments.as_slice() else {
        return Err(eyre!("usage: install-script LIBRARY CONTROL SCRIPT"));
    };
    let data = fs::read(library).wrap_err_with(|| library.display().to_string())?;
    let text = write(&data, control)?;
    fs::write(script, text).wrap_err_with(|| script.display().to_string())
}

fn write(library: &[u8], control: &Path) -> Result<String> {
    let object = object::File::parse(library)?;
    let section = object.section_by_name(ELF_SECTION_NAME);
    let section = section.ok_or_else(|| eyre!("the library has no section {ELF_SECTION_NAME}"))?;
    let entities = decode_entities(section.data()?)?;
    let control = ControlFile::from_path_with_cargo_version(control, env!("CARGO_PKG_VERSION"))?;
    let entities = iter::once(SqlGraphEntity::ExtensionRoot(control)).chain(entities);
    let sql = PgrxSql::build(entities, EXTENSION.to_owned(), false)?;
    let mut parts = Vec::new();
    for entity in sql.graph.node_weights() {
        if let Some(place) = Place::of(entity)? {
            parts.push((place, entity.to_sql(&sql)?));
        }
    }
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    // Each module that adds to a schema names it.
    parts.dedup_by(|(a, _), (b, _)| a == b && matches!(a, Place::Schema(_)));
    ensure!(
        parts.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "two parts of the script have the same place"
    );
    let parts: Vec<&str> = parts.iter().map(|(_, text)| text.trim()).collect();
    Ok(parts.join("\n\n") + "\n")
}

/// Where a part stands in the script.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Bootstrap,
    Schema(String),
    Function(String),
    Sql { file: String, line: u32 },
    Last,
}

impl Place {
    /// `None` of what has no statement.
    fn of(entity: &SqlGraphEntity<'_>) -> Result<Option<Self>> {
        Ok(Some(match entity {
            SqlGraphEntity::ExtensionRoot(_) | SqlGraphEntity::BuiltinType(_) => return Ok(None),
            SqlGraphEntity::Schema(schema) => Self::Schema(schema.name.to_owned()),
            SqlGraphEntity::Function(function) => Self::Function(function.full_path.to_owned()),
            SqlGraphEntity::Trigger(trigger) => Self::Function(trigger.full_path.to_owned()),
            SqlGraphEntity::CustomSql(sql) if sql.bootstrap => Self::Bootstrap,
            SqlGraphEntity::CustomSql(sql) if sql.finalize => Self::Last,
            SqlGraphEntity::CustomSql(sql) => Self::Sql {
                file: sql.file.to_owned(),
                line: sql.line,
            },
            other => return Err(eyre!("where does {} stand?", other.sql_anchor_comment())),
        }))
    }
}
