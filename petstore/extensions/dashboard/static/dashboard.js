"use strict";

// Copying is a convenience: without this script the texts can be selected.
for (const button of document.querySelectorAll("[data-copy]")) {
  const label = [...button.childNodes];
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.textContent = await copy(button) ? "Copied" : "Selected: copy it with Ctrl+C";
    setTimeout(() => button.replaceChildren(...label), 4000);
  });
}

async function copy(button) {
  // Browsers offer the clipboard to pages over HTTPS and on localhost alone.
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      return true;
    } catch { /* not allowed: try the older way */ }
  }
  getSelection().selectAllChildren(button.parentElement.querySelector(".value"));
  return document.execCommand("copy");
}

// A form that changes something is sent once, however often its button is clicked.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.isSent) {
      event.preventDefault();
    }
    form.dataset.isSent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-is-sent]")) {
    delete form.dataset.isSent;
  }
});

// Going back to the answer of a form shows its page, not the browser's own about forms;
// without this script, the browser may ask whether it is to be sent again.
if (document.body.dataset.address) {
  history.replaceState(null, "", document.body.dataset.address);
}

// What somebody opens to fill it in has the cursor in its first field; without this
// script, the next Tab leads there.
for (const summary of document.querySelectorAll("summary")) {
  const details = summary.parentElement;
  details.addEventListener("toggle", () => {
    if (details.open && document.activeElement === summary) {
      details.querySelector("input:not([type=hidden], [hidden])")?.focus();
    }
  });
}

// A link to a field opens what the field is in, as most browsers do by themselves.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const details = target?.closest("details");
  if (details) {
    details.open = true;
    target.focus();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

// Escape closes what a button has opened.
addEventListener("keydown", (event) => {
  const opened = [...document.querySelectorAll("details[open]:has(> summary.button)")];
  const details = opened.find((each) => each.contains(event.target)) ?? opened.at(-1);
  if (event.key === "Escape" && details) {
    details.open = false;
    details.querySelector("summary").focus();
  }
});

// After something was done, the keyboard is at the notice, or in the form for the next one.
const notice = document.querySelector(".notice[role]");
if (notice && !document.querySelector("[autofocus]")) {
  notice.tabIndex = -1;
  notice.focus({ preventScroll: true });
}

// In a list, the arrows lead from row to row, and from a notice to the first one.
addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...document.querySelectorAll("tbody th > a")];
  const row = document.activeElement.closest("tbody tr");
  const next = links[links.findIndex((link) => row?.contains(link)) + step];
  if (step && next && (row || document.activeElement === notice)) {
    event.preventDefault();
    next.focus();
  }
});

// The box above the rows ticks them; without this script, it stands for all of them.
const tickAll = document.querySelector("thead .tick input");
tickAll?.form.addEventListener("change", ({ target }) => {
  const ticks = [...document.querySelectorAll("td.tick input")];
  if (target === tickAll) ticks.forEach((each) => { each.checked = tickAll.checked; });
  tickAll.checked = ticks.every((each) => each.checked);
});

// The link back to a list leads to the filters and the page that one has come from.
const list = document.querySelector("[data-list]");
if (document.querySelector("[data-whole]")) {
  sessionStorage.setItem(location.pathname, location.search);
} else if (list) {
  list.search = sessionStorage.getItem(list.pathname) ?? "";
}

// A question is closed in place; without this script, by opening the page anew.
for (const link of document.querySelectorAll("[data-keep]")) {
  link.addEventListener("click", (event) => {
    const question = link.closest("details");
    event.preventDefault();
    question.open = false;
    question.querySelector("summary").focus();
  });
}

// A password manager keeps each key under its public part; without this script, under
// one name.
const keyName = document.querySelector("[data-key-name]");
if (keyName) {
  sessionStorage.clear(); // another shelter may sign in
  const key = document.getElementById(keyName.dataset.keyName);
  key.addEventListener("input", () => {
    keyName.value = key.value.trim().slice(0, 16);
  });
}

// Times are said as their reader does; on paper they are whole, and without this script
// in UTC.
const dates = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const minutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const zone = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", timeZoneName: "short",
});
function said(at) {
  const now = new Date();
  const [day, today] = [at, now].map((each) => new Date(each).setHours(0, 0, 0, 0));
  const away = Math.round((day - today) / 86_400_000);
  if (!away) return `today ${minutes.format(at)}`;
  const isThisYear = at.getFullYear() === now.getFullYear();
  return { "-1": "yesterday", 1: "tomorrow" }[away] ?? (isThisYear ? days : dates).format(at);
}
function showTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    time.title = `${dates.format(at)} ${zone.format(at)}`;
    const [screen, paper] = [said(at), time.title].map((text) => {
      const part = document.createElement("span");
      part.textContent = text;
      return part;
    });
    screen.className = "on-screen";
    paper.className = "on-paper";
    time.replaceChildren(screen, paper);
  }
}
showTimes(document);

// A printer gets the whole list; without this script, the link leads to it.
const whole = document.querySelector("[data-whole]");
const content = document.querySelector("main");
let printed = content;
addEventListener("beforeprint", () => {
  if (whole?.dataset.whole === "no") {
    printed = readContent(whole.href) || content;
    content.replaceWith(printed);
  }
});
addEventListener("afterprint", () => printed.replaceWith(content));
whole?.addEventListener("click", (event) => {
  event.preventDefault();
  print();
});

function readContent(address) {
  const request = new XMLHttpRequest();
  request.open("GET", address, false); // printing waits for nothing else
  request.send();
  const page = new DOMParser().parseFromString(request.responseText, "text/html");
  showTimes(page);
  return page.querySelector("tbody") && page.querySelector("main");
}

// Whoever was refused for a while can let the page, or a form on it, wait.
const wait = document.querySelector("[data-wait-seconds]");
if (wait) {
  const end = Date.now() + wait.dataset.waitSeconds * 1000;
  const left = () => Math.max(0, Math.ceil((end - Date.now()) / 1000));
  const title = wait.textContent;
  let isWaiting = false;
  const units = (seconds) => [[Math.floor(seconds / 3600), "h"],
    [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]]
    .filter(([count]) => count).slice(0, 2).map((unit) => unit.join(" ")).join(" ");
  const show = () => {
    wait.textContent = left() ? `${isWaiting ? "Waiting" : title} (${units(left())})` : title;
    if (isWaiting && !left()) wait.form ? wait.form.requestSubmit() : location.assign(wait.href);
  };
  wait.addEventListener("click", (event) => {
    if (left()) event.preventDefault();
    isWaiting = true;
  });
  show();
  setInterval(show, 1000);
}

// What is being worked on is looked at again; without this script, by reloading. A
// question that somebody has opened stays open until it is answered.
const underway = document.querySelector("[data-reload-seconds]");
if (underway) {
  setInterval(() => {
    if (!document.querySelector("details[open]")) location.reload();
  }, underway.dataset.reloadSeconds * 1000);
}
