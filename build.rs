//! Keeps what pgrx notes of each function in the library, from which `install-script` writes the SQL script: nothing
//! refers to it, so the linker would drop it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--no-gc-sections");
}
