// Counters by producer: a row an operation, a column a counter, and the wait of the chosen one.
"use strict";

(() => {
  const state = draw.state({ generation: "RDNA 4", producer: "execution.counter.vector_load" });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation));
  const panel = draw.html("div", { class: "panel" });
  const detail = draw.html("div", { class: "panel", "aria-live": "polite" });
  draw.root.replaceChildren(controls, panel, detail);

  // The counters of a value: a list of names, or a table that has one under "counters".
  const counters = (value) => (Array.isArray(value) ? value : Array.isArray(value?.counters) ? value.counters : typeof value === "string" ? [value] : []);
  const wait = (name) => ({ vmcnt: "s_waitcnt vmcnt(n)", lgkmcnt: "s_waitcnt lgkmcnt(n)", expcnt: state.generation === "RDNA 4" ? "s_wait_expcnt n" : "s_waitcnt expcnt(n)", vscnt: "s_waitcnt_vscnt null, n" })[name] ?? `s_wait_${name} n`;

  function show() {
    draw.keep(state);
    const rows = draw.facts.filter((fact) => draw.answers(fact.subject, state.generation).length);
    if (!rows.some((fact) => fact.subject === state.producer)) state.producer = rows[0]?.subject;
    const held = rows.map((fact) => [...new Set(draw.answers(fact.subject, state.generation).flatMap((answer) => counters(answer.value)))]);
    const names = [...new Set(held.flat())];
    const lines = rows.map((fact, row) => {
      const y = 34 + row * 28;
      const dots = names.map((name, column) =>
        held[row].includes(name)
          ? draw.svg("circle", { cx: 320 + column * 92, cy: y + 12, r: 7, class: held[row][0] === name ? "first" : "also" })
          : draw.svg("circle", { cx: 320 + column * 92, cy: y + 12, r: 1.5, class: "no" }),
      );
      const group = { class: `producer ${fact.subject === state.producer ? "chosen" : ""}`, tabindex: 0, role: "button", "aria-pressed": fact.subject === state.producer, "data-producer": fact.subject };
      return draw.svg("g", group, draw.svg("rect", { x: 4, y, width: 290 + names.length * 92, height: 25, rx: 4 }), draw.text(12, y + 17, fact.title, { class: "label left" }), ...dots);
    });
    const heads = names.map((name, column) => draw.text(320 + column * 92, 22, name.toUpperCase(), { class: "small" }));
    panel.replaceChildren(draw.picture(300 + names.length * 92, 44 + rows.length * 28, `Counters of ${state.generation} by producer`, ...heads, ...lines));
    const of = draw.html("p", {}, "The wait: ");
    const chosen = held[rows.findIndex((fact) => fact.subject === state.producer)] ?? [];
    of.append(draw.html("strong", { id: "answer" }, chosen.map(wait).join(", ") || "none"));
    detail.replaceChildren(draw.html("h2", {}, rows.find((fact) => fact.subject === state.producer)?.title ?? ""), of, draw.statements([state.producer], state.generation));
  }
  draw.choosable(panel, "producer", (value) => {
    state.producer = value;
    show();
  });
  controls.addEventListener("input", (event) => {
    state.generation = event.target.value;
    show();
  });
  show();
})();
