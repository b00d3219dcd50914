//! Fuzz targets: messages of the socket, answers of endpoints, and texts to embed. See `docsearch_fuzz`.

use docsearch_fuzz::{Format, Target, check, execute};

use crate::protocol::{self, LENGTH_BYTES, Request, Response};
use crate::{connection, service, tokenizer};

fn targets() -> Vec<Target> {
    let mut targets = vec![
        Target::new("inference-request", Format::FRAME, message::<Request>),
        Target::new("inference-response", Format::FRAME, message::<Response>),
        Target::new("inference-responses", Format::FRAME, connection::fuzz).up_to(8 * 1024),
    ];
    targets.extend(service::fuzz::targets());
    targets.extend(tokenizer::fuzz::targets());
    targets
}

#[test]
fn no_input_ends_the_process() {
    check(&targets(), "fuzz::execute_targets");
}

#[test]
#[ignore = "is what the processes do that the other test starts"]
fn execute_targets() {
    execute(&targets());
}

/// Decodes a frame with or without its length.
fn message<M: serde::de::DeserializeOwned + serde::Serialize + std::fmt::Debug>(input: &[u8]) {
    if let Some((length, frame)) = input.split_first_chunk::<LENGTH_BYTES>() {
        let _ = protocol::frame_length(*length);
        read::<M>(frame);
    }
    read::<M>(input);
}

fn read<M: serde::de::DeserializeOwned + serde::Serialize + std::fmt::Debug>(frame: &[u8]) {
    let Ok(message) = protocol::decode::<M>(frame) else {
        return;
    };
    let written = protocol::encode(&message).expect("what was read can be written");
    let again: M = protocol::decode(&written[LENGTH_BYTES..]).expect("what was written can be read");
    assert_eq!(format!("{again:?}"), format!("{message:?}"));
}
