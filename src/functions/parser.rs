//! The text search parser `docsearch.code_parser`, on top of `docsearch_core::text::token`.

use std::borrow::Cow;
use std::ffi::{CString, c_char};

use docsearch_core::text::form::Form;
use docsearch_core::text::token::{Token, TokenKind, tokens};
use pgrx::datum::Internal;
use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::postgres::interrupt;
use crate::postgres::report::{Result, error, internal};

/// A text and the tokens left to return. It lives in the memory context of the parse: PostgreSQL does not call the end
/// function after an error.
struct ParserState {
    text: &'static str,
    tokens: Box<dyn Iterator<Item = Token>>,
    /// What `text` refers to, if the given text is not in the form in which texts are compared.
    form: Option<String>,
    /// Returned words that are not in the text: PostgreSQL reads them until the parse ends.
    folded: Vec<String>,
}

#[pg_schema]
pub(crate) mod docsearch {
    use super::*;

    /// Starts parsing a text; called by the text search parser docsearch.code_parser.
    #[pg_extern(immutable, strict, parallel_safe)]
    fn code_parser_start(text: Internal, length: i32) -> Result<Internal> {
        let start = pointer::<c_char>(text)?;
        let length = usize::try_from(length).map_err(internal)?;
        // SAFETY: the parser interface passes a text of this many bytes, which outlives the parse;
        // the state is dropped with the memory context of the parse.
        let text: &'static [u8] = unsafe { std::slice::from_raw_parts(start.cast(), length) };
        let text = std::str::from_utf8(text)
            .map_err(|problem| error(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, problem.to_string()))?;
        let (text, form) = match Form::of(text).into_text() {
            Cow::Borrowed(text) => (text, None),
            Cow::Owned(form) => {
                // SAFETY: the bytes stay where they are while the state owns them, and it drops the tokens first.
                let text: &'static str = unsafe { &*std::ptr::from_ref(form.as_str()) };
                (text, Some(form))
            }
        };
        Ok(Internal::new(ParserState {
            text,
            tokens: Box::new(tokens(text)),
            form,
            folded: Vec::new(),
        }))
    }

    /// Returns the next token of a text; called by the text search parser docsearch.code_parser.
    #[pg_extern(immutable, strict, parallel_safe)]
    fn code_parser_token(mut state: Internal, start: Internal, length: Internal) -> Result<Internal> {
        let start = pointer::<*mut c_char>(start)?;
        let length = pointer::<i32>(length)?;
        // SAFETY: the state is what code_parser_start returned.
        let state = unsafe { state.get_mut::<ParserState>() }.ok_or_else(|| internal("no parser state"))?;
        // PostgreSQL does not check for interrupts between the tokens of a text.
        interrupt::check();
        let Some(token) = state.tokens.next() else {
            return Ok(Internal::from(Some(pg_sys::Datum::from(0))));
        };
        let word = match token.word(state.text) {
            Cow::Borrowed(word) => word,
            Cow::Owned(folded) => {
                state.folded.push(folded);
                state.folded.last().map_or("", String::as_str)
            }
        };
        // SAFETY: the interface passes places for a pointer and a length, and does not write to the word, which lives
        // as long as the state.
        unsafe {
            *start = word.as_ptr().cast_mut().cast();
            *length = i32::try_from(word.len()).map_err(internal)?;
        }
        Ok(Internal::from(Some(pg_sys::Datum::from(token.kind as i32))))
    }

    /// Ends parsing a text; called by the text search parser docsearch.code_parser.
    #[pg_extern(immutable, strict, parallel_safe)]
    fn code_parser_end(mut state: Internal) {
        // SAFETY: the state is what code_parser_start returned. Its contents are freed now, itself
        // with its memory context.
        if let Some(state) = unsafe { state.get_mut::<ParserState>() } {
            state.tokens = Box::new(std::iter::empty());
            (state.text, state.form, state.folded) = ("", None, Vec::new());
        }
    }

    /// Returns the token types; called by the text search parser docsearch.code_parser.
    #[pg_extern(immutable, strict, parallel_safe)]
    fn code_parser_types(_parser: Internal) -> Result<Internal> {
        let mut types = Vec::with_capacity(TokenKind::ALL.len() + 1);
        for kind in TokenKind::ALL {
            types.push(pg_sys::LexDescr {
                lexid: kind as i32,
                alias: palloc_string(kind.alias())?,
                descr: palloc_string(kind.description())?,
            });
        }
        // An entry with number 0 terminates the list.
        types.push(pg_sys::LexDescr::default());
        // SAFETY: the list is copied to memory of the caller's context.
        let list = unsafe {
            let bytes = std::mem::size_of_val(types.as_slice());
            let list = pg_sys::palloc(bytes);
            std::ptr::copy_nonoverlapping(types.as_ptr().cast::<u8>(), list.cast(), bytes);
            list
        };
        Ok(Internal::from(Some(pg_sys::Datum::from(list))))
    }
}

fn pointer<T>(argument: Internal) -> Result<*mut T> {
    let datum = argument.unwrap().ok_or_else(|| internal("null pointer"))?;
    Ok(datum.cast_mut_ptr())
}

fn palloc_string(text: &str) -> Result<*mut c_char> {
    let text = CString::new(text).map_err(internal)?;
    // SAFETY: copies a terminated string.
    Ok(unsafe { pg_sys::pstrdup(text.as_ptr()) })
}

#[cfg(feature = "pg_test")]
mod tests;
