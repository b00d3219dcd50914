//! Fuzz target: bytes that clients send.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::num::NonZeroUsize;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::thread;

use docsearch_fuzz::{Format, Target};

use super::{Service, endpoints, requests};
use crate::status::ServiceSettings;

/// Without ONNX Runtime: a request for a model fails.
static SERVICE: LazyLock<Arc<Service>> = LazyLock::new(|| {
    let settings = ServiceSettings {
        threads: NonZeroUsize::MIN,
        cache_bytes: 1 << 20,
        text_limit_ms: 60_000,
    };
    Arc::new(Service::new(PathBuf::from("/nonexistent/libonnxruntime.so"), &settings))
});

pub(crate) fn targets() -> Vec<Target> {
    let own = Target::new("inference-requests", Format::FRAME, connection).up_to(8 * 1024);
    [&[own], endpoints::fuzz::TARGETS].concat()
}

/// Whatever a client sends, the connection closes when the client closes it.
fn connection(input: &[u8]) {
    let (mut client, service) = UnixStream::pair().expect("a pair of sockets");
    let mut answers = client.try_clone().expect("a second handle");
    thread::scope(|scope| {
        scope.spawn(|| requests::serve(service, &SERVICE));
        scope.spawn(move || {
            let _ = client.write_all(input);
            let _ = client.shutdown(Shutdown::Write);
        });
        let mut read = Vec::new();
        let _ = answers.read_to_end(&mut read);
        assert!(
            read.len() <= 64 * input.len() + 64 * 1024,
            "{} bytes of answers",
            read.len()
        );
    });
}
