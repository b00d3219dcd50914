CREATE FUNCTION docsearch.embed(query text, model text DEFAULT NULL) RETURNS @extschema:vector@.vector
    LANGUAGE sql STABLE PARALLEL RESTRICTED COST 10000
    SET search_path = pg_catalog, pg_temp
    AS $$ SELECT docsearch.query_embedding(query, model)::@extschema:vector@.vector $$;

CREATE FUNCTION docsearch.embed_passages(passages text[], model text DEFAULT NULL) RETURNS @extschema:vector@.vector[]
    LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100000
    SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT array_agg(p.embedding::@extschema:vector@.vector ORDER BY p.ordinal)
        FROM docsearch.passage_embeddings(passages, model) p
    $$;
