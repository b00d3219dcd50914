//! After any order of writes, deletes and merges, each vector has a code, and codes find the same as comparing all
//! vectors.

#[pgrx::pg_schema]
mod tests {
    use docsearch_core::index::question::{chunk_number, is_question};
    use docsearch_core::index::vector_code::VectorKind;
    use docsearch_core::values::id::{ChunkId, DocumentId};
    use pgrx::prelude::*;

    use crate::postgres::report::Result;
    use crate::postgres::role::{Caller, Role};
    use crate::postgres::statement;
    use crate::postgres::testing::{Anyone, sql};
    use crate::tables::project::{Project, Projects, by_name};
    use crate::tables::vector_codes::{
        CodeSet, Differences, EstimatedChunks, Extent, MAX_LOOSE, clear, clusters, differences, merge, merge_all,
        merge_if_due, nearest, rebuild, rebuild_with, remove,
    };
    use crate::tables::vectors::{Nearest, VectorTable};

    const DIMENSION: usize = 384;

    fn prepare() -> Result<(Project, VectorTable, CodeSet)> {
        sql("SET LOCAL client_min_messages = error; SELECT docsearch.create_project('tested')");
        let project = by_name(&Caller::of_call()?, "tested")?;
        let table = VectorTable::of(&project.model)?;
        let of = table.codes(project.id);
        Ok((project, table, of))
    }

    /// Pseudo-random numbers.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn vector(&mut self) -> Vec<f32> {
            (0..DIMENSION)
                .map(|_| (self.next() % 2001) as f32 / 1000.0 - 1.0)
                .collect()
        }
    }

    /// Writes a document with a number of chunks and their vectors, or writes it again.
    fn write(project: &Project, table: &VectorTable, document: i64, chunks: i32, numbers: &mut Numbers) -> Result<()> {
        let id = project.id;
        sql(&format!(
            "INSERT INTO docsearch.document (project_id, id, slug, title, body, content_hash, chunk_count)
             VALUES ({id}, {document}, 'page/{document}', 'Page', '', '', {chunks})
             ON CONFLICT (project_id, id) DO UPDATE SET chunk_count = {chunks};
             DELETE FROM docsearch.chunk WHERE document_id = {document} AND chunk_no >= {chunks};
             INSERT INTO docsearch.chunk
             SELECT {id}, {document}, n, 'body', '{{}}', '', '', 1, 1, 1, '', 'word:1' FROM generate_series(0, {chunks} - 1) n
             ON CONFLICT (project_id, document_id, chunk_no) DO NOTHING"
        ));
        let vectors: Vec<(ChunkId, Vec<f32>)> = (0..chunks)
            .map(|chunk| {
                let document = DocumentId { project: id, document };
                (ChunkId { document, chunk }, numbers.vector())
            })
            .collect();
        table.store(&Anyone.as_owner()?, id, &vectors)
    }

    /// Writes a question of a document, and its vector.
    fn write_question(project: &Project, table: &VectorTable, document: i64, numbers: &mut Numbers) -> Result<()> {
        write(project, table, document, 1, numbers)?;
        let chunk = chunk_number((numbers.next() % 3) as usize, 0).expect("a number");
        let project = project.id;
        sql(&format!(
            "INSERT INTO docsearch.chunk VALUES ({project}, {document}, {chunk}, 'question', '{{}}', '', '', 0, 0, 1, '', 'word:1')
             ON CONFLICT (project_id, document_id, chunk_no) DO NOTHING"
        ));
        let document = DocumentId { project, document };
        table.store(
            &Anyone.as_owner()?,
            project,
            &[(ChunkId { document, chunk }, numbers.vector())],
        )
    }

    fn all_codes(project: &Project, of: CodeSet, query: &[f32]) -> Result<EstimatedChunks> {
        let found = nearest(
            &Anyone.as_owner()?,
            &Projects::new([project]),
            of.model,
            query,
            [(VectorKind::Text, 10_000)],
            Extent::NearClusters,
            None,
        )?;
        Ok(found.map(|[found]| found).expect("codes"))
    }

    /// Computes the codes again, by cluster.
    fn cluster(of: CodeSet, vectors: i64) -> Result<()> {
        let mut anyone = Anyone;
        let owner = &anyone.as_owner()?;
        let packer = clusters::learned(owner, of, vectors, DIMENSION as i32)?;
        rebuild_with(owner, of, packer)
    }

    fn rows(of: CodeSet, condition: &str) -> Result<i64> {
        let found = statement::latest(
            &Anyone,
            &format!(
                "SELECT count(*) FROM docsearch.vector_code c WHERE c.project_id = {} AND c.model_id = {} AND {condition}",
                of.project, of.model
            ),
            &[],
            |row| row.required(1),
        )?;
        Ok(found[0])
    }

    #[pg_test]
    fn codes_match_the_vectors_after_every_change() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(88_172_645_463_325_252);
        for step in 0..400 {
            let document = 1 + (numbers.next() % 60) as i64;
            match numbers.next() % 10 {
                0 => sql(&format!("DELETE FROM docsearch.document d WHERE d.id = {document}")),
                1 => sql(&format!(
                    "DELETE FROM {} v WHERE v.document_id = {document}",
                    project.model.vector_table()
                )),
                2 => merge(&Anyone.as_owner()?, of)?,
                3 => merge_if_due(&Anyone.as_owner()?, project.id)?,
                4 => write_question(&project, &table, document, &mut numbers)?,
                5 if numbers.next().is_multiple_of(4) => cluster(of, 180)?,
                _ => write(
                    &project,
                    &table,
                    document,
                    1 + (numbers.next() % 5) as i32,
                    &mut numbers,
                )?,
            }
            if step % 40 == 0 {
                assert_eq!(
                    differences(&Anyone.as_owner()?, of, true)?,
                    Differences::default(),
                    "step {step}"
                );
            }
        }
        merge(&Anyone.as_owner()?, of)?;
        assert_eq!(differences(&Anyone.as_owner()?, of, true)?, Differences::default());
        let vectors = statement::latest(
            &Anyone,
            &format!(
                "SELECT v.document_id, v.chunk_no FROM {} v",
                project.model.vector_table()
            ),
            &[],
            |row| Ok((row.required::<i64>(1)?, row.required::<i32>(2)?)),
        )?;
        assert!(vectors.iter().any(|(_, chunk)| is_question(*chunk)));
        let query = numbers.vector();
        let limit = i64::try_from(vectors.len()).unwrap_or_default();
        let projects = Projects::new([&project]);
        let wanted = |limit| Nearest {
            projects: &projects,
            query: &query,
            limit,
            documents: None,
            check: None,
            sections: limit,
            listed: 0,
        };
        let (by_codes, compared) = (
            table.nearest(&mut Caller::of_call()?, wanted(limit), 0)?,
            table.nearest(&mut Caller::of_call()?, wanted(limit), i64::MAX)?,
        );
        assert_eq!(by_codes, compared);
        assert_eq!(by_codes.len(), vectors.len());
        let some: Vec<i64> = (1..=30).collect();
        let in_some = |listed| Nearest {
            documents: Some(&some),
            listed,
            ..wanted(limit)
        };
        let (few, many) = (
            table.nearest(&mut Caller::of_call()?, in_some(0), 0)?,
            table.nearest(&mut Caller::of_call()?, in_some(1_000_000), 0)?,
        );
        assert_eq!(few, many);
        assert!(!few.is_empty() && few.len() < by_codes.len());
        Ok(())
    }

    #[pg_test]
    fn many_loose_rows_are_packed() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(1);
        for document in 1..MAX_LOOSE {
            write(&project, &table, document, 3, &mut numbers)?;
        }
        merge_all(&Anyone.as_owner()?)?;
        assert_eq!(rows(of, "NOT c.packed")?, MAX_LOOSE - 1);
        write(&project, &table, MAX_LOOSE, 3, &mut numbers)?;
        merge_if_due(&Anyone.as_owner()?, project.id)?;
        // 192 codes: two rows are full, and a third one is merged with what comes.
        assert_eq!((rows(of, "c.packed")?, rows(of, "NOT c.packed")?), (2, 1));
        assert_eq!(differences(&Anyone.as_owner()?, of, true)?, Differences::default());
        Ok(())
    }

    #[pg_test]
    fn what_changes_after_clustering_is_found() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(5);
        for document in 1..=70 {
            write(&project, &table, document, 5, &mut numbers)?;
        }
        cluster(of, 350)?;
        assert_eq!(rows(of, "c.centroid IS NULL")?, 0);
        assert!(rows(of, "c.packed")? >= 5);
        write(&project, &table, 1, 5, &mut numbers)?;
        write(&project, &table, 71, 5, &mut numbers)?;
        assert_eq!(rows(of, "c.centroid IS NULL AND NOT c.packed")?, 2);
        let query = numbers.vector();
        assert_eq!(all_codes(&project, of, &query)?.chunks.len(), 355);
        assert_eq!(differences(&Anyone.as_owner()?, of, true)?, Differences::default());
        // Few vectors are in no clusters.
        rebuild(&Anyone.as_owner()?, of)?;
        assert_eq!(rows(of, "c.centroid IS NOT NULL")?, 0);
        assert_eq!(all_codes(&project, of, &query)?.chunks.len(), 355);
        Ok(())
    }

    #[pg_test]
    fn a_row_with_a_broken_centroid_is_read() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(6);
        write(&project, &table, 1, 5, &mut numbers)?;
        cluster(of, 5)?;
        sql("UPDATE docsearch.vector_code SET centroid = '\\x00'");
        assert_eq!(all_codes(&project, of, &numbers.vector())?.chunks.len(), 5);
        Ok(())
    }

    #[pg_test]
    fn many_codes_without_chunks_are_removed() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(2);
        for _ in 0..8 {
            for document in 1..=MAX_LOOSE {
                write(&project, &table, document, 3, &mut numbers)?;
            }
            merge_if_due(&Anyone.as_owner()?, project.id)?;
        }
        let found = all_codes(&project, of, &numbers.vector())?;
        assert!(found.codes < 1_500, "{} codes of 192 chunks", found.codes);
        assert_eq!(found.chunks.len(), 192);
        assert_eq!(differences(&Anyone.as_owner()?, of, true)?, Differences::default());
        Ok(())
    }

    #[pg_test]
    fn codes_of_deleted_chunks_are_removed_later() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(4);
        for document in 1..=210 {
            write(&project, &table, document, 5, &mut numbers)?;
        }
        sql("DELETE FROM docsearch.document d WHERE d.id > 1");
        let codes = || all_codes(&project, of, &[1.0; DIMENSION]).map(|found| found.codes);
        assert_eq!(codes()?, 1_050);
        merge_all(&Anyone.as_owner()?)?;
        assert_eq!(codes()?, 5);
        assert_eq!(differences(&Anyone.as_owner()?, of, true)?, Differences::default());
        Ok(())
    }

    #[pg_test]
    fn damage_is_found_and_repaired() -> Result<()> {
        let (project, table, of) = prepare()?;
        let mut numbers = Numbers(3);
        for document in 1..=3 {
            write(&project, &table, document, 1, &mut numbers)?;
        }
        sql(
            "UPDATE docsearch.vector_code SET bytes = '\\x00' WHERE id = (SELECT min(id::text)::uuid FROM docsearch.vector_code)",
        );
        sql(&format!(
            "UPDATE {table} v SET embedding = (SELECT embedding FROM {table} x WHERE x.document_id <> v.document_id ORDER BY x.document_id DESC LIMIT 1)",
            table = project.model.vector_table()
        ));
        let found = differences(&Anyone.as_owner()?, of, true)?;
        assert_eq!((found.broken, found.missing.len(), found.differing.len()), (1, 1, 2));
        let found = differences(&Anyone.as_owner()?, of, false)?;
        assert_eq!((found.broken, found.missing.len(), found.differing.len()), (1, 1, 0));
        rebuild(&Anyone.as_owner()?, of)?;
        assert_eq!(differences(&Anyone.as_owner()?, of, true)?, Differences::default());
        remove(&Anyone.as_owner()?, of)?;
        assert_eq!(differences(&Anyone.as_owner()?, of, false)?.missing.len(), 3);
        rebuild(&Anyone.as_owner()?, of)?;
        clear(&Anyone.as_owner()?)?;
        assert_eq!(rows(of, "true")?, 0);
        Ok(())
    }
}
