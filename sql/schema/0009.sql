CREATE TABLE docsearch.model_grant (
    model_id int NOT NULL REFERENCES docsearch.model ON DELETE CASCADE,
    role regrole NOT NULL,
    PRIMARY KEY (model_id, role)
);
COMMENT ON TABLE docsearch.model_grant IS 'roles that may give a remote model to projects, whose documents are then sent to its endpoint';
COMMENT ON COLUMN docsearch.model_grant.model_id IS 'the model';
COMMENT ON COLUMN docsearch.model_grant.role IS 'the role; its members may, too';

CREATE TRIGGER project_model BEFORE INSERT OR UPDATE OF model_id, next_model_id ON docsearch.project
    FOR EACH ROW EXECUTE FUNCTION docsearch.project_model();
