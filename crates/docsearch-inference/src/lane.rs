use std::time::Duration;

use crate::error::{Error, Result, catch_panic};
use crate::queue::Queue;

/// How long a lane keeps its session without work. Opening a session takes 35 ms; keeping it
/// costs its weights in memory.
const IDLE: Duration = Duration::from_secs(30);

/// Turns one passage into its vector.
pub(crate) type Encoder = Box<dyn FnMut(&str) -> Result<Vec<f32>>>;
/// Opens an [`Encoder`] in the thread that calls it.
pub(crate) type EncoderFactory = dyn Fn() -> Result<Encoder> + Send + Sync;

/// The body of a lane's thread: serves the queue with an encoder of its own, opened at the first
/// passage.
pub(crate) fn serve(queue: &Queue, open: &EncoderFactory) {
    let mut encoder = None;
    while let Some(passage) = queue.take(IDLE) {
        let vector = encode(&mut encoder, open, &passage.text);
        queue.finish(passage, vector);
    }
}

fn encode(encoder: &mut Option<Encoder>, open: &EncoderFactory, text: &str) -> Result<Vec<f32>> {
    let vector = catch_panic(|| match encoder {
        Some(encode) => encode(text),
        None => encoder.insert(open()?)(text),
    });
    if matches!(vector, Err(Error::Panicked { .. })) {
        *encoder = None;
    }
    vector
}
