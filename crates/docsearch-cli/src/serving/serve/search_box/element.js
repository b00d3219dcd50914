// <doc-search>: a button, and a dialog with a combobox.

// Milliseconds without a key before a search.
const PAUSE = 120;
const RESULTS = 8;
const MOST_RESULTS = 20;
const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);
// Elements in the document, the oldest first: it has the keys.
const elements = new Set();

const SVG = "http://www.w3.org/2000/svg";
function icon() {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M4 11a7 7 0 1 0 14 0 7 7 0 1 0-14 0M16 16l5 5");
  svg.append(path);
  return svg;
}

class DocSearch extends HTMLElement {
  static observedAttributes = ["lang", "placeholder", "strings"];
  #own;
  #text;
  #plural;
  #button = make("button", { type: "button", part: "button", class: "button", "aria-haspopup": "dialog", "aria-keyshortcuts": "Control+K Meta+K" });
  #input = make("input", {
    type: "text", part: "input", role: "combobox", "aria-autocomplete": "list", "aria-controls": "list", "aria-expanded": "false",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "go", maxlength: "1000", autofocus: "",
  });
  #close = make("button", { type: "button", part: "close", class: "close" }, "✕");
  #status = make("p", { role: "status", part: "status", class: "status", dir: "auto" });
  #mean = make("p", { part: "mean", class: "mean", hidden: "" });
  #list = make("div", { role: "listbox", id: "list", part: "list", class: "list" });
  #keys = make("div", { part: "keys", class: "keys", "aria-hidden": "true" });
  #bar = make("div", { class: "bar", part: "bar" }, icon(), this.#input, this.#close);
  #dialog = make("dialog", { part: "dialog" }, this.#bar, this.#status, this.#mean, this.#list, this.#keys);
  #root = make("div", { class: "root" }, this.#button, this.#dialog);
  #running;
  #typing;
  // The text that is searched, the text that the list answers, and whether the first result is opened when it comes.
  #asked;
  #shown = "";
  #opens = false;
  #active;
  #token;

  constructor() {
    super();
    const shadow = this.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [STYLE];
    shadow.append(this.#root);
    this.#button.addEventListener("click", () => this.open());
    this.#close.addEventListener("click", () => this.close());
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.close());
    this.#dialog.addEventListener("close", () => this.#stop());
    this.#input.addEventListener("keydown", (event) => this.#onKey(event));
    this.#input.addEventListener("input", (event) => event.isComposing || this.#later());
    this.#input.addEventListener("compositionend", () => this.#later());
    this.#list.addEventListener("click", (event) => this.#onClick(event));
    this.#list.addEventListener("pointermove", (event) => this.#activate(event.target.closest(".option") ?? this.#active, false));
  }

  connectedCallback() {
    elements.add(this);
    this.#write();
  }

  disconnectedCallback() {
    elements.delete(this);
    this.close();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.#write();
  }

  /** Words of the box that replace its own: an object with the keys of `strings.js`. */
  get strings() {
    return this.#own ?? {};
  }

  set strings(words) {
    this.#own = words;
    if (this.isConnected) this.#write();
  }

  open() {
    if (this.#dialog.open) return;
    this.#scheme();
    this.#dialog.showModal();
    this.#input.focus();
    this.#input.select();
    this.#search();
  }

  close() {
    this.#dialog.close();
  }

  toggle() {
    if (this.#dialog.open) this.close();
    else this.open();
  }

  /** Follows the preference of the reader, unless the site chooses between light and dark. */
  #scheme() {
    this.#root.classList.toggle("own-scheme", getComputedStyle(this).colorScheme === "normal");
  }

  /** Writes the words in the language of the box. */
  #write() {
    let own = this.#own;
    try {
      own ??= JSON.parse(this.getAttribute("strings") ?? "{}");
    } catch {
      console.warn("doc-search: `strings` is not valid JSON");
    }
    const wanted = this.closest("[lang]")?.lang || navigator.language;
    const language = wanted.toLowerCase().split("-")[0];
    this.#text = { ...STRINGS.en, ...STRINGS[language], ...own };
    this.#plural = (count) => (new Intl.PluralRules(STRINGS[language] || own ? language : "en").select(count) === "one" ? "one" : "other");
    const { search, label, close, results, choose, open } = this.#text;
    const key = (name, ...content) => make("kbd", { part: "key", ...(name ? { "aria-label": name } : {}) }, ...content);
    this.#button.replaceChildren(icon(), make("span", { part: "button-text" }, search), key("", IS_APPLE ? "⌘ K" : "Ctrl K"));
    this.#dialog.setAttribute("aria-label", label);
    this.#input.setAttribute("aria-label", label);
    this.#input.placeholder = this.getAttribute("placeholder") ?? label;
    this.#close.setAttribute("aria-label", close);
    this.#list.setAttribute("aria-label", results);
    this.#keys.replaceChildren(...[["↑ ↓", choose], ["⏎", open], ["Esc", close]].map(([name, does]) => make("span", {}, key("", name), " ", does)));
    if (this.#shown === "") this.#say(this.#text.empty);
    this.#scheme();
  }

  #later() {
    clearTimeout(this.#typing);
    this.#opens = false;
    this.#typing = setTimeout(() => this.#search(), PAUSE);
  }

  /** Ends what runs. An earlier request that is aborted shows nothing. */
  #stop() {
    clearTimeout(this.#typing);
    this.#running?.abort();
    this.#running = this.#asked = undefined;
    this.#opens = false;
    this.#busy(false);
  }

  #busy(is) {
    this.#list.setAttribute("aria-busy", String(is));
    this.#bar.classList.toggle("busy", is);
  }

  async #search() {
    const opens = this.#opens;
    this.#stop();
    this.#opens = opens;
    const text = this.#input.value.trim();
    if (text === this.#shown) return;
    if (!text) return this.#show("", this.#text.empty);
    const mine = (this.#running = new AbortController());
    this.#asked = text;
    this.#busy(true);
    try {
      const answer = await this.#server().search(text, this.#scope(), mine.signal);
      if (mine !== this.#running) return;
      this.#answer(text, answer);
    } catch (failure) {
      if (mine !== this.#running) return;
      console.warn(`doc-search: ${failure.message}`);
      this.#show(undefined, this.#text.error);
    }
    const opensFirst = this.#opens;
    this.#stop();
    if (opensFirst) this.#active?.click();
  }

  #server() {
    return new Server(this.getAttribute("server") ?? HOME, this.getAttribute("token"));
  }

  #scope() {
    const results = Number.parseInt(this.getAttribute("results"), 10) || RESULTS;
    return {
      projects: this.#projects(),
      filter: this.getAttribute("filter"),
      results: Math.min(Math.max(results, 1), MOST_RESULTS),
    };
  }

  #projects() {
    return (this.getAttribute("project") ?? "").split(/\s+/).filter(Boolean);
  }

  #answer(text, answer) {
    const { one, other, none, weak, suggestions } = this.#text;
    const { results } = answer;
    const isRelevant = answer.confidence !== "low";
    const count = this.#plural(results.length) === "one" ? one : other;
    const summary = !results.length ? none : isRelevant ? count.replace("{n}", results.length) : weak;
    const server = this.#server();
    const projects = this.#projects();
    const shown = {
      link: (hit, section) => server.link(hit, section, this.getAttribute("open-in") === "server"),
      showsProject: projects.length !== 1 || projects[0].includes("*"),
    };
    const groups = results.map((hit) => group(hit, shown));
    const corrections = (answer.suggestions ?? []).map(({ suggestion }) => suggestion);
    const others = corrections.length ? [] : completions(answer, text, suggestions);
    this.#token = answer.search_token;
    this.#show(text, summary, [...others, ...groups], corrections);
    const target = this.getAttribute("target");
    this.#options().forEach((found, index) => {
      found.id = `option-${index}`;
      if (target && found.chosen) Object.assign(found, { target, rel: "noopener" });
    });
    if (isRelevant) this.#activate(groups[0]?.firstChild);
  }

  /** Replaces all that is below the text at once, so that nothing moves later. */
  #show(text, summary, content = [], corrections = []) {
    this.#shown = text;
    this.#list.replaceChildren(...content);
    this.#list.scrollTop = 0;
    this.#mean.hidden = !corrections.length;
    this.#mean.replaceChildren(this.#text.mean, ...corrections.flatMap((correction) => {
      const button = make("button", { type: "button", part: "correction", dir: "auto" }, correction);
      button.addEventListener("click", () => this.#complete(correction));
      return [" ", button];
    }));
    this.#input.setAttribute("aria-expanded", String(content.length > 0));
    this.#activate(undefined);
    this.#say(summary);
  }

  #say(text) {
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }

  #options() {
    return [...this.#list.querySelectorAll(".option")];
  }

  #activate(next, scrolls = true) {
    if (next === this.#active) return;
    this.#active?.setAttribute("aria-selected", "false");
    this.#active = next;
    if (!next) return this.#input.removeAttribute("aria-activedescendant");
    next.setAttribute("aria-selected", "true");
    this.#input.setAttribute("aria-activedescendant", next.id);
    if (scrolls) next.scrollIntoView({ block: "nearest" });
  }

  #onKey(event) {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const all = this.#options();
      const step = event.key === "ArrowDown" ? 1 : -1;
      const from = all.indexOf(this.#active);
      if (all.length) this.#activate(all[from < 0 && step < 0 ? all.length - 1 : (from + step + all.length) % all.length]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const text = this.#input.value.trim();
      if (text !== this.#shown) {
        // The list answers an earlier text.
        this.#opens = true;
        if (text !== this.#asked) this.#search();
      } else if (this.#active) {
        const { ctrlKey, metaKey, shiftKey } = event;
        this.#active.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey }));
      }
    }
  }

  #onClick(event) {
    const option = event.target.closest(".option");
    if (option?.completion) this.#complete(option.completion);
    if (!option?.chosen) return;
    const detail = { query: this.#shown, ...option.chosen };
    const goes = this.dispatchEvent(new CustomEvent("doc-search", { detail, bubbles: true, composed: true, cancelable: true }));
    if (!goes) event.preventDefault();
    if (this.hasAttribute("feedback") && this.#token) {
      const { project, slug, anchor } = option.chosen;
      this.#server().clicked(this.#token, `${project}/${slug}${anchor ? `#${anchor}` : ""}`);
    }
    const opensHere = !(event.ctrlKey || event.metaKey || event.shiftKey) && !option.target;
    if (opensHere) this.close();
  }

  #complete(text) {
    this.#input.value = text;
    this.#input.focus();
    this.#search();
  }
}

/** Whether a key that is typed belongs to a field. */
function isTyping(event) {
  const [target] = event.composedPath();
  return target instanceof Element && (target.isContentEditable || target.matches("input, textarea, select"));
}

document.addEventListener("keydown", (event) => {
  const [first] = elements;
  if (!first || event.defaultPrevented || event.isComposing || event.altKey) return;
  const isChord = event.ctrlKey || event.metaKey;
  if (isChord && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    first.toggle();
  } else if (!isChord && event.key === "/" && !isTyping(event) && !first.hasAttribute("no-slash")) {
    event.preventDefault();
    first.open();
  }
});
customElements.define("doc-search", DocSearch);
