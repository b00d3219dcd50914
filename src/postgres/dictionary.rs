//! The dictionaries of a text search configuration, used without a statement. The caches of the server know them, and
//! follow every change.

use std::ffi::{CStr, CString};

use pgrx::{IntoDatum, PgMemoryContexts, direct_function_call, pg_sys};

use crate::postgres::interrupt;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;

/// The dictionaries of a configuration.
pub(crate) struct Dictionaries {
    config: pg_sys::Oid,
}

impl Dictionaries {
    /// Those of the configuration with this name; an error if the caller cannot use it.
    pub(crate) fn of(_caller: &Caller, text_config: &str) -> Result<Self> {
        let name = CString::new(text_config).map_err(internal)?;
        // SAFETY: the function takes a terminated text, and returns a configuration or raises an error.
        let config =
            unsafe { direct_function_call::<pg_sys::Oid>(pg_sys::regconfigin, &[name.as_c_str().into_datum()]) };
        let config = config.ok_or_else(|| internal("no configuration"))?;
        Ok(Self { config })
    }

    /// The lexemes of each word, by the kind of its token. The first dictionary that knows the word decides.
    pub(crate) fn lexemes(&self, kinds: &[i32], words: &[&str]) -> Vec<Vec<String>> {
        let of_word = |(&kind, word): (&i32, &&str)| {
            interrupt::check();
            let dictionaries = self.of_kind(kind);
            let known = dictionaries.into_iter().find_map(|dictionary| lexize(dictionary, word));
            known.unwrap_or_default()
        };
        // Dictionaries do not free what they allocate.
        let mut context = PgMemoryContexts::new("docsearch dictionaries");
        // SAFETY: nothing that is allocated there is used later.
        unsafe { context.switch_to(|_| kinds.iter().zip(words).map(of_word).collect()) }
    }

    /// Whether `docsearch.code_parser` divides texts for this configuration.
    pub(crate) fn has_code_parser(&self) -> bool {
        // SAFETY: the caches have an entry or raise an error; a name is null or a terminated text.
        unsafe {
            let parser = (*pg_sys::lookup_ts_config_cache(self.config)).prsId;
            let start = (*pg_sys::lookup_ts_parser_cache(parser)).startOid;
            let name = pg_sys::get_func_name(start);
            !name.is_null()
                && CStr::from_ptr(name) == c"code_parser_start"
                && pg_sys::get_func_namespace(start) == pg_sys::get_namespace_oid(c"docsearch".as_ptr(), true)
        }
    }

    /// The dictionaries of a kind of tokens, in order.
    fn of_kind(&self, kind: i32) -> Vec<pg_sys::Oid> {
        // SAFETY: the cache has an entry or raises an error; its lists have the length that it names, and are copied
        // before the cache is used again.
        unsafe {
            let entry = &*pg_sys::lookup_ts_config_cache(self.config);
            match usize::try_from(kind) {
                Ok(place) if kind < entry.lenmap => {
                    let list = &*entry.map.add(place);
                    let length = usize::try_from(list.len).unwrap_or_default();
                    (0..length).map(|at| *list.dictIds.add(at)).collect()
                }
                _ => Vec::new(),
            }
        }
    }
}

/// The lexemes that a dictionary gives for a word, as `ts_lexize` returns them; `None` if it does not know the word.
fn lexize(dictionary: pg_sys::Oid, word: &str) -> Option<Vec<String>> {
    let length = i32::try_from(word.len()).ok()?;
    let mut state = pg_sys::DictSubState::default();
    // SAFETY: the cache has an entry or raises an error. A dictionary takes its data, a text with its length, and a
    // place for its state. It returns null, or terminated lexemes up to a null one. They are copied before the next
    // call.
    unsafe {
        let ask = |state: &mut pg_sys::DictSubState| {
            let entry = pg_sys::lookup_ts_dictionary_cache(dictionary);
            let found = pg_sys::FunctionCall4Coll(
                &raw mut (*entry).lexize,
                pg_sys::InvalidOid,
                pg_sys::Datum::from((*entry).dictData),
                pg_sys::Datum::from(word.as_ptr()),
                pg_sys::Datum::from(length),
                pg_sys::Datum::from(std::ptr::from_mut(state)),
            );
            found.cast_mut_ptr::<pg_sys::TSLexeme>()
        };
        let mut found = ask(&mut state);
        if state.getnext {
            state.isend = true;
            let last = ask(&mut state);
            if !last.is_null() {
                found = last;
            }
        }
        if found.is_null() {
            return None;
        }
        let mut lexemes = Vec::new();
        while !(*found).lexeme.is_null() {
            lexemes.push(CStr::from_ptr((*found).lexeme).to_string_lossy().into_owned());
            found = found.add(1);
        }
        Some(lexemes)
    }
}

#[cfg(feature = "pg_test")]
mod tests;
