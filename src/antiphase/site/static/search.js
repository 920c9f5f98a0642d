// The search box: results while typing, chosen by arrow keys and Enter or by pointer.
"use strict";

(() => {
  const input = document.getElementById("search");
  const list = document.getElementById("found");
  let results = [];
  let partial = false;
  let chosen = 0;

  const note = (text) => {
    const item = document.createElement("li");
    item.className = "note";
    item.setAttribute("role", "presentation");
    item.textContent = text;
    return item;
  };

  function option({ kind, title, text }, index) {
    const item = document.createElement("li");
    item.id = `found-${index}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(index === chosen));
    for (const [name, content] of [["kind", kind], ["title", title], ["text", text]]) {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = content;
      item.append(part);
    }
    item.addEventListener("mousedown", (event) => event.preventDefault());
    item.addEventListener("click", () => open(index));
    return item;
  }

  function draw() {
    list.replaceChildren(...results.map(option));
    const some = results.length > 0 || input.value.trim() !== "";
    if (partial) list.prepend(note("Nothing has every word; these have most of them."));
    if (!results.length && some) list.append(note("Nothing found."));
    list.hidden = !some;
    input.setAttribute("aria-expanded", String(some));
    if (results.length) input.setAttribute("aria-activedescendant", `found-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
  }

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const open = (index) => {
    close();
    location.href = results[index].href;
  };

  async function look() {
    const query = input.value.trim();
    const index = query && (await antiphase.need("search"));
    // Typing went on while the index was loading.
    if (query !== input.value.trim()) return;
    ({ results, partial } = query ? antiphase.find(index, query) : { results: [], partial: false });
    chosen = 0;
    draw();
  }

  input.addEventListener("input", look);
  input.addEventListener("focus", () => antiphase.need("search"));
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return input.blur();
    if (!results.length) return;
    if (event.key === "Enter") return open(chosen);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    chosen = (chosen + step + results.length) % results.length;
    draw();
    document.getElementById(`found-${chosen}`).scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      input.focus();
    }
  });
})();
