//! Lists the functions of earlier versions, from their install scripts.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::{env, error, fs};

const RELEASES: &str = "../../sql/releases";
/// The text before the name of a function in the library.
const LIBRARY: &str = "'MODULE_PATHNAME', '";

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed={RELEASES}");
    let mut functions = BTreeSet::new();
    for entry in fs::read_dir(RELEASES)? {
        let path = entry?.path();
        if path.extension() != Some(OsStr::new("sql")) {
            continue;
        }
        let script = fs::read_to_string(path)?;
        let names = script.split(LIBRARY).skip(1).filter_map(|rest| rest.split('\'').next());
        functions.extend(names.map(str::to_owned));
    }
    let list: String = functions
        .iter()
        .map(|name| format!("{name} pg_finfo_{name}\n"))
        .collect();
    let text = format!("superseded! {{\n{list}}}\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("superseded.rs"), text)?;
    Ok(())
}
