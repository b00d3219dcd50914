//! Detects whether an attached table has changed its shape since it was read. ALTER TABLE fires no trigger: a column
//! that was dropped and added again, renamed or given another type may hold other keys and texts. Changes made while
//! triggers were disabled are not recorded, and forced policies decide which rows the owner reads.

/// The state in the catalogs of the columns, triggers and policies of a row `a`'s table, and of a view's query; NULL
/// while a column is missing. The version of a catalog row is the transaction that wrote it.
macro_rules! shape {
    () => {
        "(SELECT CASE WHEN bool_and(t.attnum IS NOT NULL) THEN
                 string_agg(format('%s:%s', t.attnum, t.xmin), ',' ORDER BY n.place)
                 || coalesce((SELECT ',' || w.xmin::text FROM pg_rewrite w WHERE w.ev_class = a.source AND w.ev_type = '1'), '')
                 || coalesce((SELECT ';' || string_agg(format('%s:%s', c.attnum, c.xmin), ',' ORDER BY c.attnum)
                              FROM pg_attribute c WHERE c.attrelid = a.source AND c.attnum > 0 AND NOT c.attisdropped
                                AND position(c.attname::text IN a.rows_where) > 0), '')
                 || coalesce((SELECT ';' || string_agg(format('%s:%s', g.oid, g.xmin), ',' ORDER BY g.oid)
                              FROM pg_trigger g WHERE g.tgfoid = 'docsearch.attached_changed'::regproc
                                AND g.tgrelid = ANY (ARRAY[a.source::oid] || ARRAY(SELECT w.source::oid FROM docsearch.watched_table w
                                                                                   WHERE w.attached_id = a.id))
                                AND starts_with(g.tgname::text, format('docsearch_%s_', a.id))), '')
                 || coalesce((SELECT ';policies' || coalesce(string_agg(format('%s:%s', p.oid, p.xmin), ',' ORDER BY p.oid), '')
                              FROM pg_class r LEFT JOIN pg_policy p ON p.polrelid = r.oid
                              WHERE r.oid = a.source AND r.relrowsecurity AND r.relforcerowsecurity HAVING count(r.oid) > 0), '') END
          FROM unnest(array_remove(ARRAY[a.key_column, a.title_column, a.body_column, a.category_column,
                                         a.published_at_column, a.changed_at_column] || a.metadata_columns
                                   || a.questions_column, NULL))
               WITH ORDINALITY AS n(name, place)
          LEFT JOIN pg_attribute t ON t.attrelid = a.source AND t.attname = n.name AND t.attnum > 0 AND NOT t.attisdropped)"
    };
}

/// The condition that a table `a` has another shape than when it was read.
macro_rules! is_reshaped {
    () => {
        concat!("coalesce(", crate::tables::table_shape::shape!(), " <> a.shape, false)")
    };
}

pub(crate) use {is_reshaped, shape};
