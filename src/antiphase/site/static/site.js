// What every page does: theme, menu, columns of tables, cues where something scrolls sideways, open sources on paper.
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
  const nav = document.getElementById("nav");
  const show = (open) => {
    nav.classList.toggle("open", open);
    menu.setAttribute("aria-expanded", String(open));
  };
  menu.addEventListener("click", () => show(!nav.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !nav.classList.contains("open")) return;
    show(false);
    menu.focus();
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

  // The edge behind which more is, for the style sheet; boxes come and go as diagrams are drawn.
  const cue = (box) => {
    box.classList.toggle("more-left", box.scrollLeft > 2);
    box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  };
  const cues = () => document.querySelectorAll(".scroll, .panel").forEach(cue);
  document.addEventListener("scroll", (event) => event.target instanceof Element && event.target.matches(".scroll, .panel") && cue(event.target), true);
  addEventListener("resize", cues);
  new MutationObserver(() => requestAnimationFrame(cues)).observe(document.querySelector("main"), { childList: true, subtree: true });
  cues();

  // On paper nothing can be opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
})();
