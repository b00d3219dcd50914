//! Clicks and votes by the call that they are about.

use std::collections::HashMap;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::grants;

row_type! {
    /// A click or a vote.
    pub(super) struct Feedback {
        call: String = "f.call_id",
        /// In the order in which it was given.
        pub(super) number: i64 = "f.id",
        pub(super) kind: String = "f.kind",
        /// Microseconds since 1970.
        pub(super) at: i64 = "(extract(epoch FROM f.given_at) * 1000000)::bigint",
        pub(super) project: Option<i64> = "f.project_id",
        pub(super) page: Option<i64> = "f.document_id",
        pub(super) anchor: String = "f.anchor",
    }
}

/// What was said of each call, by its id, in the order in which it was given.
pub(super) struct FeedbackOfCalls(HashMap<String, Vec<Feedback>>);

impl FeedbackOfCalls {
    /// Reads all feedback: there is little of it beside the calls.
    ///
    /// It is read as the owner of the tables: the policy would look up the call of each row. So it may only be used for calls and
    /// pages that the caller has read.
    pub(super) fn read(caller: &mut Caller) -> Result<Self> {
        grants::require_read(
            caller,
            "docsearch.feedback",
            "you may not read feedback",
            "SELECT docsearch.grant_reports('your role')",
        )?;
        let owner = &caller.as_owner()?;
        let mut of_calls: HashMap<String, Vec<Feedback>> = HashMap::new();
        let columns = Feedback::select_list();
        let rows = statement::rows(
            owner,
            &format!("SELECT {columns} FROM docsearch.feedback f ORDER BY f.id"),
            &[],
            Feedback::read,
        )?;
        for mut row in rows {
            let call = std::mem::take(&mut row.call);
            of_calls.entry(call).or_default().push(row);
        }
        Ok(Self(of_calls))
    }

    /// The feedback on a call.
    pub(super) fn on(&self, call: &str) -> &[Feedback] {
        self.0.get(call).map_or(&[], Vec::as_slice)
    }
}
