//! After any order of writes, deletes and merges, segments and pending documents together match the chunks.

#[pgrx::pg_schema]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use docsearch_core::index::postings::read_all;
    use docsearch_core::index::statistics::Totals;
    use docsearch_core::values::id::{DocumentId, Map, Set};
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::role::{Caller, Role};
    use crate::postgres::statement;
    use crate::postgres::testing::{Anyone, sql};
    use crate::tables::posting_lists::PostingLists;
    use crate::tables::postings::{Differences, add_pending, differences, merge, merge_any, merge_if_due, rebuild};
    use crate::tables::project::{Projects, by_name};
    use crate::tables::statistics::totals_of_documents;

    /// Document and chunk; words, words of the document, and the positions of each lexeme with one letter for its
    /// weight.
    type Counted = BTreeMap<(i64, i32), (i32, i32, BTreeMap<String, Vec<(i32, char)>>)>;

    const PROJECT: i64 = 7;

    fn prepare() {
        sql("SET LOCAL client_min_messages = error;
             SELECT docsearch.create_project('tested');
             UPDATE docsearch.project SET id = 7");
    }

    /// Writes a document with a number of chunks by hand, or writes it again.
    fn write(document: i64, chunks: i64, word: &str) {
        sql(&format!(
            "INSERT INTO docsearch.document (project_id, id, slug, title, body, content_hash, chunk_count)
             VALUES (7, {document}, 'page/{document}', 'Page', '', '', {chunks})
             ON CONFLICT (project_id, id) DO UPDATE SET chunk_count = {chunks};
             DELETE FROM docsearch.chunk WHERE document_id = {document} AND chunk_no >= {chunks};
             INSERT INTO docsearch.chunk
             SELECT 7, {document}, n, 'body', '{{}}', '', '', 1, {document} % 50 + n, {document} % 50, '',
                    setweight(to_tsvector('simple', 'page {word}'), 'A')
                    || setweight(to_tsvector('simple', 'part w' || n), 'B')
                    || to_tsvector('simple', repeat('{word} common ', n + 1) || 'd' || {document})
                    || 'stripped'::tsvector
             FROM generate_series(0, {chunks} - 1) n
             ON CONFLICT (project_id, document_id, chunk_no) DO UPDATE SET terms = excluded.terms"
        ));
    }

    /// The counts of a search for pending documents, and the expected ones for all.
    fn of_chunks(documents: &str) -> Result<Counted> {
        let mut counted = Counted::new();
        statement::rows(
            &Anyone,
            &format!(
                "SELECT c.document_id, c.chunk_no, c.term_count, c.document_term_count, t.lexeme,
                        t.positions::int[], array_to_string(t.weights, '')
                 FROM docsearch.chunk c LEFT JOIN LATERAL unnest(c.terms) t ON t.positions IS NOT NULL
                 WHERE c.project_id = 7 AND {documents}"
            ),
            &[],
            |row| {
                let key = (row.required(1)?, row.required(2)?);
                let entry = counted.entry(key).or_default();
                (entry.0, entry.1) = (row.required(3)?, row.required(4)?);
                if let Some(lexeme) = row.optional::<String>(5)? {
                    let weights = row.required::<String>(7)?;
                    let places = row.required::<Vec<i32>>(6)?.into_iter().zip(weights.chars());
                    entry.2.insert(lexeme, places.collect());
                }
                Ok(())
            },
        )?;
        Ok(counted)
    }

    /// The counts of a search in the segments, each section once.
    fn of_segments() -> Result<Counted> {
        let mut counted = Counted::new();
        let pending = statement::rows(
            &Anyone,
            "SELECT document_id FROM docsearch.posting_pending",
            &[],
            |row| row.required::<i64>(1),
        )?;
        let segments = statement::rows(
            &Anyone,
            "SELECT segment, superseded, sections, documents FROM docsearch.posting_segment WHERE project_id = 7",
            &[],
            |row| {
                let size = (row.required::<i32>(3)?, row.required::<i32>(4)?);
                Ok((row.required::<i32>(1)?, row.required::<Vec<i64>>(2)?, size))
            },
        )?;
        for (segment, superseded, size) in segments {
            let rows = statement::rows(
                &Anyone,
                "SELECT bucket, bytes FROM docsearch.posting WHERE project_id = 7 AND segment = $1 ORDER BY bucket, part",
                &[segment.into()],
                |row| Ok((row.required::<i32>(1)?, row.required::<Vec<u8>>(2)?)),
            )?;
            let sections = read_all(rows.iter().map(|(bucket, bytes)| (*bucket, bytes.as_slice()))).expect("a segment");
            let documents: BTreeSet<i64> = sections.iter().map(|(section, _)| section.document).collect();
            assert_eq!(size, (sections.len() as i32, documents.len() as i32));
            for (section, lexemes) in sections {
                if pending.contains(&section.document) || superseded.contains(&section.document) {
                    continue;
                }
                let words = lexemes.into_iter().map(|(lexeme, counts, positions)| {
                    // Positions of the fields are not ordered by weight, so only their numbers are compared.
                    let letters = [
                        ('A', counts.title),
                        ('B', counts.heading),
                        ('C', counts.keyword),
                        ('D', counts.body),
                    ];
                    assert_eq!(counts.all() as usize, positions.len());
                    let letters = letters
                        .iter()
                        .flat_map(|&(letter, count)| (0..count).map(move |_| letter));
                    (lexeme, positions.into_iter().map(i32::from).zip(letters).collect())
                });
                let entry = (section.words as i32, section.document_words as i32, words.collect());
                let before = counted.insert((section.document, section.chunk), entry);
                assert!(before.is_none(), "{section:?} counts twice");
            }
        }
        Ok(counted)
    }

    /// The sizes of some documents in the lists of sections are those of their chunks.
    fn assert_sizes(documents: impl Iterator<Item = i64>) -> Result<()> {
        let projects = Projects::new([&by_name(&Caller::of_call()?, "tested")?]);
        let documents: Set<DocumentId> = documents
            .map(|document| DocumentId {
                project: PROJECT,
                document,
            })
            .collect();
        let owner = &mut Anyone;
        let owner = owner.as_owner()?;
        let Some(lists) = PostingLists::read(&owner, &projects, &[])? else {
            return Ok(());
        };
        let written = documents.iter().filter(|id| !lists.pending.contains(id));
        let expected = totals_of_documents(&owner, &projects, written.map(|id| id.document).collect())?;
        let sizes = |totals: Map<i64, Totals>| {
            totals
                .into_values()
                .map(|t| (t.documents, t.document_words, t.chunks, t.chunk_words))
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(lists.totals(&documents)), sizes(expected));
        Ok(())
    }

    /// Letters of the weights in their own order, as they are compared.
    fn sorted(mut counted: Counted) -> Counted {
        for (_, _, words) in counted.values_mut() {
            for places in words.values_mut() {
                let mut letters: Vec<char> = places.iter().map(|(_, letter)| *letter).collect();
                letters.sort_unstable();
                for (place, letter) in places.iter_mut().zip(letters) {
                    place.1 = letter;
                }
            }
        }
        counted
    }

    fn assert_counted(step: &str) -> Result<()> {
        let mut counted = of_segments()?;
        counted.extend(of_chunks(
            "c.document_id IN (SELECT p.document_id FROM docsearch.posting_pending p WHERE p.project_id = 7)",
        )?);
        assert_eq!(sorted(counted), sorted(of_chunks("true")?), "after {step}");
        assert_eq!(
            differences(&Anyone.as_owner()?, PROJECT, true)?,
            Differences::default(),
            "after {step}"
        );
        assert_sizes((0..60).filter(|document| document % 3 > 0))
    }

    fn number(query: &str) -> Result<i64> {
        Ok(statement::one(&Anyone, query, &[], |row| row.required(1))?.expect("a row"))
    }

    fn pending() -> Result<i64> {
        number("SELECT count(*) FROM docsearch.posting_pending")
    }

    fn segments() -> Result<i64> {
        number("SELECT count(*) FROM docsearch.posting_segment")
    }

    /// A linear congruential generator: the same steps each time.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, bound: i64) -> i64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % bound as u64) as i64
        }
    }

    #[pg_test]
    fn postings_and_pending_documents_match_chunks() -> Result<()> {
        prepare();
        for seed in 0..4 {
            let mut chance = Chance(seed);
            for _ in 0..60 {
                let document = chance.below(40) + 1;
                let step = match chance.below(10) {
                    0..4 => {
                        let chunks = chance.below(6) + 1;
                        write(document, chunks, ["heron", "egret", "stork"][chance.below(3) as usize]);
                        format!("writing {chunks} chunks of {document}")
                    }
                    4 => {
                        sql(&format!("DELETE FROM docsearch.document WHERE id = {document}"));
                        format!("deleting {document}")
                    }
                    5 => {
                        sql(&format!(
                            "DELETE FROM docsearch.chunk WHERE document_id % 7 = {} AND chunk_no > 0",
                            document % 7
                        ));
                        format!("deleting chunks of {document}")
                    }
                    6 => {
                        sql(&format!(
                            "UPDATE docsearch.chunk SET term_count = term_count + 1 WHERE document_id > {document}"
                        ));
                        format!("changing what follows {document}")
                    }
                    7 => {
                        let most = chance.below(5) + 1;
                        merge(&Anyone.as_owner()?, PROJECT, most)?;
                        format!("merging {most}")
                    }
                    8 => {
                        merge_if_due(&Anyone.as_owner()?, PROJECT)?;
                        "merging if due".to_owned()
                    }
                    _ => {
                        while merge_any(&Anyone.as_owner()?)? {}
                        assert_eq!(pending()?, 0);
                        "merging all".to_owned()
                    }
                };
                assert_counted(&step)?;
            }
            sql("DELETE FROM docsearch.document");
            merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?;
            assert_eq!((pending()?, segments()?), (0, 0));
        }
        Ok(())
    }

    #[pg_test]
    fn rollback_to_a_savepoint_undoes_its_merge() -> Result<()> {
        prepare();
        (1..50).for_each(|document| write(document, 2, "heron"));
        merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?;
        let undone = crate::postgres::subtransaction::run(|| -> Result<()> {
            write(3, 4, "egret");
            merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?;
            Err(crate::postgres::report::internal("undone"))
        });
        assert!(undone.is_err());
        assert_counted("undoing a merge")
    }

    #[pg_test]
    fn a_load_by_small_calls_leaves_few_pending_and_few_segments() -> Result<()> {
        prepare();
        for document in 1..=600 {
            write(document, 3, "heron");
            assert!(pending()? < 64, "{} pending", pending()?);
        }
        assert_counted("a load")?;
        assert!(segments()? <= 11, "{} segments", segments()?);
        Ok(())
    }

    #[pg_test]
    fn a_fifth_of_the_documents_changes() -> Result<()> {
        prepare();
        (1..=200).for_each(|document| write(document, 4, "heron"));
        rebuild(&Anyone.as_owner()?, PROJECT)?;
        assert_eq!(segments()?, 1);
        (1..=40).for_each(|document| write(document * 5, 4, "egret"));
        merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?;
        assert_counted("changing a fifth")?;
        assert_eq!(
            number("SELECT max(cardinality(superseded)) FROM docsearch.posting_segment")?,
            40
        );
        for _ in 0..3 {
            (1..=200).for_each(|document| write(document, 4, "stork"));
            merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?;
            assert_counted("changing all")?;
            let most = "SELECT count(*) FROM docsearch.posting_segment WHERE cardinality(superseded) * 4 > documents";
            assert_eq!(number(most)?, 0);
            assert!(segments()? <= 8, "{} segments", segments()?);
        }
        Ok(())
    }

    #[pg_test]
    fn damage_is_found_and_rebuilt() -> Result<()> {
        prepare();
        (1..=20).for_each(|document| write(document, 3, "heron"));
        rebuild(&Anyone.as_owner()?, PROJECT)?;
        let wrong = [
            ("UPDATE docsearch.posting SET bytes = bytes || '\\x00' WHERE bucket = -1", true),
            ("DELETE FROM docsearch.posting WHERE bucket = -1", false),
            ("DELETE FROM docsearch.posting", false),
            ("DELETE FROM docsearch.posting WHERE bucket = 0", true),
            ("UPDATE docsearch.posting SET bytes = substr(bytes, 2) WHERE bucket = 0", true),
            ("UPDATE docsearch.posting_segment SET bucket_count = bucket_count + 1", true),
            ("UPDATE docsearch.posting_segment SET sections = sections + 1", false),
            ("UPDATE docsearch.posting_segment SET superseded = '{3, 2}'", false),
            ("UPDATE docsearch.posting_segment SET superseded = '{3}'", false),
            ("DELETE FROM docsearch.posting_segment", false),
            ("SET LOCAL session_replication_role = replica; DELETE FROM docsearch.chunk WHERE chunk_no = 1;
              SET LOCAL session_replication_role = origin", false),
            ("SET LOCAL session_replication_role = replica; UPDATE docsearch.chunk SET term_count = 7;
              SET LOCAL session_replication_role = origin", false),
            ("SET LOCAL session_replication_role = replica; UPDATE docsearch.chunk SET terms = 'other:1' WHERE chunk_no = 0;
              SET LOCAL session_replication_role = origin", true),
        ];
        for (statement, only_deep) in wrong {
            sql(statement);
            assert_eq!(
                differences(&Anyone.as_owner()?, PROJECT, false)?.is_empty(),
                only_deep,
                "{statement}"
            );
            assert!(
                !differences(&Anyone.as_owner()?, PROJECT, true)?.is_empty(),
                "{statement}"
            );
            rebuild(&Anyone.as_owner()?, PROJECT)?;
            assert_counted(statement)?;
        }
        Ok(())
    }

    #[pg_test]
    fn a_document_without_chunks_is_no_section() -> Result<()> {
        prepare();
        add_pending(&Anyone.as_owner()?, PROJECT, vec![1, 1, -5, i64::MAX, i64::MIN])?;
        assert!(merge(&Anyone.as_owner()?, PROJECT, 2)?);
        assert!(merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?);
        assert!(!merge(&Anyone.as_owner()?, PROJECT, i64::MAX)?);
        assert_eq!((pending()?, segments()?), (0, 0));
        assert_counted("nothing")
    }
}
