//! A hidden copy answers like its project, without the hidden texts, and leaves nothing.

#[pgrx::pg_schema]
mod tests {
    use docsearch_core::evaluation::derived::DerivedKind;
    use pgrx::prelude::*;

    use crate::postgres::report::{Result, internal};
    use crate::postgres::role::{Caller, Role};
    use crate::postgres::statement;
    use crate::postgres::testing::{Anyone, caught, sql};
    use crate::tables::project::{self, Project};
    use crate::tables::rules;
    use crate::tuning::documents::SampleLimits;
    use crate::tuning::hidden_copy::with_hidden_copy;

    const TEXT: &str = "In a kiln, and only there, clay turns to stone.";

    fn prepare() -> Result<(Caller, Project)> {
        sql("SELECT docsearch.create_project('copied', settings => '{\"hybrid_weight\": 0.4}')");
        sql(&format!(
            "SELECT FROM docsearch.index_docs('copied', replace('[
                {{\"slug\": \"guides/firing\", \"title\": \"Firing\",
                  \"questions\": [{{\"anchor\": \"why-do-pots-crack\", \"question\": \"how to dry clay before firing\"}}],
                  \"body\": \"What firing is. %\\n\\n## Open a cold kiln\\n\\nWait. %\\n\\n## Why do pots crack?\\n\\nWater. %\"}},
                {{\"slug\": \"reference/shelf\", \"title\": \"Shelf\", \"keywords\": [\"slow cooling rate\", \"quartz\"],
                  \"body\": \"A plate. See [when pots are cold](../guides/firing). %\"}}
            ]', '%', repeat('{TEXT} ', 20))::jsonb)"
        ));
        sql(
            "INSERT INTO docsearch.synonym (project_id, term, expansion) SELECT id, 'oven', 'kiln' FROM docsearch.project",
        );
        let caller = Caller::of_call()?;
        let project = project::by_name(&caller, "copied")?;
        Ok((caller, project))
    }

    /// The number of rows of each table of schema `docsearch`.
    fn rows() -> Result<Vec<String>> {
        let tables = statement::rows(
            &Anyone,
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'docsearch'::regnamespace AND c.relkind = 'r'
             ORDER BY 1",
            &[],
            |row| row.required::<String>(1),
        )?;
        let count = |table: String| {
            let counted = statement::one(
                &Anyone,
                &format!(
                    "SELECT '{table} ' || count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' ORDER BY t::text)), '') FROM {table} t"
                ),
                &[],
                |row| row.required::<String>(1),
            )?;
            Ok(counted.unwrap_or_default())
        };
        tables.into_iter().map(count).collect()
    }

    /// How many documents of a project have a keyword.
    const KEYWORD: &str =
        "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1 AND 'crack' = ANY (d.keywords)";

    fn number(query: &str, project: i64) -> Result<i64> {
        let found = statement::one(&Anyone, query, &[project.into()], |row| row.required::<i64>(1))?;
        found.ok_or_else(|| internal("no row"))
    }

    #[pg_test]
    fn hidden_texts_are_not_in_the_copy_and_it_leaves_nothing() -> Result<()> {
        let (mut caller, original) = prepare()?;
        let before = rows()?;
        let kinds = with_hidden_copy(&mut caller, &original, &SampleLimits::default(), |caller, copy| {
            assert_eq!(copy.project.weights, original.weights);
            assert_eq!(copy.project.log_queries.as_deref(), Some("off"));
            assert!(
                rules::current(caller)?
                    .of(copy.project.id)
                    .tables()
                    .synonyms
                    .contains_key("oven")
            );
            let words = "SELECT count(*) FROM docsearch.chunk c WHERE c.project_id = $1
                         AND c.terms @@ to_tsquery('docsearch.english', 'crack | dry | (open & cold)')";
            assert_eq!(number(words, copy.project.id)?, 0);
            assert!(number(words, original.id)? > 0);
            assert_eq!(number(KEYWORD, original.id)?, 1, "indexing chooses a word of a heading");
            assert_eq!(number(KEYWORD, copy.project.id)?, 0);
            Ok(copy
                .queries
                .iter()
                .map(|query| query.kind)
                .collect::<Vec<DerivedKind>>())
        })?;
        let hidden = [
            DerivedKind::Question,
            DerivedKind::Heading,
            DerivedKind::Link,
            DerivedKind::Keyword,
        ];
        assert!(hidden.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        assert_eq!(rows()?, before);
        assert!(
            !rules::current(&mut caller)?
                .of(original.id + 1)
                .tables()
                .synonyms
                .contains_key("oven")
        );
        Ok(())
    }

    #[pg_test]
    fn pages_without_their_titles_have_no_other_names() -> Result<()> {
        sql("SELECT docsearch.create_project('named')");
        sql(
            "SELECT FROM docsearch.index_docs('named', (SELECT jsonb_agg(jsonb_build_object(
                 'slug', 'guides/cool-house' || n || '-gate' || n, 'title', 'Cool house' || n || ' gate' || n,
                 'source_urls', jsonb_build_array('https://kiln.test/house' || n),
                 'metadata', jsonb_build_object('aliases', jsonb_build_array('Chill house' || n), 'level', n),
                 'body', '# Cool house' || n || ' gate' || n || E'\\n\\nPots of room' || n || ' wait.')) FROM generate_series(1, 20) n))",
        );
        let mut caller = Caller::of_call()?;
        let original = project::by_name(&caller, "named")?;
        with_hidden_copy(&mut caller, &original, &SampleLimits::default(), |_, copy| {
            let of_titles = copy.queries.iter().filter(|query| query.kind == DerivedKind::Title);
            let renamed = of_titles.count() as i64;
            assert!(renamed > 0 && copy.queries.iter().any(|query| query.kind == DerivedKind::Name));
            for condition in [
                "d.title = '…'",
                "d.slug !~ '[a-z]'",
                "NOT d.metadata ? 'aliases'",
                "d.source_urls = '{}'",
                "d.body !~ 'house'",
            ] {
                let count =
                    format!("SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1 AND {condition}");
                assert_eq!(number(&count, copy.project.id)?, renamed, "{condition}");
            }
            let names =
                "SELECT count(DISTINCT d.id) FROM docsearch.document d WHERE d.project_id = $1 AND d::text !~ 'house'";
            assert_eq!(number(names, copy.project.id)?, renamed);
            let all = "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1 AND d.metadata ? 'level'";
            assert_eq!(number(all, copy.project.id)?, 20);
            Ok(())
        })
    }

    #[pg_test]
    fn sections_without_hidden_texts_keep_their_vectors() -> Result<()> {
        let (mut caller, original) = prepare()?;
        let table = original.model.vector_table();
        // A vector that no model computes.
        sql(&format!(
            "UPDATE {table} v SET embedding = (SELECT array_agg(0.5) FROM generate_series(1, vector_dims(v.embedding)))::real[]::vector
             FROM docsearch.chunk c JOIN docsearch.document d ON d.project_id = c.project_id AND d.id = c.document_id
             WHERE (v.project_id, v.document_id, v.chunk_no) = (c.project_id, c.document_id, c.chunk_no)"
        ));
        let marked =
            format!("SELECT count(*) FROM {table} v WHERE v.project_id = $1 AND (v.embedding::real[])[1] = 0.5");
        let missing = format!(
            "SELECT count(*) FROM docsearch.chunk c WHERE c.project_id = $1 AND NOT EXISTS (SELECT FROM {table} v
             WHERE (v.project_id, v.document_id, v.chunk_no) = (c.project_id, c.document_id, c.chunk_no))"
        );
        let all = number(&marked, original.id)?;
        with_hidden_copy(&mut caller, &original, &SampleLimits::default(), |_, copy| {
            let kept = number(&marked, copy.project.id)?;
            assert!(kept > 0 && kept < all, "{kept} of {all}");
            assert_eq!(number(&missing, copy.project.id)?, 0);
            Ok(())
        })
    }

    #[pg_test]
    fn failing_work_leaves_nothing() -> Result<()> {
        let (mut caller, original) = prepare()?;
        let before = rows()?;
        let failed = with_hidden_copy(&mut caller, &original, &SampleLimits::default(), |_, _| {
            Err::<(), _>(internal("no"))
        });
        assert_eq!(failed.expect_err("an error").message(), "no");
        assert_eq!(rows()?, before);
        let cancelled = caught(|| {
            with_hidden_copy(&mut caller, &original, &SampleLimits::default(), |_, _| -> Result<()> {
                sql("DO $$ BEGIN RAISE EXCEPTION 'cancelled' USING ERRCODE = '57014'; END $$");
                Ok(())
            })
        });
        assert!(cancelled.is_some());
        assert_eq!(rows()?, before);
        assert!(caller.id() != pg_sys::InvalidOid);
        Ok(())
    }
}
