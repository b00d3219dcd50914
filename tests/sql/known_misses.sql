-- Queries that searches of documentation are known to answer badly: names with signs, stop words as names, codes, words
-- with one stem. Each SELECT names those whose page does not come first.
SELECT docsearch.create_project('names') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('names', '[
  {"slug": "attr-might", "title": "Might", "body": "The attribute that says how hard a hero strikes."},
  {"slug": "attr-said", "title": "SAID", "body": "Service account identifier. It is written on the badge."},
  {"slug": "attr-will", "title": "Will", "body": "The attribute that protects against charms."},
  {"slug": "badfn", "title": "badranking::m::foo", "body": "A free function of the module `m` of crate `badranking`. BadRanking is not needed to call it."},
  {"slug": "badranking", "title": "badranking::m::BadRanking", "body": "## `BadRanking::foo`\n\nMakes a new one."},
  {"slug": "clang", "title": "Bindings for C", "body": "A plain header and a static library."},
  {"slug": "cpp", "title": "Bindings for C++", "body": "Link with the C++ runtime; templates are instantiated in the header."},
  {"slug": "cs4710", "title": "CS 4710", "body": "Artificial intelligence; four credits."},
  {"slug": "csharp", "title": "Bindings for C#", "body": "The assembly is signed; load it with reflection."},
  {"slug": "derive", "title": "Attributes", "body": "`#[derive(Debug)]` writes the formatting code. `#[inline]` is a hint. `@media print` is a rule of style sheets, and\n`:has(> img)` selects parents. `$PATH` lists folders. `%timeit` measures a line, `&mut` is a borrow."},
  {"slug": "dotnet", "title": "Running on .NET", "body": "Self-contained builds carry the runtime. `.NET 8` is the oldest one that works."},
  {"slug": "engl4710", "title": "ENGL 4710", "body": "Poetry of the nineteenth century; four credits."},
  {"slug": "errors", "title": "Error codes", "body": "## E0382\n\nA value was used after it had been moved.\n\n## TS2345\n\nThe argument does not fit the parameter.\n\n## ORA-00942\n\nThe table or view is not there.\n\n## 0x80070005\n\nAccess is denied.\n\n## ERR_CONN_REFUSED\n\nNobody listens at the address.\n\n## 42P01\n\nThe relation does not exist."},
  {"slug": "from-into", "title": "From and Into", "body": "Two traits for conversions that cannot fail."},
  {"slug": "fsharp", "title": "Bindings for F#", "body": "Functions are curried before they are exported."},
  {"slug": "go-live", "title": "1st go live", "body": "What to check on the first day in production."},
  {"slug": "hooks-ajax", "title": "woocommerce_ajax_get_endpoint", "body": "Filters the address to which scripts send requests."},
  {"slug": "hooks-init", "title": "woocommerce_init", "body": "Fires when the shop has been set up."},
  {"slug": "hooks-loaded", "title": "woocommerce_loaded", "body": "Fires when all parts of the shop are in memory."},
  {"slug": "hosts", "title": "Network plan", "body": "The printer has 192.168.14.7, the router 192.168.14.1. Logos lie in banner.png and favicon.ico."},
  {"slug": "if-let", "title": "if let", "body": "Runs the block if the pattern fits."},
  {"slug": "ignore-files", "title": "Files that are left out", "body": "Names in `.gitignore` and `.dockerignore` are not copied. A `.npmrc` beside them is read, too."},
  {"slug": "libpaths", "title": "Packages for the R interpreter", "body": "Mount the shared folder first. Then call `.libPaths(\"/shared/r\")` so that the interpreter looks there before it\nlooks into the home folder."},
  {"slug": "multiagent", "title": "Multi-agent planning", "body": "Several agents share a board. Chain-of-thought prompts are kept in a file."},
  {"slug": "no-verify", "title": "Committing in a hurry", "body": "Pass `--no-verify` to skip the hooks. `--no-edit` keeps the message."},
  {"slug": "operators", "title": "Operators", "body": "## `!!`\n\nAsserts that the value is not null.\n\n## `?.`\n\nReads a field if the value is there.\n\n## `??`\n\nGives a default.\n\n## `=>`\n\nSeparates the arguments of an arrow function from its body.\n\n## `<=>`\n\nCompares three ways.\n\n## `|>`\n\nPasses the value on as the first argument.\n\n## `~`\n\nFlips all bits."},
  {"slug": "page-about", "title": "About", "body": "Who makes this program, and since when."},
  {"slug": "parse-messages", "title": "Message functions", "body": "`Msg_MultiStopParse` reads a message that has several stops. `Msg_SingleStopParse` reads one with a single stop."},
  {"slug": "presets", "title": "Workaround presets", "body": "## `workarounds:javaLTSVersions`\n\nKeeps Java at releases with long support.\n\n## `workarounds:typesNodeVersioning`\n\nPins the types of Node."},
  {"slug": "py31", "title": "Release 3.1", "body": "Ordered dictionaries came with 3.1."},
  {"slug": "py310", "title": "Release 3.10", "body": "Structural pattern matching came with 3.10."},
  {"slug": "quotes", "title": "Greeting", "body": "Call `howdy(howdy)` and the program answers. It doesn''t shout."},
  {"slug": "rules", "title": "Detection rules", "body": "RULE-A001 watches for new users. RULE-A002 detects a changed configuration. CVE-2024-1234 is covered by both.\nMS17-010 is covered by ADR-0003."},
  {"slug": "statements-all", "title": "all", "body": "True if every item is true."},
  {"slug": "statements-any", "title": "any", "body": "True if at least one item is true."},
  {"slug": "statements-for", "title": "for", "body": "Walks over the items of a collection."},
  {"slug": "statements-is", "title": "is", "body": "Compares identities."},
  {"slug": "statements-not", "title": "not", "body": "Turns true into false."},
  {"slug": "statements-while", "title": "while", "body": "Repeats the block as long as the condition holds."},
  {"slug": "statements-with", "title": "with", "body": "Opens a resource and closes it at the end of the block."},
  {"slug": "timers", "title": "Timers", "body": "## `app:setTimeout(callback, delay)`\n\nRuns the callback once after the delay.\n\n## `app:clearTimeout(token)`\n\nCancels what `app:setTimeout` has begun."},
  {"slug": "zfs", "title": "ZFS", "body": "Create a pool with two disks and a mirror."}]');
SELECT q.query, q.page, found.slug FROM (VALUES
    ('libpaths', 'libpaths'), ('.libPaths', 'libpaths'), ('gitignore', 'ignore-files'), ('.npmrc', 'ignore-files'),
    ('$PATH', 'derive'), ('%timeit', 'derive'), ('timeit', 'derive'), ('@media', 'derive'), ('media', 'derive'),
    ('&mut', 'derive'), ('#[inline]', 'derive'), (':has()', 'derive'), (':has', 'derive'),
    ('--no-verify', 'no-verify'), ('noverify', 'no-verify'), ('setTimeout', 'timers'), ('app:setTimeout', 'timers'),
    ('app:setTimeout(callback, delay)', 'timers'), ('cleartimeout', 'timers'),
    ('workarounds:javaLTSVersions', 'presets'), ('javaLTSVersions', 'presets'), ('ltsversions', 'presets'),
    ('C++', 'cpp'), ('cpp', 'cpp'), ('C#', 'csharp'), ('csharp', 'csharp'), ('F#', 'fsharp'), ('C', 'clang'),
    ('.NET', 'dotnet'), ('.NET 8', 'dotnet'), ('dotnet', 'dotnet'), ('!!', 'operators'), ('?.', 'operators'),
    ('??', 'operators'), ('=>', 'operators'), ('<=>', 'operators'), ('|>', 'operators'), ('~', 'operators'),
    ('if let', 'if-let'), ('From and Into', 'from-into'), ('for', 'statements-for'), ('not', 'statements-not'),
    ('is', 'statements-is'), ('all', 'statements-all'), ('any', 'statements-any'), ('while', 'statements-while'),
    ('with', 'statements-with'), ('with statement', 'statements-with'), ('how does with work', 'statements-with'),
    ('About', 'page-about'), ('might', 'attr-might'), ('said', 'attr-said'), ('SAID', 'attr-said'),
    ('will', 'attr-will'), ('RULE-A002', 'rules'), ('A002', 'rules'), ('CVE-2024-1234', 'rules'),
    ('MS17-010', 'rules'), ('MS17', 'rules'), ('0003', 'rules'), ('E0382', 'errors'), ('e0382', 'errors'),
    ('error[E0382]', 'errors'), ('TS2345:', 'errors'), ('ORA-00942', 'errors'), ('00942', 'errors'),
    ('0x80070005', 'errors'), ('42P01', 'errors'), ('3.10', 'py310'), ('3.1', 'py31'), ('192.168.14.7', 'hosts'),
    ('192.168.14', 'hosts'), ('banner.png', 'hosts'), ('banner', 'hosts'), ('multi-agent', 'multiagent'),
    ('chain-of-thought', 'multiagent'), ('howdy(howdy)', 'quotes'), ('doesn''t shout', 'quotes'),
    ('"howdy', 'quotes'), ('howdy)', 'quotes'), ('howdy''', 'quotes'), ('howdy\', 'quotes'), ('howdy:*', 'quotes'),
    ('<howdy>', 'quotes'), ('howdy & !x', 'quotes'), ('howdy OR', 'quotes'), ('(howdy | x) <-> y', 'quotes')) q(query, page),
    LATERAL search_docs(q.query, 'names', max_results => 1) found WHERE found.slug <> q.page;

-- Sections with codes, names and operators are found, although small neighbours share a chunk.
SELECT query, section FROM unnest('{setTimeout,javaLTSVersions,E0382,TS2345:,ORA-00942,42P01,!!,?.,<=>,~}'::text[]) query,
    LATERAL search_docs(query, 'names', max_results => 1);

-- The word itself comes before others with its stem.
SELECT docsearch.create_project('stems') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('stems', '[
  {"slug": "protection", "title": "Disabling system integrity protection", "body": "Start in recovery mode and type the command."},
  {"slug": "system-integration", "title": "System integration", "body": "Connect the two systems by a queue. Integrations are listed on the page of the vendor."},
  {"slug": "token-authorization", "title": "Requests and token authorization", "body": "Send the header with each request."},
  {"slug": "token-authority", "title": "Token authority", "body": "Who signs tokens, and where it runs."},
  {"slug": "universal-build", "title": "Making a universal build for all platforms", "body": "Pass the flag twice."},
  {"slug": "university-build", "title": "University build", "body": "The cluster at the university builds at night."},
  {"slug": "positive-index", "title": "Rows with a positive index only", "body": "Negative ones count from the end."},
  {"slug": "position-index", "title": "Position index", "body": "Finds rows by where they stand."},
  {"slug": "express-parser", "title": "The Express parser middleware for JSON", "body": "Reads bodies of requests."},
  {"slug": "expression-parser", "title": "Expression parser", "body": "Turns a formula into a tree."},
  {"slug": "assert", "title": "Note six", "body": "You can always assert that it is incorrect."},
  {"slug": "assertions", "title": "Note four", "body": "(Optional) Define assertions with the kit."}]');
SELECT q.query, q.page, found.slug FROM (VALUES
    ('system integrity', 'protection'), ('integrity', 'protection'), ('system integration', 'system-integration'),
    ('token authorization', 'token-authorization'), ('authorization', 'token-authorization'),
    ('token authority', 'token-authority'), ('universal build', 'universal-build'),
    ('university build', 'university-build'), ('positive index', 'positive-index'),
    ('position index', 'position-index'), ('Express parser', 'express-parser'),
    ('expression parser', 'expression-parser'), ('assert', 'assert'), ('assertions', 'assertions')) q(query, page),
    LATERAL search_docs(q.query, 'stems', max_results => 1) found WHERE found.slug <> q.page;
SELECT rule, raw FROM docsearch.explain_search('integrity', 'system-integration', 'stems') WHERE step = 'penalty';

-- Chinese words within sentences.
SELECT docsearch.create_project('chinese') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('chinese', '[
  {"slug": "auth", "title": "认证", "body": "认证系统使用JWT令牌。令牌在一小时后过期，过期后需要刷新。"},
  {"slug": "cache", "title": "缓存", "body": "缓存可以减少数据库的压力。缓存失效后会重新读取。"},
  {"slug": "database", "title": "数据库", "body": "连接数据库需要用户名和密码。备份每天晚上执行一次。"},
  {"slug": "deploy", "title": "部署", "body": "把构建好的文件上传到服务器，然后重启服务。"},
  {"slug": "fire", "title": "火", "body": "火很热。"},
  {"slug": "log", "title": "日志", "body": "日志按天保存，可以设置级别。错误日志会发送邮件。"},
  {"slug": "request", "title": "请求配置", "body": "创建请求时可以用的配置选项。只有 `url` 是必需的。\n\n## 超时时间\n\n`timeout` 指定请求超时的毫秒数。超过时间后请求会被中断。"},
  {"slug": "test", "title": "单元测试", "body": "单元测试放在旁边的文件夹里，运行命令后会显示覆盖率。"}]');
SELECT q.query, q.page, found.slug FROM (VALUES
    ('请求配置', 'request'), ('超时', 'request'), ('如何设置请求超时？', 'request'), ('令牌过期', 'auth'), ('JWT令牌', 'auth'),
    ('数据库备份什么时候执行', 'database'), ('怎样备份数据库？', 'database'), ('备份', 'database'), ('单元', 'test'), ('火', 'fire'),
    ('热', 'fire'), ('名', 'database')) q(query, page),
    LATERAL search_docs(q.query, 'chinese', max_results => 1) found WHERE found.slug <> q.page;

-- A number beside a name is looked for with it.
SELECT docsearch.create_project('releases') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('releases', jsonb_build_array(
    jsonb_build_object('slug', 'reference/retry', 'title', 'retry_policy', 'body', 'Sets how often a request is sent again, from 0 to 10.'),
    jsonb_build_object('slug', 'changelog', 'title', 'Changelog', 'body', (SELECT string_agg(format(
        E'## 2.%s\n\n- `retry_policy` now accepts %s\n- fixed a crash in `retry_policy`\n\n', i, i), '') FROM generate_series(0, 19) i))));
SELECT q.query, q.page, found.slug FROM (VALUES
    ('retry_policy', 'reference/retry'), ('how do I set the retry policy', 'reference/retry'),
    ('retry_policy 2.7', 'changelog'), ('changelog retry_policy', 'changelog')) q(query, page),
    LATERAL search_docs(q.query, 'releases', max_results => 1) found WHERE found.slug <> q.page;

-- Every part of a long table names its columns.
SELECT docsearch.create_project('tables') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('tables', jsonb_build_array(jsonb_build_object('slug', 'limits', 'title', 'Limits', 'body',
    E'| Setting | Type | Default | What it bounds |\n|---|---|---|---|\n' || (SELECT string_agg(format(
        E'| limit_%s | integer | %s | How many things of kind %s may wait at the same time in the queue of a server |\n', i, i * 10, i), '')
        FROM generate_series(1, 100) i))));
SELECT count(*) > 1 AS several, bool_and(body LIKE '%| Setting | Type | Default | What it bounds |%') AS with_head
FROM docsearch.chunk c JOIN docsearch.project p ON p.id = c.project_id WHERE p.name = 'tables' AND c.kind = 'body';

-- Sections are named as they are written, whatever signs they have.
SELECT count(*) FROM docsearch.index_docs('tables', jsonb_build_array(jsonb_build_object('slug', 'signs', 'title', 'Help', 'body',
    E'# Help\n\n## 24/7 Support\n\nBy telephone.\n\n## A > B\n\nCompared.\n\n## [My résumé](https://example.org/cv)\n\nOf a person.\n\n## `Vec<T>` and `&str`\n\n'
    'Two types.\n\n## What''s new? (2024)\n\nMuch.\n\n## *Emphasis* and **strong**\n\nBoth.\n')));
SELECT asked, split_part(load_doc('tables/signs', section => asked, include_metadata => false), chr(10), 3) AS heading
FROM unnest(ARRAY['24/7 Support', 'Help > 24/7 Support', 'A > B', 'Help > A > B', 'My résumé', 'Vec<T> and &str', 'What''s new? (2024)',
    'whats-new-2024', 'Emphasis and strong', '247-support']) asked;
