// Where this script came from is where the server is.
const SOURCE = (document.currentScript ?? document.querySelector('script[src*="docsearch.js"]'))?.src ?? location.href;
const HOME = new URL(".", SOURCE).href;
// Attributes that the address of the script may have.
const PLACED = ["feedback", "filter", "lang", "no-slash", "open-in", "placeholder", "project", "results", "server", "strings", "target", "token"];
