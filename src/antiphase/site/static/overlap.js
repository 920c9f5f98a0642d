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
  const VGPRS = 40;
  const limits = Object.fromEntries(RANGES.map(([key, , length]) => [key, [0, VGPRS - length]]));
  const state = draw.state({ d: "0", a: "4", b: "16", c: "24", index: "36", generation: "RDNA 4" }, { generation: draw.names, ...limits });
  const controls = draw.html("form", { class: "controls" });
  controls.append(draw.generation(state.generation));
  for (const [key, label] of RANGES) {
    const slider = draw.html("input", { type: "range", name: key, min: 0, max: limits[key][1], value: state[key], "aria-label": `${label}, first register` });
    controls.append(draw.html("label", {}, draw.html("span", {}, `${label} `, draw.html("output", { name: `${key}-range` })), slider));
  }
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
      const y = 30 + row * 36;
      controls.elements[`${key}-range`].value = draw.span(from, to);
      const boxes = [];
      for (let v = from; v <= to; v++)
        boxes.push(draw.svg("rect", { x: 190 + v * 18, y, width: 17, height: 26, class: key !== "d" && v >= first && v <= last ? "shared" : key === "d" ? "first" : "second" }));
      return draw.svg("g", {}, draw.text(180, y + 18, `${label} ${draw.span(from, to)}`, { class: "label end" }), ...boxes);
    });
    const scale = [0, 8, 16, 24, 32, 39].map((v) => draw.text(190 + v * 18 + 8, 18, `v${v}`, { class: "small" }));
    panel.replaceChildren(draw.picture(920, 36 + marks.length * 36, "VGPR ranges of two matrix instructions; shared registers are highlighted", ...scale, ...marks));
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
    draw.hush();
    state[event.target.name] = event.target.value;
    show();
  });
  show();
})();
