// The contents: a search in them, and a mark at the section that is being read.
const search = document.querySelector("nav form");
const sections = Array.from(document.querySelectorAll("nav a"), (link) => {
  const id = link.hash.slice(1);
  const section = document.getElementById(id).closest("article, section");
  // What is marked: paths, parameters, members, headers and codes. The text is searched too.
  const terms = section.querySelectorAll(".method, .failures strong, .guide h3, :not(pre) > code");
  const title = `${link.textContent} ${id}`;
  const note = link.appendChild(document.createElement("small"));
  const text = `${title} ${section.textContent}`.toLowerCase();
  return { link, section, terms: [...terms], text, note };
});
let found = [];

search.addEventListener("input", () => {
  document.querySelector(".contents").open = true;
  const words = search.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text, word) => text.toLowerCase().includes(word);
  found = sections.flatMap(({ link, terms, text, note }) => {
    const matches = terms.filter((term) => words.some((word) => has(term.textContent, word)));
    const names = [...new Set(matches.map((term) => term.textContent))];
    const isFound = words.every((word) => text.includes(word));
    link.parentElement.hidden = !isFound;
    note.textContent = names.slice(0, 4).join(", ");
    return isFound ? [{ link, matches }] : [];
  });
  const ranges = found.flatMap(({ matches }) => matches).map((term) => {
    const range = new Range();
    range.selectNodeContents(term);
    return range;
  });
  if ("highlights" in CSS) CSS.highlights.set("found", new Highlight(...ranges));
  search.querySelector("output").textContent = words.length
    ? `${found.length} of ${sections.length} sections`
    : "";
});

search.addEventListener("submit", (event) => {
  event.preventDefault();
  found[0]?.link.click();
});

document.querySelector("nav").addEventListener("click", (event) => {
  const match = found.find(({ link }) => link.contains(event.target))?.matches[0];
  if (match) requestAnimationFrame(() => match.scrollIntoView({ block: "center" }));
});

// On a phone, sections are folded until somebody opens them.
const folds = document.querySelectorAll(".fold");
if (matchMedia("(max-width: 52rem)").matches) {
  for (const fold of folds) fold.open = false;
}
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target?.closest(".fold");
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

let current;
function mark() {
  const read = sections.findLast(({ section }) => section.getBoundingClientRect().top < 60)?.link;
  if (read === current) return;
  current?.removeAttribute("aria-current");
  current = read;
  if (!current) return;
  current.setAttribute("aria-current", "true");
  const nav = current.closest("nav");
  nav.scrollTop = current.offsetTop - nav.clientHeight / 2;
}
addEventListener("scroll", mark, { passive: true });
mark();
