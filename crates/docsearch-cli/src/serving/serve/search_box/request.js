// Requests to the server. Without a token they have no header of their own, so no preflight precedes them.

// The server answers 429 if an address asks too often.
const TRIES = 3;
const RETRY = 400;
// How long results wait for suggestions, which otherwise would move them.
const SUGGESTIONS_WAIT = 150;
const SUGGESTIONS = 3;

const wait = (time) => new Promise((done) => setTimeout(done, time));

class Server {
  constructor(address, token) {
    this.address = address.replace(/\/+$/, "");
    this.headers = token ? { Authorization: `Bearer ${token}` } : {};
  }

  async get(path, parameters, signal) {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${this.address}${path}?${new URLSearchParams(parameters)}`, { headers: this.headers, signal });
      if (response.ok) return response.json();
      if (response.status !== 429 || tries === TRIES) {
        const { error } = await response.json().catch(() => ({}));
        throw new Error(`${response.status} ${error?.message ?? ""}`);
      }
      await wait(RETRY * tries);
    }
  }

  /** The answer to a query, with suggestions if they come in time. */
  async search(text, { projects, filter, results }, signal) {
    const shared = projects.map((project) => ["project", project]);
    const filtered = filter ? [["filter", filter]] : [];
    const answer = this.get("/v1/search", [["query", text], ["max_results", results], ...shared, ...filtered], signal);
    // Suggestions know no filters: one could lead to nothing.
    const suggested = filter ? { suggestions: [] } : this.get("/v1/suggest", [["text", text], ["max_results", 2 * SUGGESTIONS], ...shared], signal);
    // A search without suggestions is still one.
    const suggestions = Promise.resolve(suggested).then((found) => found.suggestions, () => []);
    const found = await answer;
    return { ...found, completions: await Promise.race([suggestions, wait(SUGGESTIONS_WAIT).then(() => [])]) };
  }

  /** Says which result was opened, also while the page closes. */
  clicked(token, reference) {
    const body = JSON.stringify({ token, kind: "click", reference });
    const options = { method: "POST", keepalive: true, headers: this.headers, body };
    fetch(`${this.address}/v1/feedback`, options).catch(() => {});
  }

  /** The address of a section at its source, or on the page of this server. */
  link({ project, slug }, { url, anchor }, isOwn) {
    const source = !isOwn && url && URL.canParse(url) ? new URL(url) : undefined;
    // A source is a text of the document's author.
    if (source && /^https?:$/.test(source.protocol)) return source.href;
    const path = [project, ...slug.split("/")].map(encodeURIComponent).join("/");
    return `${this.address}/doc/${path}${anchor ? `#${encodeURIComponent(anchor)}` : ""}`;
  }
}
