//! What ends a wait. None of these waits ends by its time, unless nothing else can end it.

#[pgrx::pg_schema]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use docsearch_inference::Readiness;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use pgrx::prelude::*;

    use crate::postgres::latch::{wait, wait_event};
    use crate::postgres::report::Result;
    use crate::postgres::testing::{Anyone, caught};
    use crate::postgres::{statement, subtransaction};

    const HOUR: Duration = Duration::from_secs(3600);

    fn set_latch() {
        // SAFETY: the latch is this process's own.
        unsafe { pg_sys::SetLatch(pg_sys::MyLatch) };
    }

    fn reset_latch() {
        // SAFETY: as above.
        unsafe { pg_sys::ResetLatch(pg_sys::MyLatch) };
    }

    fn is_latch_set() -> bool {
        // SAFETY: as above.
        unsafe { (&raw const (*pg_sys::MyLatch).is_set).read_volatile() != 0 }
    }

    #[pg_test]
    fn latch_that_is_set_ends_the_wait_and_is_reset() {
        set_latch();
        wait(None, HOUR);
        assert!(!is_latch_set());
    }

    #[pg_test]
    fn time_ends_a_wait_for_nothing() {
        reset_latch();
        for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(2)] {
            wait(None, time);
        }
        assert!(!is_latch_set());
    }

    #[pg_test]
    fn longest_time_can_be_waited_for() {
        for time in [
            Duration::MAX,
            Duration::from_secs(u64::MAX),
            Duration::from_millis(u64::from(u32::MAX)),
        ] {
            set_latch();
            wait(None, time);
        }
    }

    #[pg_test]
    fn socket_that_is_ready_ends_the_wait() {
        let (mut ours, theirs) = UnixStream::pair().expect("two sockets");
        reset_latch();
        wait(Some((ours.as_fd(), Readiness::Write)), HOUR);
        ours.write_all(b"x").expect("one byte is written");
        wait(Some((theirs.as_fd(), Readiness::Read)), HOUR);
    }

    #[pg_test]
    fn socket_that_can_only_be_read_ends_the_wait_for_that() {
        let (mut ours, mut theirs) = UnixStream::pair().expect("two sockets");
        theirs.write_all(b"x").expect("one byte is written");
        ours.set_nonblocking(true).expect("the socket does not block");
        while ours.write(&[0; 4096]).is_ok() {}
        reset_latch();
        wait(Some((ours.as_fd(), Readiness::Read)), HOUR);
    }

    #[pg_test]
    fn socket_whose_other_end_is_closed_ends_the_wait() {
        let (ours, theirs) = UnixStream::pair().expect("two sockets");
        drop(theirs);
        reset_latch();
        wait(Some((ours.as_fd(), Readiness::Read)), HOUR);
        wait(Some((ours.as_fd(), Readiness::Write)), HOUR);
    }

    #[pg_test]
    fn latch_ends_the_wait_for_a_socket_that_is_not_ready() {
        let (ours, _theirs) = UnixStream::pair().expect("two sockets");
        set_latch();
        wait(Some((ours.as_fd(), Readiness::Read)), HOUR);
        assert!(!is_latch_set());
    }

    #[pg_test]
    fn sockets_may_be_others_each_time() {
        for _ in 0..2000 {
            let (ours, _theirs) = UnixStream::pair().expect("two sockets");
            wait(Some((ours.as_fd(), Readiness::Write)), HOUR);
        }
    }

    #[pg_test]
    fn cancelled_query_ends_the_wait_and_is_found_by_the_next_check() -> Result<()> {
        reset_latch();
        let work = || {
            subtransaction::run(|| {
                kill(Pid::this(), Signal::SIGINT).expect("a process can signal itself");
                wait(None, HOUR);
                pgrx::check_for_interrupts!();
                Ok(())
            })
        };
        let raised = caught(work).expect("an error");
        assert_eq!(
            subtransaction::copy(&raised).message(),
            "canceling statement due to user request"
        );
        assert_eq!(
            statement::one(&Anyone, "SELECT 1", &[], |row| row.required::<i32>(1))?,
            Some(1)
        );
        Ok(())
    }

    #[pg_test]
    fn what_is_waited_for_has_a_name() -> Result<()> {
        wait(None, Duration::ZERO);
        // Extensions cannot name what they wait for before 17.
        if cfg!(feature = "pg16") {
            assert_eq!(wait_event(), pg_sys::PG_WAIT_EXTENSION);
            return Ok(());
        }
        let known = "SELECT count(*) FROM pg_wait_events WHERE type = 'Extension' AND name = 'DocsearchInference'";
        assert_eq!(
            statement::one(&Anyone, known, &[], |row| row.required::<i64>(1))?,
            Some(1)
        );
        Ok(())
    }
}
