// Data paths: an arrow for each way a payload takes, with the instructions of the chosen generation.
"use strict";

(() => {
  // from, to, label, the rows that tell about it, generations that have instructions for it.
  const ALL = Object.keys(draw.generations);
  const PATHS = {
    load: ["global", "vgpr", "global load", ["memory.path.global"], ALL],
    store: ["vgpr", "global", "global store", ["memory.path.global"], ALL],
    read: ["lds", "vgpr", "indexed LDS load", ["memory.path.lds"], ALL],
    write: ["vgpr", "lds", "indexed LDS store", ["memory.path.lds"], ALL],
    transpose: ["global", "vgpr", "transposing load", ["memory.transpose."], ["RDNA 4", "CDNA 5"]],
    lds_transpose: ["lds", "vgpr", "transposing LDS load", ["memory.transpose.lds", "memory.transpose.lds_exec"], ["CDNA 4", "CDNA 5"]],
    direct: ["lds", "vgpr", "LDS direct load", ["memory.lds_direct"], ["RDNA 3", "RDNA 3.5", "RDNA 4"]],
    to_lds: ["global", "lds", "global to LDS", ["memory.global_to_lds."], ["CDNA 3", "CDNA 4", "CDNA 5"]],
    to_lds_none: ["global", "lds", "global-to-LDS builtins: none here", ["memory.global_to_lds."], ["RDNA 3", "RDNA 3.5", "RDNA 4"]],
  };
  // Registers stand between the two memories, so that every way is a level line with its name on it.
  const NODES = { global: [10, 24, 250, "Global memory"], vgpr: [400, 24, 162, "VGPRs"], lds: [790, 24, 250, "LDS"] };
  const WIDE = 140;
  const state = draw.state({ generation: "RDNA 4", path: "load" }, { generation: draw.names, path: Object.keys(PATHS) });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation), draw.select("Path", "path", []));
  const panel = draw.html("div", { class: "panel" });
  const detail = draw.html("div", { class: "panel", "aria-live": "polite" });
  draw.root.replaceChildren(controls, panel, detail);

  function show() {
    const paths = Object.entries(PATHS).filter(([, path]) => path[4].includes(state.generation));
    if (!paths.some(([key]) => key === state.path)) {
      draw.say(`${state.generation} has no ${PATHS[state.path][2]}: ${paths[0][1][2]} is shown.`);
      state.path = paths[0][0];
    }
    draw.fill(controls.elements.path, paths.map(([key, path]) => [key, path[2]]), state.path);
    draw.keep(state);
    const boxes = Object.values(NODES).map(([x, y, height, name]) => draw.svg("g", { class: "node" }, draw.svg("rect", { x, y, width: WIDE, height, rx: 8 }), draw.text(x + WIDE / 2, y + height / 2 + 5, name, { class: "label" })));
    const used = {};
    const arrows = paths.map(([key, [from, to, label]]) => {
      const pair = [from, to].sort().join("-");
      const nth = (used[pair] = (used[pair] ?? -1) + 1);
      const y = pair === "global-lds" ? 244 : 66 + nth * 46;
      const [x1, x2] = NODES[from][0] < NODES[to][0] ? [NODES[from][0] + WIDE, NODES[to][0]] : [NODES[from][0], NODES[to][0] + WIDE];
      const group = { class: `path ${key === state.path ? "chosen" : ""} ${key === "to_lds_none" ? "absent" : ""}`, tabindex: 0, role: "button", "aria-label": label, "aria-pressed": key === state.path, "data-path": key };
      const hit = draw.svg("rect", { x: Math.min(x1, x2), y: y - 26, width: Math.abs(x2 - x1), height: 36, class: "hit" });
      return draw.svg("g", group, hit, draw.arrow(x1, y, x2, y), draw.text((x1 + x2) / 2, y - 9, label, { class: "label" }));
    });
    panel.replaceChildren(draw.picture(940, 290, `Data paths of ${state.generation}`, ...boxes, ...arrows));
    const [, , label, facts] = PATHS[state.path];
    detail.replaceChildren(draw.html("h2", {}, `${label}, ${state.generation}`), draw.statements(facts, state.generation));
  }

  draw.choosable(panel, "path", (value) => {
    draw.hush();
    state.path = value;
    show();
  });
  controls.addEventListener("input", (event) => {
    draw.hush();
    state[event.target.name] = event.target.value;
    show();
  });
  show();
})();
