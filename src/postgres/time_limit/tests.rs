//! What a limit ends, and what remains afterwards. Limits are an hour, which no test reaches, or a
//! millisecond, for work that lasts until it is cancelled.

#[pgrx::pg_schema]
mod tests {
    use std::time::Duration;

    use nix::sys::signal::{SigSet, SigmaskHow, Signal, pthread_sigmask};
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::testing::{Anyone, caught};
    use crate::postgres::time_limit::{TimeLimit, was_exceeded};
    use crate::postgres::{statement, subtransaction};

    const HOUR: Duration = Duration::from_secs(3600);
    const INSTANT: Duration = Duration::from_millis(1);

    fn sleep() -> Result<()> {
        statement::execute(&Anyone, "SELECT pg_sleep(3600)", &[])
    }

    /// Goes on after the cancellation, wherever it comes.
    fn sleep_until_cancelled() {
        assert!(caught(|| subtransaction::run(sleep)).is_some());
    }

    fn one() -> Result<Option<i32>> {
        statement::one(&Anyone, "SELECT 1", &[], |row| row.required(1))
    }

    fn is_cancel_pending() -> bool {
        // SAFETY: a flag of this process.
        unsafe { (&raw const pg_sys::QueryCancelPending).read_volatile() != 0 }
    }

    /// Waits for the signal to cancel, without checking for interrupts.
    fn await_cancel() {
        while !is_cancel_pending() {
            std::thread::sleep(INSTANT);
        }
    }

    fn blocked() -> Vec<Signal> {
        let mut mask = SigSet::empty();
        pthread_sigmask(SigmaskHow::SIG_BLOCK, None, Some(&mut mask)).expect("the mask is read");
        mask.iter().collect()
    }

    #[pg_test]
    fn limit_that_is_kept_leaves_nothing_behind() -> Result<()> {
        let before = blocked();
        let limit = TimeLimit::start(HOUR)?;
        assert_eq!(blocked(), before);
        assert_eq!(one()?, Some(1));
        assert!(limit.end());
        assert!(!was_exceeded() && !is_cancel_pending());
        drop(TimeLimit::start(HOUR)?);
        assert!(!was_exceeded());
        Ok(())
    }

    #[pg_test]
    fn statement_beyond_the_limit_is_cancelled() -> Result<()> {
        let work = || {
            subtransaction::run(|| {
                let _limit = TimeLimit::start(INSTANT)?;
                sleep()
            })
        };
        let cancelled = caught(work).expect("a cancelled statement");
        assert!(subtransaction::is_general(&cancelled) && !subtransaction::is_lock_conflict(&cancelled));
        assert_eq!(
            subtransaction::copy(&cancelled).message(),
            "canceling statement due to user request"
        );
        assert!(was_exceeded());
        assert!(!was_exceeded());
        assert_eq!(one()?, Some(1));
        Ok(())
    }

    #[pg_test]
    fn cancel_that_met_no_statement_meets_none_after_the_end() -> Result<()> {
        let limit = TimeLimit::start(INSTANT)?;
        await_cancel();
        assert!(!limit.end());
        assert!(!is_cancel_pending());
        pgrx::check_for_interrupts!();
        assert_eq!(one()?, Some(1));
        assert!(was_exceeded());
        Ok(())
    }

    #[pg_test]
    fn limit_of_no_time_is_exceeded_at_once() -> Result<()> {
        let limit = TimeLimit::start(Duration::ZERO)?;
        await_cancel();
        assert!(!limit.end());
        Ok(())
    }

    #[pg_test]
    fn code_that_catches_its_cancellation_is_cancelled_again() -> Result<()> {
        let limit = TimeLimit::start(INSTANT)?;
        sleep_until_cancelled();
        sleep_until_cancelled();
        assert!(!limit.end());
        assert!(was_exceeded());
        assert_eq!(one()?, Some(1));
        Ok(())
    }

    #[pg_test]
    fn inner_limit_that_is_exceeded_leaves_the_outer_one() -> Result<()> {
        let outer = TimeLimit::start(HOUR)?;
        let work = || {
            subtransaction::run(|| {
                let _inner = TimeLimit::start(INSTANT)?;
                sleep()
            })
        };
        assert!(caught(work).is_some());
        assert!(was_exceeded());
        assert_eq!(one()?, Some(1));
        assert!(outer.end());
        assert!(!was_exceeded());
        Ok(())
    }

    #[pg_test]
    fn outer_limit_holds_within_an_inner_one() -> Result<()> {
        let outer = TimeLimit::start(INSTANT)?;
        let work = || {
            let inner = TimeLimit::start(HOUR)?;
            sleep_until_cancelled();
            Ok(inner.end())
        };
        assert!(subtransaction::run(work)?);
        assert!(!outer.end());
        Ok(())
    }

    #[pg_test]
    fn limit_ends_with_a_panic() -> Result<()> {
        let work = || -> Result<()> {
            let _limit = TimeLimit::start(INSTANT)?;
            await_cancel();
            panic!("out of order")
        };
        assert_eq!(
            subtransaction::copy(&caught(work).expect("a panic")).message(),
            "out of order"
        );
        assert!(was_exceeded() && !is_cancel_pending());
        assert_eq!(one()?, Some(1));
        Ok(())
    }

    #[pg_test(error = "canceling statement due to user request")]
    fn statement_of_the_limit_ends_with_the_error_of_a_cancelled_query() -> Result<()> {
        let _limit = TimeLimit::start(INSTANT)?;
        sleep()
    }
}
