// The samples: in one language everywhere, with the key of the tab, and copied by a click.
const samples = [...document.querySelectorAll("details.sample")];

function choose(language) {
  for (const sample of samples) sample.open = sample.dataset.language === language;
}

const chosen = localStorage.getItem("language");
if (samples.some((sample) => sample.dataset.language === chosen)) choose(chosen);

for (const sample of samples) {
  const summary = sample.querySelector("summary");
  summary.addEventListener("click", (event) => {
    if (sample.open) return;
    event.preventDefault();
    const top = summary.getBoundingClientRect().top;
    choose(sample.dataset.language);
    scrollBy(0, summary.getBoundingClientRect().top - top);
    localStorage.setItem("language", sample.dataset.language);
  });
}

const access = document.getElementById("access").elements;
const PLACES = /(os\.environ\["(?:API|KEY)"\]|process\.env\.(?:API|KEY)|\$(?:API|KEY)\b)/;
const codes = Array.from(document.querySelectorAll(".sample code, .guide pre code"), (code) => {
  const source = code.textContent;
  return { code, parts: source.split(source.includes("YOUR_API_KEY") ? /(YOUR_API_KEY)/ : PLACES) };
});

// The base address and the key take the odd parts, of a key that can be no shell command.
function fill() {
  const key = access.key.value.trim();
  const isKey = /^pet_\w+$/.test(key);
  for (const { code, parts } of codes) {
    const filled = parts.flatMap((part, at) => (at % 2 && isKey ? value(part, key) : part));
    code.replaceChildren(...filled);
  }
}

function value(part, key) {
  const quote = part.startsWith("$") || part.startsWith("YOUR") ? "" : '"';
  if (!part.includes("KEY")) return quote + access.server.value + quote;
  const secret = document.createElement("span");
  secret.className = "secret";
  secret.textContent = key;
  return [quote, secret, quote];
}

document.getElementById("access").addEventListener("input", fill);
fill();

// Strings, comments and words of the languages have colours of their own.
const KINDS = /(?<string>"[^"\n]*"|'[^'\n]*')|(?<comment>(?:#|\/\/) .*)|(?<word>\b(?:async|await|const|curl|def|export|import|let|new|return|try|while)\b)/g;
function colour() {
  const found = { string: [], comment: [], word: [] };
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.parentElement.closest("pre code")) continue;
    for (const match of text.data.matchAll(KINDS)) {
      const range = new Range();
      range.setStart(text, match.index);
      range.setEnd(text, match.index + match[0].length);
      found[Object.keys(found).find((kind) => match.groups[kind])].push(range);
    }
  }
  for (const [kind, ranges] of Object.entries(found)) CSS.highlights.set(kind, new Highlight(...ranges));
}
if ("highlights" in CSS) {
  document.getElementById("access").addEventListener("input", colour);
  colour();
}

for (const { code } of codes) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain copy";
  button.textContent = "Copy";
  code.before(button);
  button.addEventListener("click", async () => {
    button.textContent = await copy(code) ? "Copied" : "Selected: copy it with Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 4000);
  });
  // Whoever selects the dots means the key that they stand for.
  code.addEventListener("copy", (event) => {
    const selected = getSelection().getRangeAt(0);
    if (!code.contains(selected.commonAncestorContainer)) return;
    event.clipboardData.setData("text/plain", selected.cloneContents().textContent);
    event.preventDefault();
  });
}

async function copy(code) {
  // Browsers offer the clipboard to pages over HTTPS and on localhost alone.
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch { /* not allowed: try the older way */ }
  }
  getSelection().selectAllChildren(code);
  return document.execCommand("copy");
}
