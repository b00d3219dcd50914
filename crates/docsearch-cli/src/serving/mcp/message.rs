//! Parses a line into a message, or into the error to send back.

use std::fmt;

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// JSON-RPC error codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// The result of parsing a line.
pub(super) enum ParsedLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// A blank line, or something that must not be answered: an unknown notification or a stray response.
    Ignored,
    /// An error to send.
    Error(Value),
}

/// Parses a line.
pub(super) fn read(line: &[u8]) -> ParsedLine {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return ParsedLine::Ignored;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return invalid(PARSE_ERROR, "the message is not valid UTF-8", Id::Missing);
    };
    if let Ok(message) = serde_json::from_str(text) {
        return ParsedLine::Message(Box::new(message));
    }
    let mut envelope = Envelope::default();
    let mut input = serde_json::Deserializer::from_str(text);
    if envelope.deserialize(&mut input).and_then(|()| input.end()).is_err() {
        return invalid(PARSE_ERROR, "the message is not valid JSON", Id::Missing);
    }
    match envelope {
        Envelope { is_object: false, .. } => invalid(
            INVALID_REQUEST,
            "a message is one JSON object; batches are not supported",
            Id::Missing,
        ),
        Envelope {
            method: None,
            is_response: true,
            ..
        }
        | Envelope {
            method: Some(true),
            id: Id::Missing,
            ..
        } => ParsedLine::Ignored,
        Envelope { id, .. } => invalid(INVALID_REQUEST, "the message is not a JSON-RPC 2.0 request", id),
    }
}

/// The error for a message that is longer than `max_bytes`, from its beginning.
pub(super) fn too_long(beginning: &[u8], max_bytes: usize) -> Value {
    let mut envelope = Envelope::default();
    // The text ends within the message: the fields before are known.
    let _ = envelope.deserialize(&mut serde_json::Deserializer::from_slice(beginning));
    error(
        INVALID_REQUEST,
        &format!("the message is longer than {max_bytes} bytes"),
        envelope.id,
    )
}

fn invalid(code: i32, message: &str, id: Id) -> ParsedLine {
    ParsedLine::Error(error(code, message, id))
}

fn error(code: i32, message: &str, id: Id) -> Value {
    let id = match id {
        Id::Valid(id) => id,
        Id::Missing | Id::Invalid => Value::Null,
    };
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The id of a message.
#[derive(Default, Debug, PartialEq)]
enum Id {
    #[default]
    Missing,
    /// A string or an integer, as MCP requires.
    Valid(Value),
    Invalid,
}

/// The fields of a message that can be read without knowing its type. Ignores nesting of any depth without recursion.
#[derive(Default, Debug)]
struct Envelope {
    is_object: bool,
    id: Id,
    /// Whether the method is a string.
    method: Option<bool>,
    is_response: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Envelope {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Envelope {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.is_object = true;
        // A value is complete only if something follows it.
        let mut id = None;
        while let Some(key) = map.next_key::<String>()? {
            if let Some(id) = id.take() {
                self.id = id;
            }
            match key.as_str() {
                "id" => id = Some(map.next_value::<Scalar>()?.into_id()),
                "method" => self.method = Some(matches!(map.next_value()?, Scalar::Text(_))),
                "result" | "error" => {
                    self.is_response = true;
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(id) = id {
            self.id = id;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| ())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A value that may be an id or a method.
enum Scalar {
    Text(String),
    Number(i64),
    Other,
}

impl Scalar {
    fn into_id(self) -> Id {
        match self {
            Self::Text(text) => Id::Valid(text.into()),
            Self::Number(number) => Id::Valid(number.into()),
            Self::Other => Id::Invalid,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(i64::try_from(number).map_or(Scalar::Other, Scalar::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Scalar, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Scalar, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Scalar::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code and id of the error for a line, if any.
    fn answer(line: &[u8]) -> Option<(i64, Value)> {
        match read(line) {
            ParsedLine::Error(error) => Some((error["error"]["code"].as_i64().unwrap(), error["id"].clone())),
            ParsedLine::Ignored => None,
            ParsedLine::Message(_) => panic!("{} is a message", String::from_utf8_lossy(line)),
        }
    }

    #[test]
    fn invalid_json_is_a_parse_error_without_an_id() {
        for line in [
            &b"nonsense"[..],
            b"{",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x",
            b"{\"id\":1,\"method\":\"\xff\"}",
            b"\0",
            b"{\"id\":1}\0",
            b"[1",
            b"\"",
        ] {
            assert_eq!(
                answer(line),
                Some((-32700, Value::Null)),
                "{}",
                String::from_utf8_lossy(line)
            );
        }
        assert_eq!(answer("[".repeat(100_000).as_bytes()), Some((-32700, Value::Null)));
    }

    #[test]
    fn other_json_is_an_invalid_request_with_its_id() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"x","params":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        for (line, id) in [
            ("[]", Value::Null),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
            ("7", Value::Null),
            ("null", Value::Null),
            ("{}", Value::Null),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":"a","method":5}"#, json!("a")),
            (r#"{"id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","method":5}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":[[{}]],"method":"ping"}"#, Value::Null),
            (
                r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#,
                Value::Null,
            ),
            (&deep, json!(9)),
        ] {
            assert_eq!(
                answer(line.as_bytes()),
                Some((-32600, id)),
                "{}",
                &line[..line.len().min(80)]
            );
        }
    }

    #[test]
    fn notifications_and_responses_are_not_answered() {
        for line in [
            "",
            " \t\r",
            "\u{feff}",
            r#"{"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
            r#"{"jsonrpc":"2.0","error":5}"#,
            r#"{"id":null,"error":{"code":-32700,"message":"the message is not valid JSON"},"jsonrpc":"2.0"}"#,
        ] {
            match read(line.as_bytes()) {
                ParsedLine::Error(error) => panic!("{line}: {error}"),
                ParsedLine::Ignored | ParsedLine::Message(_) => {}
            }
        }
    }

    #[test]
    fn the_id_of_a_long_message_is_known_if_it_is_at_the_beginning() {
        for (beginning, id) in [
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"a":"xxx"#,
                json!(5),
            ),
            (r#"{"id":"x","params":["#, json!("x")),
            (r#"{"jsonrpc":"2.0","id":12"#, Value::Null),
            (r#"{"params":"xxxx"#, Value::Null),
            ("xxxx", Value::Null),
            ("[[[", Value::Null),
        ] {
            assert_eq!(too_long(beginning.as_bytes(), 10)["id"], id, "{beginning}");
        }
    }
}
