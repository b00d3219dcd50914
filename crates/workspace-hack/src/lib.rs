//! Only dependencies, see `Cargo.toml`.
