//! Whether the columns of an attached table are still those that were read. Changes of the table itself fire no trigger: a
//! column that was dropped and added again, renamed or given another type may hold other keys and texts.

/// What catalogs say about the columns of the table of a row `a`, and about the query of a view; NULL while a column is
/// missing. The version of a catalog row is the transaction that wrote it.
macro_rules! shape {
    () => {
        "(SELECT CASE WHEN bool_and(t.attnum IS NOT NULL) THEN
                 string_agg(format('%s:%s', t.attnum, t.xmin), ',' ORDER BY n.place)
                 || coalesce((SELECT ',' || w.xmin::text FROM pg_rewrite w WHERE w.ev_class = a.source AND w.ev_type = '1'), '') END
          FROM unnest(array_remove(ARRAY[a.key_column, a.title_column, a.body_column, a.category_column,
                                         a.published_at_column, a.changed_at_column] || a.metadata_columns, NULL))
               WITH ORDINALITY AS n(name, place)
          LEFT JOIN pg_attribute t ON t.attrelid = a.source AND t.attname = n.name AND t.attnum > 0 AND NOT t.attisdropped)"
    };
}

/// That a table `a` is not as it was when it was read.
macro_rules! is_reshaped {
    () => {
        concat!("coalesce(", crate::tables::table_shape::shape!(), " <> a.shape, false)")
    };
}

pub(crate) use {is_reshaped, shape};
