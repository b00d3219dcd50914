// Asks a server a few things through the official TypeScript SDKs and prints what they got.
//
//   node client.mjs PACKAGES v1|v2 http URL
//   node client.mjs PACKAGES v1|v2 stdio COMMAND ARGUMENT...
//
// v1 begins with `initialize`; v2 asks for the revision without it.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, generation, transportName, target, ...rest] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));

async function parts() {
  if (generation === "v1") {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, options: {} };
  }
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, options: { versionNegotiation: { mode: "auto" } } };
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport, options } = await parts();
const client = new Client({ name: "tests", version: "1.0.0" }, options);
await client.connect(
  transportName === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args: rest, env: process.env }),
);
const tools = await client.listTools();
const found = await client.callTool({ name: "search_docs", arguments: { query: "retry in kit" } });
const missing = await client.callTool({ name: "load_doc", arguments: { slug: "kit/guides/retri" } });
const resource = await client.readResource({ uri: "docsearch://kit/guides/retry" });
console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion?.() ?? null,
    tools: tools.tools.map((tool) => tool.name),
    text: found.content[0].text,
    missing: [missing.isError, missing.content[0].text],
    resource: resource.contents[0].text,
  }),
);
await client.close();
