"use strict";

// Copying is a convenience: without this script the texts can be selected.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const label = button.innerHTML;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select and copy it";
      }
      setTimeout(() => { button.innerHTML = label; }, 2000);
    });
  }
}

// A password manager keeps each key under its public part; without this script, under
// one name.
const keyName = document.querySelector("[data-key-name]");
if (keyName) {
  const key = document.getElementById(keyName.dataset.keyName);
  key.addEventListener("input", () => {
    keyName.value = key.value.trim().slice(0, 16);
  });
}

// What is being worked on is looked at again; without this script, by reloading.
const underway = document.querySelector("[data-reload-seconds]");
if (underway) {
  setTimeout(() => location.reload(), underway.dataset.reloadSeconds * 1000);
}
