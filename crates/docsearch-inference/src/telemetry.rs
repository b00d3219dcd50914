//! Keeping ONNX Runtime from reporting to its vendor.

#![allow(unsafe_code)]

/// Keeps ONNX Runtime from reporting to its vendor, for the rest of the process.
///
/// To be called before the library is loaded. Observed with the 1.31.1 wheel under strace: the
/// library starts its reporting thread, opens a database in the home directory and a connection
/// to its collector as soon as there is an environment. Switching events off through its
/// interface afterwards does not undo that; this variable prevents it.
pub(crate) fn disable() {
    if std::env::var_os("ORT_DISABLE_TELEMETRY").is_some_and(|value| value == "1") {
        return;
    }
    // SAFETY: Writing the environment races with threads that read it outside of the standard
    // library. `Model::load` asks of its callers that they have none that does so, and the service
    // calls this before it starts its first thread.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}
