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
  const NODES = { global: [20, 110, "Global memory"], vgpr: [470, 20, "VGPRs"], lds: [470, 230, "LDS"] };
  const state = draw.state({ generation: "RDNA 4", path: "load" });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation), draw.select("Path", "path", []));
  const panel = draw.html("div", { class: "panel" });
  const detail = draw.html("div", { class: "panel", "aria-live": "polite" });
  draw.root.replaceChildren(controls, panel, detail);

  function show() {
    const paths = Object.entries(PATHS).filter(([, path]) => path[4].includes(state.generation));
    if (!paths.some(([key]) => key === state.path)) state.path = paths[0][0];
    draw.fill(controls.elements.path, paths.map(([key, path]) => [key, path[2]]), state.path);
    draw.keep(state);
    const boxes = Object.values(NODES).map(([x, y, name]) => draw.svg("g", { class: "node" }, draw.svg("rect", { x, y, width: 130, height: 80, rx: 8 }), draw.text(x + 65, y + 45, name, { class: "label" })));
    const used = {};
    const arrows = paths.map(([key, [from, to, label]]) => {
      const pair = [from, to].sort().join("-");
      const nth = (used[pair] = (used[pair] ?? -1) + 1);
      const { x1, y1, x2, y2, tx, ty } = route(from, to, nth);
      const kind = `path ${key === state.path ? "chosen" : ""} ${key === "to_lds_none" ? "absent" : ""}`;
      const line = draw.arrow(x1, y1, x2, y2, { class: `arrow ${kind}`, "data-path": key });
      return draw.svg("g", { class: kind, "data-path": key }, line, draw.text(tx, ty, label, { class: "label left", "data-path": key }));
    });
    panel.replaceChildren(draw.picture(760, 330, `Data paths of ${state.generation}`, ...boxes, ...arrows));
    const [, , label, facts] = PATHS[state.path];
    detail.replaceChildren(draw.html("h2", {}, `${label}, ${state.generation}`), draw.statements(facts, state.generation));
  }

  // Parallel lines between two boxes, the nth of them; the label lies on its line.
  function route(from, to, nth) {
    const pair = [from, to].sort().join("-");
    if (pair === "global-vgpr") {
      const ends = { global: [150, 122 + nth * 16], vgpr: [470, 32 + nth * 26] };
      return line(ends[from], ends[to], 0.2 + nth * 0.3, -2);
    }
    if (pair === "global-lds") return line([150, 172], [470, 270], 0.3, 18);
    const x = 486 + nth * 30;
    const ends = { vgpr: [x, 100], lds: [x, 230] };
    const found = line(ends[from], ends[to], 0.5, 0);
    return { ...found, tx: 610, ty: 128 + nth * 24 };
  }
  function line([x1, y1], [x2, y2], at, dy) {
    const [left, right] = x1 < x2 ? [[x1, y1], [x2, y2]] : [[x2, y2], [x1, y1]];
    return { x1, y1, x2, y2, tx: left[0] + (right[0] - left[0]) * at - 40, ty: left[1] + (right[1] - left[1]) * at + dy };
  }
  draw.choosable(panel, "path", (value) => {
    state.path = value;
    show();
  });
  controls.addEventListener("input", (event) => {
    state[event.target.name] = event.target.value;
    show();
  });
  show();
})();
