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
        serde_json::Value::Object(get.matter.metadata.clone()),
        serde_json::json!({"method": "GET", "path": "/pets/{id}", "tags": ["pets"], "server": "https://eu.pets.test/v2"})
    );
    assert_eq!(
        get.body,
        "# getPet\n\n`GET /pets/{id}`\n\nFind a pet\n\nLooks it up | by id.\n\n## Parameters\n\n\
         | Name | In | Type | Required | Description |\n| --- | --- | --- | --- | --- |\n\
         | `fields` | query | array of string | no | Items: One of `name`, `tag`. |\n\
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

/// The bodies of a description in YAML, in one text.
fn bodies(text: &str) -> String {
    let drafts = read(text).unwrap();
    drafts.into_iter().map(|draft| draft.body).collect()
}

/// Checks that the body has all parts, in this order.
fn assert_in_order(body: &str, parts: &[&str]) {
    let mut at = 0;
    for part in parts {
        let found = body[at..].find(part);
        at += found.unwrap_or_else(|| panic!("{part:?} is missing or too early in {body}")) + part.len();
    }
}

#[test]
fn values_are_described_behind_combinations_items_and_references() {
    let text = "\
openapi: 3.1.0
info: {title: Harbour}
paths:
  /ships:
    get:
      parameters:
        - name: flag
          in: query
          schema: {oneOf: [{$ref: '#/components/schemas/Flag'}, {type: 'null'}]}
        - name: sort
          in: query
          schema: {type: array, items: {type: string, enum: [age, size]}, maxItems: 2}
      responses:
        200:
          description: Ships
          content:
            application/json:
              schema:
                allOf:
                  - {$ref: '#/components/schemas/Page'}
                  - properties:
                      ships: {type: array, items: {$ref: '#/components/schemas/Ship'}}
                      byPort: {additionalProperties: {type: integer, minimum: 1, description: Berths in use}}
components:
  schemas:
    Flag: {type: string, description: Two letters, pattern: '^[A-Z]{2}$', default: SE}
    Page:
      description: A page of results.
      properties: {next: {type: string, format: uri, description: Where to go on}}
    Ship:
      description: Anything that floats.
      oneOf: [{$ref: '#/components/schemas/Ferry'}, {$ref: '#/components/schemas/Tug'}]
      discriminator: {propertyName: kind, mapping: {f: '#/components/schemas/Ferry'}}
    Ferry:
      description: Carries cars.
      properties:
        kind: {const: f}
        rows: {anyOf: [{type: integer, exclusiveMinimum: 0}, {const: none, description: For passengers only}]}
    Tug: {title: Tugboat, properties: {kind: {const: t}, pull: {type: number, default: 40, description: In tonnes}}}
";
    let body = bodies(text);
    assert_in_order(
        &body,
        &[
            "| `flag` | query | string or null | no | Two letters Default: `SE`. Pattern: `^[A-Z]{2}$`. |",
            "| `sort` | query | array of string | no | Maximum items: `2`. Items: One of `age`, `size`. |",
            "A page of results.",
            "- `next` (string (uri)): Where to go on\n",
            "- `ships` (array of `Ship`): Items: Anything that floats. `kind` is the discriminator: `f` is `Ferry`.\n",
            "  - `Ferry`: Carries cars.\n",
            "    - `kind` (string): Always `f`.\n",
            "    - `rows` (integer or string)\n",
            "      - integer: Greater than: `0`.\n",
            "      - string: For passengers only Always `none`.\n",
            "  - `Tug`: Tugboat.\n",
            "    - `kind` (string): Always `t`.\n",
            "    - `pull` (number): In tonnes Default: `40`.\n",
            "- `byPort` (map of integer): Values: Berths in use Minimum: `1`.\n",
        ],
    );
}

#[test]
fn headers_links_callbacks_examples_and_encodings_are_shown() {
    let text = "\
openapi: 3.0.3
info: {title: Harbour, termsOfService: https://h.test/terms, contact: {name: Master, email: m@h.test}}
servers: [{url: 'https://{port}.h.test', description: Live, variables: {port: {default: oslo, enum: [oslo, bergen], description: The port}}}]
paths:
  /berths:
    summary: Berths of a port
    post:
      externalDocs: {url: https://h.test/more, description: More}
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, properties: {photo: {type: string, format: binary}}}
            encoding: {photo: {contentType: image/png, headers: {X-Size: {description: Pixels, schema: {type: integer}}}}}
      responses:
        '201':
          description: Booked
          headers:
            Location: {$ref: '#/components/headers/Location'}
          content:
            application/json:
              schema: {type: object}
              examples:
                small: {summary: A small one, value: {id: 7, name: quay}}
          links:
            cancel: {operationId: cancelBerth, description: Gives it back, parameters: {id: $response.body#/id}}
      callbacks:
        taken:
          '{$request.body#/url}':
            post:
              summary: The berth was taken
              requestBody: {content: {application/json: {schema: {properties: {by: {description: Who took it}}}}}}
              responses: {'204': {description: Noted}}
      x-codeSamples: [{lang: sh, source: curl h.test}]
components:
  headers: {Location: {required: true, description: Where it is, schema: {type: string, format: uri}}}
  securitySchemes:
    login:
      type: oauth2
      flows: {clientCredentials: {tokenUrl: https://h.test/token, scopes: {'berths:write': Books berths}}}
webhooks:
  storm:
    post:
      description: A storm is near.
      requestBody: {content: {application/json: {example: {wind: 12}}}}
";
    let drafts = read(text).unwrap();
    assert_in_order(
        &drafts[0].body,
        &[
            "- Terms of service: https://h.test/terms\n- Contact: Master, m@h.test",
            "- `https://oslo.h.test`: Live\n  - `port`: The port One of `oslo`, `bergen`. Default: `oslo`.",
            "- `login` (OAuth 2)\n  - `clientCredentials`: token `https://h.test/token`\n    - `berths:write`: Books berths",
            "## Operations\n\n- `POST /berths`\n\n## Webhooks\n\n- `POST storm`\n",
        ],
    );
    assert_in_order(
        &drafts[1].body,
        &[
            "Berths of a port",
            "[More](https://h.test/more)",
            "- `photo` (string (binary))",
            "Part `photo`: `image/png`\n\nHeaders:\n\n- `X-Size` (integer): Pixels",
            "**201**: Booked\n\nHeaders:\n\n- `Location` (string (uri), required): Where it is",
            "Example `small`: A small one\n\n```json\n{\n  \"id\": 7,\n  \"name\": \"quay\"\n}\n```",
            "- `cancel` (`cancelBerth`): Gives it back `id`: `$response.body#/id`.",
            "## Callbacks\n\n### `taken`: `POST {$request.body#/url}`\n\nThe berth was taken\n\n#### Request body",
            "- `by` (any): Who took it",
            "#### Responses\n\n**204**: Noted",
            "## Code samples\n\n**sh**\n\n```sh\ncurl h.test\n```",
        ],
    );
    assert_eq!(drafts[2].slug_suffix.as_deref(), Some("post-storm"));
    assert_eq!(drafts[2].matter.metadata["webhook"], "storm");
    assert_in_order(
        &drafts[2].body,
        &["`POST storm`", "A storm is near.", "{\n  \"wind\": 12\n}"],
    );
}

#[test]
fn descriptions_with_code_and_lists_keep_their_blocks() {
    let text = "\
openapi: 3.0.3
info: {title: Kit}
paths:
  /a:
    get:
      parameters:
        - name: query
          in: query
          description: |
            An expression:

            ```
            a  AND
              b
            ```
          schema: {type: string}
      responses:
        '200':
          description: Fine
          content:
            application/json:
              schema:
                properties:
                  state:
                    description: |
                      # States
                      - new
                      - old
";
    let body = bodies(text);
    assert_in_order(
        &body,
        &[
            "| `query` | query | string | no |  |\n\n`query`:\n\nAn expression:\n\n```\na  AND\n  b\n```\n",
            "- `state` (any):\n\n  **States**\n  - new\n  - old\n",
        ],
    );
}

#[test]
fn schemas_that_no_operation_lists_are_a_document() {
    let text = "\
openapi: 3.0.3
info: {title: Kit}
paths: {/a: {get: {responses: {'200': {description: x, content: {application/json: {schema: {$ref: '#/components/schemas/Used'}}}}}}}}
components:
  schemas:
    Used: {properties: {a: {type: string}}}
    Unused: {description: Of no operation, properties: {b: {$ref: '#/components/schemas/Used'}, c: {$ref: '#/components/schemas/Unused'}}}
";
    let drafts = read(text).unwrap();
    let last = drafts.last().unwrap();
    assert_eq!(last.slug_suffix.as_deref(), Some("schemas"));
    assert_eq!(
        last.body,
        "# Kit schemas\n\n## `Unused`\n\nType: object\n\nOf no operation\n\n- `b` (`Used`)\n- `c` (`Unused`): Of no operation\n"
    );
}

proptest::proptest! {
    /// Each word at a keyword that describes something is in a document, however the schemas around it nest.
    #[test]
    fn no_description_is_lost(shape in proptest::collection::vec(0usize..9, 0..7), named in 0usize..3) {
        let mut number = 0;
        let mut word = || { number += 1; format!("word{number}") };
        let mut schema = serde_json::json!({"type": "string", "description": word(), "enum": [word()], "default": word()});
        let mut schemas = serde_json::Map::new();
        for (depth, kind) in shape.iter().enumerate() {
            if depth % 3 == named {
                let name = format!("S{depth}");
                schemas.insert(name.clone(), schema);
                schema = serde_json::json!({"$ref": format!("#/components/schemas/{name}")});
            }
            let other = serde_json::json!({"type": "integer", "description": word()});
            schema = match kind {
                0 => serde_json::json!({"type": "array", "description": word(), "items": schema}),
                1 => serde_json::json!({"oneOf": [other, schema], "description": word()}),
                2 => serde_json::json!({"anyOf": [{"type": "null"}, schema]}),
                3 => serde_json::json!({"allOf": [other, schema]}),
                4 => serde_json::json!({"type": "object", "additionalProperties": schema, "title": word()}),
                5 => serde_json::json!({"type": "object", "properties": {"one": other, "two": schema}}),
                6 => serde_json::json!({"type": "object", "patternProperties": {"^x": schema}}),
                7 => serde_json::json!({"type": "array", "prefixItems": [other, schema]}),
                _ => serde_json::json!({"not": {"const": word()}, "then": schema}),
            };
        }
        let text = serde_json::json!({"openapi": "3.1.0", "info": {}, "components": {"schemas": schemas}, "paths": {"/a": {"get": {
            "parameters": [{"name": "p", "in": "query", "schema": schema.clone()}],
            "responses": {"200": {"description": "x", "headers": {"h": {"schema": schema.clone()}}, "content": {"a/b": {"schema": schema}}}},
        }}}}).to_string();
        let drafts = read(&text).unwrap();
        let all: String = drafts.iter().map(|draft| draft.body.as_str()).collect();
        let words = |text: &str| -> HashSet<String> {
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with("word")).map(str::to_owned).collect()
        };
        proptest::prop_assert_eq!(words(&all), words(&text), "{}\n{}", text, all);
    }
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

#[test]
fn descriptions_in_utf_16_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.yaml");
    let written = |text: &str| {
        let bytes = std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes);
        std::fs::write(&path, bytes.collect::<Vec<u8>>()).unwrap();
        is_likely(&path)
    };
    assert!(written("openapi: 3.1.0\ninfo: {title: Grüße}\n"));
    assert!(!written("title: Grüße\n"));
}
