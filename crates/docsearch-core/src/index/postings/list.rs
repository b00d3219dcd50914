//! The postings of one lexeme.

use super::{Counts, RUN};
use crate::values::varint;

/// In the byte of fields: the count of the body. At its greatest value, the rest of the count follows.
const BODY: u8 = 0x1f;
/// The title has the lexeme, and its count follows.
const TITLE: u8 = 0x20;
/// The same of headings.
const HEADING: u8 = 0x40;
/// The same of keywords.
const KEYWORD: u8 = 0x80;

/// Builds a list.
#[derive(Debug, Default)]
pub(super) struct ListBuilder {
    written: Vec<u8>,
    counts: Vec<u8>,
    positions: Vec<u8>,
    /// Postings of the run so far.
    in_run: usize,
    last: u32,
    last_of_runs: u32,
}

impl ListBuilder {
    /// Adds a section, in ascending order of numbers. Positions are ascending; their number is that of the counts.
    pub(super) fn push(&mut self, section: u32, counts: Counts, positions: &[u16]) {
        varint::write(&mut self.counts, section - self.last);
        self.last = section;
        let body = counts.body.min(u32::from(BODY)) as u8;
        let further = [
            (TITLE, counts.title),
            (HEADING, counts.heading),
            (KEYWORD, counts.keyword),
        ];
        let has = further.iter().filter(|(_, count)| *count > 0);
        self.counts.push(has.fold(body, |byte, (field, _)| byte | field));
        if body == BODY {
            varint::write(&mut self.counts, counts.body - u32::from(BODY));
        }
        for (_, count) in further.into_iter().filter(|(_, count)| *count > 0) {
            varint::write(&mut self.counts, count);
        }
        let mut before = 0;
        for &position in positions {
            varint::write(&mut self.positions, u32::from(position.saturating_sub(before)));
            before = before.max(position);
        }
        self.in_run += 1;
        if self.in_run == RUN {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        if self.in_run == 0 {
            return;
        }
        varint::write(&mut self.written, self.in_run as u32);
        varint::write(&mut self.written, self.last - self.last_of_runs);
        let (counts, positions) = (self.counts.len(), self.positions.len());
        varint::write(&mut self.written, u32::try_from(counts).unwrap_or(u32::MAX));
        varint::write(&mut self.written, u32::try_from(positions).unwrap_or(u32::MAX));
        self.written.append(&mut self.counts);
        self.written.append(&mut self.positions);
        (self.in_run, self.last_of_runs) = (0, self.last);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_run();
        self.written
    }
}

/// A stored list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List<'a>(pub(super) &'a [u8]);

/// A run of a list.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    postings: u32,
    /// The last number before it, and in it.
    before: u32,
    last: u32,
    counts: &'a [u8],
    positions: &'a [u8],
}

impl<'a> List<'a> {
    fn runs(self) -> impl Iterator<Item = Run<'a>> {
        let mut rest = self.0;
        let mut before = 0u32;
        std::iter::from_fn(move || {
            let postings = varint::read(&mut rest)?;
            let last = before.checked_add(varint::read(&mut rest)?)?;
            let counts = usize::try_from(varint::read(&mut rest)?).ok()?;
            let positions = usize::try_from(varint::read(&mut rest)?).ok()?;
            let (counts, after) = rest.split_at_checked(counts)?;
            let (positions, after) = after.split_at_checked(positions)?;
            rest = after;
            let run = Run {
                postings,
                before,
                last,
                counts,
                positions,
            };
            before = last;
            Some(run)
        })
    }

    /// Calls back with the number and the counts of each posting.
    #[inline]
    pub(super) fn each(self, mut call: impl FnMut(u32, Counts)) {
        for run in self.runs() {
            let mut reading = run.counts;
            let mut number = run.before;
            for _ in 0..run.postings {
                let Some((delta, counts)) = posting(&mut reading) else {
                    break;
                };
                number = number.saturating_add(delta);
                call(number, counts);
            }
        }
    }

    /// Calls back with the number of each posting, until the callback returns false.
    pub(super) fn each_while(self, mut call: impl FnMut(u32) -> bool) {
        for run in self.runs() {
            let (mut reading, mut number) = (run.counts, run.before);
            for _ in 0..run.postings {
                let Some((delta, _)) = posting(&mut reading) else { break };
                number = number.saturating_add(delta);
                if !call(number) {
                    return;
                }
            }
        }
    }

    /// Calls back for each of the `wanted` numbers, which are ascending, that is in the list: with its index, its
    /// counts and, if `placed`, its positions.
    pub(super) fn each_of(self, wanted: &[u32], placed: bool, mut call: impl FnMut(usize, Counts, &[u16])) {
        let mut next = 0;
        let mut positions: Vec<u16> = Vec::new();
        for run in self.runs() {
            let Some(ahead) = wanted.get(next..).filter(|ahead| !ahead.is_empty()) else {
                return;
            };
            next += ahead.partition_point(|&wanted| wanted < run.before);
            if wanted.get(next).is_none_or(|&wanted| wanted > run.last) {
                continue;
            }
            let mut places = run.positions;
            let mut reading = RunReader {
                counts: run.counts,
                left: run.postings,
                number: run.before,
                passed: 0,
            };
            while let Some(&ahead) = wanted.get(next).filter(|&&wanted| wanted <= run.last) {
                let Some(counts) = reading.seek(ahead) else { break };
                while wanted.get(next).is_some_and(|&wanted| wanted < reading.number) {
                    next += 1;
                }
                if wanted.get(next) != Some(&reading.number) {
                    reading.pass(counts);
                    continue;
                }
                if placed {
                    varint::skip(&mut places, std::mem::take(&mut reading.passed));
                    read_positions(&mut places, counts.all(), &mut positions);
                }
                call(next, counts, &positions);
            }
        }
    }
}

/// A run that is being read.
struct RunReader<'a> {
    counts: &'a [u8],
    left: u32,
    /// Number of the last posting.
    number: u32,
    /// Positions of skipped postings.
    passed: usize,
}

impl RunReader<'_> {
    fn pass(&mut self, counts: Counts) {
        self.passed = self.passed.saturating_add(counts.all() as usize);
    }

    /// Continues to the next posting with this or a greater number. Returns its counts, or `None` at the end.
    // Not inlined, so that all of it stays in registers: long lists are read for few sections.
    #[inline(never)]
    fn seek(&mut self, wanted: u32) -> Option<Counts> {
        let mut reading = Self { ..*self };
        let found = loop {
            if let Some(body) = reading.seek_in_bodies(wanted) {
                break Some(Counts {
                    body,
                    ..Counts::default()
                });
            }
            let Some(left) = reading.left.checked_sub(1) else {
                break None;
            };
            reading.left = left;
            let Some((delta, counts)) = longer_posting(&mut reading.counts) else {
                reading.left = 0;
                break None;
            };
            reading.number = reading.number.saturating_add(delta);
            if reading.number >= wanted {
                break Some(counts);
            }
            reading.pass(counts);
        };
        *self = reading;
        found
    }

    /// The same for postings of two bytes, which most are, up to the next longer one.
    #[inline(always)]
    fn seek_in_bodies(&mut self, wanted: u32) -> Option<u32> {
        while self.left > 0
            && let Some((delta, body, rest)) = short_posting(self.counts)
        {
            self.left -= 1;
            self.counts = rest;
            self.number = self.number.saturating_add(delta);
            if self.number >= wanted {
                return Some(body);
            }
            self.passed += body as usize;
        }
        None
    }
}

fn read_positions(bytes: &mut &[u8], count: u32, positions: &mut Vec<u16>) {
    positions.clear();
    let mut position = 0u32;
    for _ in 0..count {
        let Some(delta) = varint::read(bytes) else { break };
        position = position.saturating_add(delta);
        positions.push(u16::try_from(position).unwrap_or(u16::MAX));
    }
}

/// Reads the next posting: by how much its number is greater, and its counts.
#[inline(always)]
fn posting(bytes: &mut &[u8]) -> Option<(u32, Counts)> {
    if let Some((delta, body, rest)) = short_posting(bytes) {
        *bytes = rest;
        let counts = Counts {
            body,
            ..Counts::default()
        };
        return Some((delta, counts));
    }
    longer_posting(bytes)
}

/// The next posting if it is one of most: in the body only, a few times, and not far from the one before. By how much its
/// number is greater, its count, and the rest.
#[inline(always)]
fn short_posting(bytes: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (&[delta, fields], rest) = bytes.split_first_chunk()?;
    (delta < 0x80 && fields < BODY).then_some((u32::from(delta), u32::from(fields), rest))
}

fn longer_posting(bytes: &mut &[u8]) -> Option<(u32, Counts)> {
    let delta = varint::read(bytes)?;
    let (&fields, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut counts = Counts {
        body: u32::from(fields & BODY),
        ..Counts::default()
    };
    if fields & BODY == BODY {
        counts.body = counts.body.saturating_add(varint::read(bytes)?);
    }
    for (field, count) in [
        (TITLE, &mut counts.title),
        (HEADING, &mut counts.heading),
        (KEYWORD, &mut counts.keyword),
    ] {
        if fields & field != 0 {
            *count = varint::read(bytes)?;
        }
    }
    Some((delta, counts))
}
