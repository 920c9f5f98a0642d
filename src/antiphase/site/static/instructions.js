// The list of instructions: filtered while typing, drawn in portions.
"use strict";

(async () => {
  const { targets, classes, rows } = await antiphase.need("instructions");
  const form = document.getElementById("instruction-filter");
  const body = document.querySelector(".instructions tbody");
  const more = document.getElementById("more");
  const portion = 200;
  let shown = portion;

  const option = (select, text, value = text) => select.append(new Option(text, value));
  classes.forEach((name, index) => option(form.elements.class, name, String(index)));
  targets.forEach((name, index) => option(form.elements.target, name, String(index)));
  for (const status of new Set(rows.map((row) => row[2]))) option(form.elements.status, status);

  const head = document.createElement("tr");
  for (const title of ["Instruction", "Class", "antiphase", ...targets]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.append(...title.split(/(?<=gfx)/).flatMap((part) => [part, document.createElement("wbr")]));
    head.append(cell);
  }
  document.querySelector(".instructions thead").append(head);

  function matching() {
    const { name, class: group, target, status } = Object.fromEntries(new FormData(form));
    const words = name.toLowerCase().split(/\s+/).filter(Boolean).map(antiphase.pattern);
    return rows.filter(
      (row) =>
        words.every((word) => word.test(row[0])) &&
        (group === "" || row[1] === Number(group)) &&
        (target === "" || (row[3] >> Number(target)) & 1) &&
        (status === "" || row[2] === status),
    );
  }

  function draw() {
    const found = matching();
    body.replaceChildren(
      ...found.slice(0, shown).map((row) => {
        const line = document.createElement("tr");
        line.id = row[0];
        const cells = [row[0], classes[row[1]], row[2], ...targets.map((_, i) => ((row[3] >> i) & 1 ? "●" : "·"))];
        cells.forEach((text, index) => {
          const cell = document.createElement(index === 0 ? "th" : "td");
          if (index > 2) {
            cell.className = text === "●" ? "yes" : "no";
            cell.setAttribute("aria-label", text === "●" ? "accepted" : "not accepted");
            cell.dataset.label = targets[index - 3];
          }
          if (index === 0) {
            cell.scope = "row";
            // Long names break at their underscores.
            cell.append(...text.split(/(?<=_)/).flatMap((part) => [part, document.createElement("wbr")]));
          } else cell.textContent = text;
          line.append(cell);
        });
        return line;
      }),
    );
    document.getElementById("count").textContent = found.length ? `${found.length} of ${rows.length}` : "No instruction matches.";
    more.hidden = found.length <= shown;
  }

  // Coverage: known of accepted, a row a class and a column a target.
  const coverage = document.querySelector(".coverage");
  const count = (group, target) => {
    const accepted = rows.filter((row) => (group < 0 || row[1] === group) && (row[3] >> target) & 1);
    return [accepted.filter((row) => row[2] !== "no record").length, accepted.length];
  };
  const line = (title, cells) => {
    const row = document.createElement("tr");
    const first = document.createElement("th");
    first.scope = "row";
    first.textContent = title;
    row.append(first);
    for (const [known, accepted] of cells) {
      const cell = document.createElement("td");
      cell.textContent = accepted ? `${known}/${accepted}` : "–";
      if (accepted && known === accepted) cell.className = "yes";
      row.append(cell);
    }
    coverage.append(row);
  };
  const top = document.createElement("tr");
  for (const title of ["Class", ...targets]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = title;
    top.append(cell);
  }
  coverage.append(top);
  classes.forEach((name, group) => line(name, targets.map((_, target) => count(group, target))));
  line("all", targets.map((_, target) => count(-1, target)));

  // A name, or words of it; a place on the page or an address that is no valid text asks for nothing.
  function wanted() {
    try {
      const text = decodeURIComponent(location.hash.slice(1));
      const place = document.getElementById(text);
      return place && !body.contains(place) ? "" : text;
    } catch {
      return "";
    }
  }
  form.elements.name.value = wanted();
  form.addEventListener("input", () => {
    shown = portion;
    draw();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    shown += portion;
    draw();
  });
  addEventListener("hashchange", () => {
    form.elements.name.value = wanted();
    shown = portion;
    draw();
  });
  draw();
})();
