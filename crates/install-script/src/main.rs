//! Writes the SQL scripts of `CREATE EXTENSION` and `ALTER EXTENSION UPDATE` from the metadata that pgrx stores in the
//! library.
//!
//! `cargo pgrx schema` writes only the first, in another order each time, and takes minutes to build. Here the same
//! library gives the same script: `bootstrap`, schemas, functions by name, the other SQL files in the order of the
//! sources, and the finalizing SQL. An upgrade script has the SQL written for that upgrade, then replaces functions.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, iter};

use eyre::{Result, WrapErr, ensure, eyre};
use object::{Object, ObjectSection};
use pgrx_sql_entity_graph::section::{ELF_SECTION_NAME, decode_entities};
use pgrx_sql_entity_graph::{ControlFile, PgrxSql, SqlGraphEntity, ToSql};

const EXTENSION: &str = "pg_docsearch";
/// SQL files of permanent objects, which an upgrade leaves out.
const ONCE: [&str; 1] = ["text_search"];
/// SQL files of argument types, which come before functions.
const TYPES: [&str; 1] = ["argument_types"];
const CREATE_FUNCTION: [&str; 2] = ["CREATE FUNCTION ", "CREATE  FUNCTION "];

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [library, control, upgrades, directory] = arguments.as_slice() else {
        return Err(eyre!("usage: install-script LIBRARY CONTROL UPGRADES DIRECTORY"));
    };
    let data = fs::read(library).wrap_err_with(|| library.display().to_string())?;
    let version = env!("CARGO_PKG_VERSION");
    let parts = parts(&data, control)?;
    write(directory, version, parts.iter().map(|part| part.text.as_str()))?;
    for entry in fs::read_dir(upgrades).wrap_err_with(|| upgrades.display().to_string())? {
        let path = entry?.path();
        let from = path.file_stem().and_then(OsStr::to_str);
        let from = from.ok_or_else(|| eyre!("{}: no version in the file name", path.display()))?;
        let changes = fs::read_to_string(&path)?;
        write(directory, &format!("{from}--{version}"), upgrade(&parts, &changes))?;
    }
    Ok(())
}

fn write<'a>(directory: &Path, versions: &str, parts: impl Iterator<Item = impl AsRef<str> + 'a>) -> Result<()> {
    let script = directory.join(format!("{EXTENSION}--{versions}.sql"));
    let parts: Vec<String> = parts.map(|part| part.as_ref().trim().to_owned()).collect();
    fs::write(&script, parts.join("\n\n") + "\n").wrap_err_with(|| script.display().to_string())
}

/// The parts of an upgrade: the checks of the server, then `changes`, then the rest.
fn upgrade<'a>(parts: &'a [Part], changes: &'a str) -> impl Iterator<Item = String> + 'a {
    let again = |part: &&Part| !part.once;
    let replaced = |line: &str| {
        let created = CREATE_FUNCTION.iter().find_map(|create| line.strip_prefix(create));
        created.map_or_else(
            || format!("{line}\n"),
            |rest| format!("CREATE OR REPLACE FUNCTION {rest}\n"),
        )
    };
    let replaced = move |part: &Part| part.text.lines().map(replaced).collect();
    let (checks, rest) = parts.split_at(parts.iter().take_while(|part| part.place == Place::Bootstrap).count());
    let checks = checks.iter().map(|part| part.text.clone());
    checks
        .chain([changes.to_owned()])
        .chain(rest.iter().filter(again).map(replaced))
}

/// One part of the script.
struct Part {
    place: Place,
    text: String,
    /// Whether it creates something that an upgrade finds already.
    once: bool,
}

fn parts(library: &[u8], control: &Path) -> Result<Vec<Part>> {
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
            let text = match &place {
                Place::Schema(name) => format!("CREATE SCHEMA {name};"),
                _ => entity.to_sql(&sql)?,
            };
            let once = match entity {
                SqlGraphEntity::Schema(_) => true,
                SqlGraphEntity::CustomSql(sql) => ONCE.contains(&sql.name),
                _ => false,
            };
            parts.push(Part { place, text, once });
        }
    }
    parts.sort_by(|a, b| a.place.cmp(&b.place));
    // Each module that adds to a schema declares it.
    parts.dedup_by(|a, b| a.place == b.place && matches!(a.place, Place::Schema(_)));
    ensure!(
        parts.windows(2).all(|pair| pair[0].place < pair[1].place),
        "two parts of the script have the same place"
    );
    Ok(parts)
}

/// The position of a part in the script.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Bootstrap,
    Schema(String),
    Types(String),
    Function(String),
    Sql { file: String, line: u32 },
    Last,
}

impl Place {
    /// `None` if the entity has no statement.
    fn of(entity: &SqlGraphEntity<'_>) -> Result<Option<Self>> {
        Ok(Some(match entity {
            SqlGraphEntity::ExtensionRoot(_) | SqlGraphEntity::BuiltinType(_) => return Ok(None),
            SqlGraphEntity::Schema(schema) => Self::Schema(schema.name.to_owned()),
            SqlGraphEntity::Function(function) => Self::Function(function.full_path.to_owned()),
            SqlGraphEntity::Trigger(trigger) => Self::Function(trigger.full_path.to_owned()),
            SqlGraphEntity::CustomSql(sql) if sql.bootstrap => Self::Bootstrap,
            SqlGraphEntity::CustomSql(sql) if sql.finalize => Self::Last,
            SqlGraphEntity::CustomSql(sql) if TYPES.contains(&sql.name) => Self::Types(sql.name.to_owned()),
            SqlGraphEntity::CustomSql(sql) => Self::Sql {
                file: sql.file.to_owned(),
                line: sql.line,
            },
            other => return Err(eyre!("no place in the script for {}", other.sql_anchor_comment())),
        }))
    }
}
