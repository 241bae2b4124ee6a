// Sends the calls that somebody tries.
const access = document.getElementById("access").elements;

// A reload of the tab keeps the key; closing the tab forgets it.
// Each form has a field for it; what is typed in one stands in all.
const keys = document.querySelectorAll("[data-key]");
for (const key of keys) {
  key.value = sessionStorage.getItem("key") ?? "";
  key.addEventListener("input", () => {
    sessionStorage.setItem("key", key.value);
    for (const each of keys) each.value = key.value;
    if (key !== access.key) access.key.dispatchEvent(new Event("input"));
  });
}
document.getElementById("access").addEventListener("submit", (event) => event.preventDefault());

for (const form of document.querySelectorAll("form.try")) {
  const { body, "Idempotency-Key": key } = form.elements;
  // What is sent twice, by a double click or because no response came, is done once.
  const renew = () => { if (key) key.value = randomKey(); };
  renew();
  form.addEventListener("input", (event) => { if (event.target !== key) renew(); });
  form.querySelector("[data-renews]")?.addEventListener("click", renew);
  form.querySelector("[data-fills]")?.addEventListener("click", () => {
    body.value = body.placeholder;
    renew();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.dataset.isSending) return;
    form.dataset.isSending = "yes";
    const output = form.querySelector("output");
    output.textContent = "Sending…";
    try {
      output.textContent = await send(form);
    } catch (error) {
      output.textContent = `The request could not be sent: ${error.message}`;
    }
    delete form.dataset.isSending;
  });
}

function randomKey() {
  // Unlike randomUUID, this works over plain HTTP too.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(form) {
  const headers = new Headers({ Authorization: `Bearer ${access.key.value.trim()}` });
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const { name, value, dataset } of form.querySelectorAll("[data-in]")) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value && dataset.in === "query") query.set(name, value);
    else if (value && dataset.in === "header") headers.set(name, value);
  }
  const body = form.elements.body?.value;
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const url = access.server.value + path + (query.size ? `?${query}` : "");
  const response = await fetch(url, { method: form.dataset.method, headers, body });
  const answer = pretty(await response.text());
  const repeated = response.headers.has("Idempotent-Replayed") ? ", the first response again" : "";
  return `${response.status}${repeated}\n\n${answer}\n\n${shown(response.headers)}`;
}

function shown(headers) {
  return [...headers].map(([name, value]) => `${name}: ${value}`).join("\n");
}

function pretty(text) {
  // An id may be larger than the numbers that JavaScript can hold: keep its digits.
  const exact = (_, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value);
  try {
    return JSON.stringify(JSON.parse(text, exact), null, 2);
  } catch {
    return text;
  }
}
