// Counters by producer: a row an operation, a column a counter, and the wait of the chosen one.
"use strict";

(() => {
  const producers = draw.facts.map((fact) => fact.subject);
  const state = draw.state({ generation: "RDNA 4", producer: "execution.counter.vector_load" }, { generation: draw.names, producer: producers });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation));
  const panel = draw.html("div");
  const detail = draw.html("div", { class: "panel", "aria-live": "polite" });
  draw.root.replaceChildren(controls, draw.html("div", { class: "beside" }, panel, detail));

  // The counters of a value: a list of names, or a table that has one under "counters".
  const counters = (value) => (Array.isArray(value) ? value : Array.isArray(value?.counters) ? value.counters : typeof value === "string" ? [value] : []);
  const wait = (name) => ({ vmcnt: "s_waitcnt vmcnt(n)", lgkmcnt: "s_waitcnt lgkmcnt(n)", expcnt: state.generation === "RDNA 4" ? "s_wait_expcnt n" : "s_waitcnt expcnt(n)", vscnt: "s_waitcnt_vscnt null, n" })[name] ?? `s_wait_${name} n`;

  // A dot where the operation is on the counter, a ring on a second one that it is on as well.
  function cell(name, held) {
    const place = held.indexOf(name);
    const kind = place < 0 ? "no" : place === 0 ? "first" : "also";
    const meaning = { no: "not on it", first: "on it", also: "on it as well" }[kind];
    return draw.html("td", { class: kind, "aria-label": meaning, "data-label": name.toUpperCase() }, { no: "·", first: "●", also: "○" }[kind]);
  }

  function line(fact, held, names) {
    const chosen = fact.subject === state.producer;
    const button = draw.html("button", { type: "button", tabindex: 0, "aria-pressed": chosen, "data-producer": fact.subject }, fact.title);
    const row = draw.html("tr", chosen ? { class: "chosen" } : {}, draw.html("th", { scope: "row" }, button), ...names.map((name) => cell(name, held)));
    if (!held.length) row.append(draw.html("td", { class: "nothing" }, "none"));
    return row;
  }

  function show() {
    const rows = draw.facts.filter((fact) => draw.answers(fact.subject, state.generation).length);
    if (!rows.some((fact) => fact.subject === state.producer)) state.producer = rows[0]?.subject;
    draw.keep(state);
    const held = rows.map((fact) => [...new Set(draw.answers(fact.subject, state.generation).flatMap((answer) => counters(answer.value)))]);
    const names = [...new Set(held.flat())];
    const head = draw.html("tr", {}, ...["Operation", ...names.map((name) => name.toUpperCase())].map((name) => draw.html("th", { scope: "col" }, name)));
    const table = draw.html("table", { class: "counters" }, draw.html("caption", { class: "unseen" }, `Counters of ${state.generation} by producer`), draw.html("thead", {}, head));
    table.append(draw.html("tbody", {}, ...rows.map((fact, i) => line(fact, held[i], names))));
    panel.replaceChildren(table);
    const of = draw.html("p", {}, "The wait: ");
    const chosen = held[rows.findIndex((fact) => fact.subject === state.producer)] ?? [];
    of.append(draw.html("strong", { id: "answer" }, chosen.map(wait).join(", ") || "none"));
    detail.replaceChildren(draw.html("h2", {}, rows.find((fact) => fact.subject === state.producer)?.title ?? ""), of, draw.statements([state.producer], state.generation));
  }
  draw.choosable(panel, "producer", (value) => {
    draw.hush();
    state.producer = value;
    show();
  });
  controls.addEventListener("input", (event) => {
    draw.hush();
    state.generation = event.target.value;
    show();
  });
  show();
})();
