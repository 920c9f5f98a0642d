// Eight 16-bit results of a lane: halves of eight registers on RDNA 3 and 3.5, pairs in four on RDNA 4.
"use strict";

(() => {
  const GENERATIONS = ["RDNA 3", "RDNA 3.5", "RDNA 4"];
  const allowed = { generation: GENERATIONS, opsel: ["0", "1"], lane: [0, 31], result: [0, 7] };
  const state = draw.state({ generation: "RDNA 3", opsel: "0", lane: "0", result: "0" }, allowed);
  const controls = draw.html("form", { class: "controls" });
  controls.append(
    draw.select("Generation", "generation", GENERATIONS, state.generation),
    draw.select("OPSEL[2]", "opsel", [["0", "0: low half"], ["1", "1: high half"]], state.opsel),
    draw.number("Lane", "lane", state.lane, 0, 31),
    draw.number("Result u", "result", state.result, 0, 7),
  );
  const panel = draw.html("div", { class: "panel" });
  const readout = draw.html("div", { class: "readout", "aria-live": "polite" });
  const list = draw.html("div");
  draw.root.replaceChildren(controls, readout, panel, list);

  // Where result u lies: register and half.
  const place = (u) => (state.generation === "RDNA 4" ? [u >> 1, u & 1] : [u, Number(state.opsel)]);
  const coordinate = (u) => {
    const [q, t] = [Math.floor(Number(state.lane) / 16), Number(state.lane) % 16];
    return state.generation === "RDNA 4" ? [8 * q + u, t] : [2 * u + q, t];
  };

  function show() {
    draw.keep(state);
    controls.elements.opsel.parentElement.hidden = state.generation === "RDNA 4";
    const registers = state.generation === "RDNA 4" ? 4 : 8;
    const cells = draw.svg("g");
    for (let r = 0; r < registers; r++) {
      cells.append(draw.text(34, 40 + r * 40, `V[${r}]`, { class: "small end" }));
      for (const half of [1, 0]) {
        const u = [...Array(8).keys()].find((each) => place(each).join() === [r, half].join());
        const x = half ? 44 : 204;
        const box = draw.svg("rect", { x, y: 20 + r * 40, width: 158, height: 34, rx: 3, class: u === undefined ? "empty" : "lanes0" });
        cells.append(box);
        if (u === undefined) continue;
        box.dataset.result = u;
        box.setAttribute("tabindex", 0);
        box.setAttribute("role", "button");
        box.setAttribute("aria-label", `result ${u}`);
        if (u === Number(state.result)) box.classList.add("chosen");
        cells.append(draw.text(x + 79, 41 + r * 40, `u = ${u}: D[${coordinate(u).join(", ")}]`, { class: "label" }));
      }
    }
    const heads = [draw.text(123, 14, "high half, bits 31:16", { class: "small" }), draw.text(283, 14, "low half, bits 15:0", { class: "small" })];
    const picture = draw.picture(380, 26 + registers * 40, `${state.generation}: registers of eight 16-bit results of lane ${state.lane}`, ...heads, cells);
    panel.replaceChildren(picture);
    const u = Number(state.result);
    const [register, half] = place(u);
    const index = state.generation === "RDNA 4" ? u : 2 * u + Number(state.opsel);
    readout.replaceChildren(
      draw.html("p", {}, `Lane ${state.lane}, result ${u}: `, draw.html("strong", { id: "answer" }, `D[${coordinate(u).join(", ")}]`), ` in V[${register}], ${half ? "high" : "low"} half; element ${index} of the builtin's vector.`),
      draw.html("p", { class: "scope" }, `8 results in ${registers} VGPRs.`),
    );
    list.replaceChildren(draw.statements(["matrix.cd_16bit", "layouts.packing"], state.generation));
    for (const name of ["lane", "result"]) controls.elements[name].value = state[name];
  }
  draw.choosable(panel, "result", (value) => {
    state.result = value;
    show();
  });
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", (event) => {
    const { name, value } = event.target;
    // A field that is being emptied to type another number stays as it is.
    if (value === "") return;
    draw.hush();
    state[name] = name in allowed && typeof allowed[name][0] === "number" ? draw.within(name, value, ...allowed[name]) : value;
    show();
  });
  show();
})();
