// Register overlap: D of the first matrix instruction against the operands of the second.
"use strict";

(() => {
  const RANGES = [
    ["d", "First: D", 8],
    ["a", "Second: A", 4],
    ["b", "Second: B", 4],
    ["c", "Second: C", 8],
    ["index", "Second: sparse index", 1],
  ];
  const state = draw.state({ d: "0", a: "4", b: "16", c: "24", index: "36", generation: "RDNA 4" });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation));
  for (const [key, label, length] of RANGES)
    controls.append(draw.html("label", {}, `${label}, from v`, draw.html("input", { type: "range", name: key, min: 0, max: 40 - length, value: state[key], "aria-label": `${label}, first register` })));
  const panel = draw.html("div", { class: "panel" });
  const readout = draw.html("div", { class: "readout", "aria-live": "polite" });
  const list = draw.html("div", { class: "panel" });
  draw.root.replaceChildren(controls, readout, panel, list);

  const range = (key) => {
    const length = RANGES.find(([name]) => name === key)[2];
    return [Number(state[key]), Number(state[key]) + length - 1];
  };
  const overlaps = (key) => {
    const [[a, b], [c, d]] = [range("d"), range(key)];
    return a <= d && c <= b;
  };

  function show() {
    draw.keep(state);
    const hasIndex = state.generation !== "RDNA 3" && state.generation !== "RDNA 3.5";
    const [first, last] = range("d");
    const marks = RANGES.filter(([key]) => key !== "index" || hasIndex).map(([key, label], row) => {
      const [from, to] = range(key);
      const y = 26 + row * 34;
      const boxes = [];
      for (let v = from; v <= to; v++)
        boxes.push(draw.svg("rect", { x: 150 + v * 14, y, width: 13, height: 22, class: key !== "d" && v >= first && v <= last ? "shared" : key === "d" ? "first" : "second" }));
      return draw.svg("g", {}, draw.text(142, y + 15, `${label} v[${from}:${to}]`, { class: "small end" }), ...boxes);
    });
    const scale = [0, 8, 16, 24, 32].map((v) => draw.text(150 + v * 14 + 6, 16, `v${v}`, { class: "small" }));
    panel.replaceChildren(draw.picture(730, 30 + marks.length * 34, "VGPR ranges of two matrix instructions; shared registers are highlighted", ...scale, ...marks));
    const ab = overlaps("a") || overlaps("b");
    const index = hasIndex && overlaps("index");
    const c = overlaps("c");
    const subject = index && !ab ? "matrix.d_to_index" : ab ? (c ? "matrix.d_to_c_and_ab" : "matrix.d_to_ab") : c ? "matrix.d_to_c_gap" : "";
    const names = [overlaps("a") && "A", overlaps("b") && "B", index && "the sparse index", c && "C"].filter(Boolean);
    const verdict = names.length ? `D overlaps ${names.join(", ").replace(/, ([^,]*)$/, " and $1")}.` : "No overlap: neither rule applies.";
    readout.replaceChildren(draw.html("p", {}, draw.html("strong", { id: "answer" }, verdict)));
    list.replaceChildren(draw.html("h2", {}, subject ? `What ${state.generation} asks for` : "Nothing to separate"), subject ? draw.statements([subject, ...(subject === "matrix.d_to_c_and_ab" ? ["matrix.d_to_ab"] : [])], state.generation) : "");
    controls.elements.index.parentElement.hidden = !hasIndex;
  }
  controls.addEventListener("input", (event) => {
    state[event.target.name] = event.target.value;
    show();
  });
  show();
})();
