//! Small descriptions of each version.

use super::*;

const PETS: &str = "\
openapi: 3.1.0
info:
  title: Pet store
  version: 1.10
  description: |
    # Start here
    All about pets.
servers:
  - url: https://{region}.pets.test/v2/
    variables: {region: {default: eu}}
tags:
  - {name: pets, description: Animals}
security:
  - token: []
paths:
  /pets/{id}:
    parameters:
      - $ref: '#/components/parameters/Id'
    get:
      operationId: getPet
      summary: Find a pet
      tags: [pets]
      description: Looks it up | by id.
      parameters:
        - {name: fields, in: query, schema: {type: array, items: {type: string, enum: [name, tag]}}}
      responses:
        200:
          description: The pet
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Pet'}
        default: {description: An error}
    delete:
      deprecated: true
      security: []
      responses: {'204': {description: Gone}}
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
  parameters:
    Id: {name: id, in: path, required: true, schema: {type: integer, format: int64, minimum: 1}}
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: {type: string, description: What it is called}
        parent: {$ref: '#/components/schemas/Pet'}
        toys:
          type: array
          items: {type: object, properties: {color: {type: [string, 'null']}}}
";

#[test]
fn every_operation_is_a_document() {
    let drafts = read(PETS).unwrap();
    let suffixes: Vec<Option<&str>> = drafts.iter().map(|draft| draft.slug_suffix.as_deref()).collect();
    assert_eq!(suffixes, [None, Some("getPet"), Some("delete-pets-id")]);
    let get = &drafts[1];
    assert_eq!(get.matter.title.as_deref(), Some("getPet"));
    assert_eq!(get.matter.summary.as_deref(), Some("Find a pet"));
    assert_eq!(get.matter.keywords, ["GET /pets/{id}", "getPet"]);
    assert_eq!(
        Value::Object(get.matter.metadata.clone()),
        serde_json::json!({"method": "GET", "path": "/pets/{id}", "tags": ["pets"], "server": "https://eu.pets.test/v2"})
    );
    assert_eq!(
        get.body,
        "# getPet\n\n`GET /pets/{id}`\n\nFind a pet\n\nLooks it up | by id.\n\n## Parameters\n\n\
         | Name | In | Type | Required | Description |\n| --- | --- | --- | --- | --- |\n\
         | `fields` | query | array of string | no |  |\n\
         | `id` | path | integer (int64) | yes | Minimum: `1`. |\n\n\
         ## Responses\n\n**200**: The pet\n\n`application/json`\n\nType: `Pet`\n\n\
         - `name` (string, required): What it is called\n\
         - `parent` (`Pet`)\n\
         - `toys` (array of object)\n  - `color` (string or null)\n\n\
         **Other statuses**: An error\n\n## Security\n\n- `token` (HTTP bearer)\n"
    );
    assert!(drafts[2].body.contains("**Deprecated.**"));
    assert!(!drafts[2].body.contains("Security"));
}

#[test]
fn the_whole_is_a_document() {
    let drafts = read(PETS).unwrap();
    let body = &drafts[0].body;
    for part in [
        "# Pet store\n",
        "## Start here\nAll about pets.",
        "- `https://eu.pets.test/v2`",
        "- `token` (HTTP bearer)",
        "- pets: Animals",
        "- `GET /pets/{id}`: Find a pet\n- `DELETE /pets/{id}`\n",
    ] {
        assert!(body.contains(part), "{part:?} is missing in {body}");
    }
}

#[test]
fn swagger_in_json() {
    let drafts = read(
        r##"{"basePath": "/v1", "swagger": "2.0", "host": "api.test", "schemes": ["http"], "info": {"title": "Old", "version": "1"},
        "definitions": {"User": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        "paths": {"/users": {"post": {"parameters": [
            {"name": "user", "in": "body", "schema": {"$ref": "#/definitions/User"}},
            {"name": "dry", "in": "query", "type": "boolean", "default": false}],
          "responses": {"201": {"description": "Created", "schema": {"$ref": "#/definitions/User"}}}}}}}"##,
    )
    .unwrap();
    let body = &drafts[1].body;
    assert_eq!(drafts[1].matter.title.as_deref(), Some("POST /users"));
    assert_eq!(drafts[1].slug_suffix.as_deref(), Some("post-users"));
    assert_eq!(drafts[1].matter.metadata["server"], "http://api.test/v1");
    assert!(body.contains("| `dry` | query | boolean | no | Default: `false`. |"));
    assert!(body.contains("## Request body\n\nType: `User`\n\n- `id` (integer)"));
}

#[test]
fn cycles_and_missing_references_end() {
    let drafts = read(
        r##"{"openapi": "3.0.0", "info": {}, "paths": {"/a": {"get": {"responses": {"200": {"description": "x", "content": {
        "application/json": {"schema": {"$ref": "#/a"}}}}}}}}, "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}"##,
    )
    .unwrap();
    assert_eq!(drafts.len(), 2);
}

#[test]
fn other_data_is_no_description() {
    assert!(is_likely_text(PETS.as_bytes()));
    assert!(is_likely_text(b"{\"info\": {}, \"swagger\" : \"2.0\"}"));
    assert!(!is_likely_text(b"dependencies:\n  openapi: 3.0\n"));
    assert!(!is_likely_text(b"{\"name\": \"openapi\", \"version\": \"3\"}"));
    assert!(matches!(read("{\"a\": 1}"), Err(Unreadable::NoDocumentation(_))));
    assert!(matches!(read("{"), Err(Unreadable::Malformed { .. })));
}
