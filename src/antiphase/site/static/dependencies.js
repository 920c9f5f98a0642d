// The dependency map: where the data comes from decides which check applies; several may.
"use strict";

(() => {
  const BRANCHES = [
    ["register", "A matrix instruction wrote the register", ["matrix.map_register", "execution.separation_matrix", "matrix.s_delay_alu"], "overlap.html", "See the overlap rule"],
    ["memory", "A memory instruction writes the register", ["matrix.map_memory", "execution.separation_memory", "matrix.memory_operand"], "counters.html", "Find the counter"],
    ["wave", "Another wave produced the data", ["matrix.map_synchronization", "execution.separation_workgroup", "execution.barrier_visibility"], "pipeline.html", "See two wave groups"],
    ["compiler", "What the compiler does, and stalls", ["matrix.map_compiler", "matrix.map_stalls"], "compiler.html", "What LLVM does"],
  ];
  const state = draw.state({ generation: "RDNA 4", branch: "register" }, { generation: draw.names, branch: BRANCHES.map(([key]) => key) });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation));
  const panel = draw.html("div", { class: "panel" });
  const detail = draw.html("div", { class: "panel", "aria-live": "polite" });
  draw.root.replaceChildren(controls, panel, detail);

  function show() {
    draw.keep(state);
    const boxes = BRANCHES.map(([key, title], index) => {
      const y = 14 + index * 62;
      const box = draw.svg(
        "g",
        { class: `branch ${key === state.branch ? "chosen" : ""}`, tabindex: 0, role: "button", "aria-label": title, "aria-pressed": key === state.branch, "data-branch": key },
        draw.svg("rect", { x: 250, y, width: 330, height: 46, rx: 6 }),
        draw.text(415, y + 28, title, { class: "label" }),
      );
      const line = draw.svg("path", { d: `M180 129 C 215 129, 215 ${y + 23}, 250 ${y + 23}`, class: "link" });
      return draw.svg("g", {}, line, box);
    });
    const start = [draw.svg("rect", { x: 10, y: 104, width: 170, height: 50, rx: 6, class: "root" }), draw.text(95, 126, "An instruction", { class: "label" }), draw.text(95, 143, "needs an operand", { class: "label" })];
    const picture = draw.picture(600, 260, "Dependency map: four separate questions", ...start, ...boxes);
    panel.replaceChildren(picture);
    const [, title, facts, href, more] = BRANCHES.find(([key]) => key === state.branch);
    detail.replaceChildren(draw.html("h2", {}, `${title}, ${state.generation}`), draw.statements(facts, state.generation), draw.html("p", {}, draw.html("a", { href }, more)));
  }
  draw.choosable(panel, "branch", (value) => {
    state.branch = value;
    show();
  });
  controls.addEventListener("input", (event) => {
    draw.hush();
    state.generation = event.target.value;
    show();
  });
  show();
})();
