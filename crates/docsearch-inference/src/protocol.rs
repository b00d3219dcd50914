//! The protocol between a client and the service.
//!
//! A frame is the length of what follows (4 bytes, little endian), the [`VERSION`] (1 byte), and a [`Request`] or a
//! [`Response`] in `postcard` encoding. Answers arrive in any order, with the id of their request. A frame that is too
//! long, malformed or of another version closes the connection.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::embedder::{Description, Role};
use crate::endpoint::{ChatAnswer, ChatRequest, Purpose, RemoteEmbedding};
use crate::error::{Error, Failure, Result};
use crate::status::Status;

/// Version of the protocol. Both sides refuse any other.
pub(crate) const VERSION: u8 = 4;
/// Bytes of the field that holds a frame's length.
pub(crate) const LENGTH_BYTES: usize = 4;
/// Maximum length of a frame, in bytes: a text of [`MAX_TEXT_BYTES`](crate::MAX_TEXT_BYTES) and the other fields.
pub(crate) const MAX_FRAME: usize = crate::tokenizer::MAX_TEXT_BYTES + 64 * 1024;

/// A model and the digest of its files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ModelReference {
    /// Its directory.
    pub(crate) directory: String,
    /// The digest that its files must have, if the vectors have to match stored ones.
    pub(crate) digest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Chosen by the client and repeated in the answer.
    pub(crate) id: u64,
    pub(crate) operation: Operation,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Operation {
    Embed {
        model: ModelReference,
        role: Role,
        text: String,
    },
    Describe {
        model: ModelReference,
    },
    EmbedRemotely {
        remote: RemoteEmbedding,
        /// The model's key in the cache.
        digest: String,
        role: Role,
        /// Including the prefix.
        text: String,
    },
    Chat(ChatRequest),
    /// Reads a cached answer of a language model.
    Recall {
        purpose: Purpose,
        /// Digest of the request.
        key: String,
    },
    /// Caches an answer of a language model.
    Remember {
        purpose: Purpose,
        key: String,
        text: String,
    },
    Status,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Response {
    pub(crate) id: u64,
    pub(crate) answer: std::result::Result<Answer, Failure>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    Vector(Vec<f32>),
    Description(Description),
    Chat(ChatAnswer),
    /// If it was remembered.
    Recalled(Option<String>),
    Remembered,
    Status(Status),
}

/// A whole frame.
pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    let mut frame = vec![0; LENGTH_BYTES];
    frame.push(VERSION);
    let mut frame = postcard::to_extend(message, frame).map_err(malformed)?;
    let length = u32::try_from(frame.len() - LENGTH_BYTES).map_err(malformed)?;
    frame[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// The length of a frame, from the bytes before it.
pub(crate) fn frame_length(bytes: [u8; LENGTH_BYTES]) -> Result<usize> {
    let length = u32::from_le_bytes(bytes) as usize;
    if length <= MAX_FRAME {
        return Ok(length);
    }
    Err(malformed(format_args!("a frame of {length} bytes")))
}

/// The message in a frame, without the bytes of its length.
pub(crate) fn decode<M: DeserializeOwned>(frame: &[u8]) -> Result<M> {
    match frame.split_first() {
        Some((&VERSION, message)) => {
            let (message, rest) = postcard::take_from_bytes(message).map_err(malformed)?;
            if rest.is_empty() {
                return Ok(message);
            }
            Err(malformed(format_args!("{} bytes after a message", rest.len())))
        }
        Some((version, _)) => Err(malformed(format_args!(
            "its version is {version}, this one is {VERSION}"
        ))),
        None => Err(malformed("an empty frame")),
    }
}

fn malformed(problem: impl std::fmt::Display) -> Error {
    Error::Protocol {
        reason: problem.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(text: &str) -> Request {
        Request {
            id: 7,
            operation: Operation::Embed {
                model: ModelReference {
                    directory: "/models/a".to_owned(),
                    digest: None,
                },
                role: Role::Query,
                text: text.to_owned(),
            },
        }
    }

    #[test]
    fn a_frame_of_another_version_or_with_more_in_it_is_refused() {
        let frame = encode(&request("a")).expect("a small message");
        let body = &frame[LENGTH_BYTES..];
        assert_eq!(decode::<Request>(body).expect("a valid frame"), request("a"));

        let mut other = body.to_vec();
        other[0] = VERSION + 1;
        assert!(matches!(decode::<Request>(&other), Err(Error::Protocol { .. })));
        let mut longer = body.to_vec();
        longer.push(0);
        assert!(matches!(decode::<Request>(&longer), Err(Error::Protocol { .. })));
        assert!(matches!(decode::<Request>(&[]), Err(Error::Protocol { .. })));
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_before_it_is_read() {
        assert!(frame_length((MAX_FRAME as u32).to_le_bytes()).is_ok());
        assert!(frame_length(u32::MAX.to_le_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn texts_come_through_unchanged(text in "\\PC*") {
            let frame = encode(&request(&text)).expect("a small message");
            let length = frame_length(frame[..LENGTH_BYTES].try_into().expect("four bytes"));
            prop_assert_eq!(length.expect("a short frame"), frame.len() - LENGTH_BYTES);
            prop_assert_eq!(decode::<Request>(&frame[LENGTH_BYTES..]).expect("a valid frame"), request(&text));
        }

        #[test]
        fn garbage_is_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut frame = vec![VERSION];
            frame.extend(&bytes);
            if let Ok(message) = decode::<Request>(&frame) {
                prop_assert_eq!(decode::<Request>(&encode(&message).expect("a message")[LENGTH_BYTES..]).expect("the same"), message);
            }
        }
    }
}
