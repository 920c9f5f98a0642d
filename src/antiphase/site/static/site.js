// What every page does: theme, menu, columns of tables, search.
"use strict";

(() => {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const keep = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Without storage the choice lasts for this page.
    }
  };
  document.querySelector(".theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    keep("theme", root.dataset.theme);
  });

  const menu = document.querySelector(".menu");
  menu.addEventListener("click", () => {
    const open = document.getElementById("nav").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });

  // Columns: a cell over several generations shrinks with those that are hidden.
  const boxes = [...document.querySelectorAll(".chooser input")];
  function choose() {
    const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const cell of document.querySelectorAll("[data-generations]")) {
      const count = cell.dataset.generations.trim().split(" ").filter((name) => shown.has(name)).length;
      cell.hidden = count === 0;
      if (count && cell.tagName === "TD") cell.colSpan = count;
    }
  }
  if (boxes.length) {
    let kept = null;
    try {
      kept = localStorage.getItem("columns");
    } catch {
      kept = null;
    }
    if (kept) for (const box of boxes) box.checked = kept.split(" ").includes(box.value);
    for (const box of boxes) {
      box.addEventListener("change", () => {
        keep("columns", boxes.filter((each) => each.checked).map((each) => each.value).join(" "));
        choose();
      });
    }
    choose();
  }

  // Search.
  const input = document.getElementById("search");
  const list = document.getElementById("found");
  let results = [];
  let chosen = 0;

  function score([, title, text], words) {
    const name = title.toLowerCase();
    const all = `${name} ${text.toLowerCase()}`;
    let points = 0;
    for (const word of words) {
      if (!all.includes(word)) return 0;
      points += name === word ? 8 : name.startsWith(word) ? 4 : name.includes(word) ? 2 : 1;
    }
    return points;
  }

  function draw() {
    list.replaceChildren(
      ...results.map(([kind, title, text], index) => {
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
      }),
    );
    const some = results.length > 0 || input.value.trim() !== "";
    if (!results.length && some) {
      const none = document.createElement("li");
      none.textContent = "Nothing found.";
      list.append(none);
    }
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
    location.href = results[index][3];
  };

  async function look() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      results = [];
      return draw();
    }
    const index = await antiphase.need("search");
    const found = index.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0);
    found.sort(([a, one], [b, other]) => b - a || one[1].length - other[1].length);
    results = found.slice(0, 20).map(([, entry]) => entry);
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
    list.children[chosen].scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      input.focus();
    }
  });
})();
