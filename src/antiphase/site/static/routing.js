// Cross-lane routing: for every destination lane, the lane its value comes from.
"use strict";

(() => {
  const ROW_GATHER = ["RDNA 3", "RDNA 3.5", "RDNA 4", "CDNA 5"];
  const VAR = ["RDNA 4", "CDNA 5"];
  // source(lane, selector, wave, generation): the lane that destination `lane` reads.
  const OPERATIONS = {
    v_permlane16_b32: { on: ROW_GATHER, most: 15, what: "the slot of its scalar pattern that has the lane's offset in the row", source: (lane, s) => (lane & ~15) + (s & 15) },
    v_permlanex16_b32: { on: ROW_GATHER, most: 15, what: "the slot of its scalar pattern that has the lane's offset in the row", source: (lane, s) => ((lane & ~15) ^ 16) + (s & 15) },
    v_permlane16_var_b32: { on: VAR, most: 15, what: "the low four bits of the lane's own VGPR", source: (lane, s) => (lane & ~15) + (s & 15), own: true },
    v_permlanex16_var_b32: { on: VAR, most: 15, what: "the low four bits of the lane's own VGPR", source: (lane, s) => ((lane & ~15) ^ 16) + (s & 15), own: true },
    ds_bpermute_b32: { on: null, most: 63, what: "index (byte address / 4)", source: (lane, s, wave, far) => (wave === 64 && !far ? (lane & 32) + (s & 31) : s % wave), own: true },
    ds_bpermute_fi_b32: { on: VAR, most: 63, what: "index (byte address / 4)", source: (lane, s, wave) => s % wave, own: true, inactive: true },
    v_permlane64_b32: { on: ROW_GATHER, most: 0, what: "", source: (lane, s, wave) => (wave === 64 ? lane ^ 32 : lane) },
  };
  // ds_bpermute reaches all of a wave64 on GCN-like CDNA and on RDNA 4, one half of it on RDNA 3 and 3.5.
  const FAR = ["RDNA 4", "CDNA 3", "CDNA 4", "CDNA 5"];
  const WAVE64 = ["RDNA 3", "RDNA 3.5", "RDNA 4", "CDNA 3", "CDNA 4"];
  const start = { generation: "RDNA 4", operation: "v_permlane16_b32", wave: "32", selector: "3", first: "5", second: "21", own: "7", off: "" };
  const lanes = { first: [0, 63], second: [0, 63], selector: [0, 63], own: [0, 63] };
  const state = draw.state(start, { generation: draw.names, operation: Object.keys(OPERATIONS), wave: ["32", "64"], ...lanes });
  const controls = draw.html("form", { class: "controls" });
  controls.append(
    draw.generation(state.generation),
    draw.select("Instruction", "operation", []),
    draw.select("Wave", "wave", []),
    draw.number("Destination", "first", state.first, 0, 63),
    draw.number("Selector", "selector", state.selector, 0, 63),
    draw.number("Second destination", "second", state.second, 0, 63),
    draw.number("Its selector", "own", state.own, 0, 63),
    draw.html("label", {}, "Lanes off in EXEC", draw.html("input", { name: "off", value: state.off, placeholder: "3, 8-11", size: 9 })),
  );
  const panel = draw.html("div", { class: "panel" });
  const readout = draw.html("div", { class: "readout", "aria-live": "polite" });
  const list = draw.html("div");
  draw.root.replaceChildren(controls, readout, panel, list);
  const field = controls.elements;

  function lanesOff() {
    const off = new Set();
    for (const part of state.off.split(",")) {
      if (!part.trim()) continue;
      const range = part.match(/^\s*(\d{1,2})(?:\s*-\s*(\d{1,2}))?\s*$/);
      if (!range) draw.say(`"${part.trim()}" is no lane and no range of lanes, such as 3 or 8-11.`);
      else for (let lane = Number(range[1]); lane <= Math.min(63, Number(range[2] ?? range[1])); lane++) off.add(lane);
    }
    return off;
  }

  function show() {
    const names = Object.keys(OPERATIONS).filter((name) => !OPERATIONS[name].on || OPERATIONS[name].on.includes(state.generation));
    if (!names.includes(state.operation)) {
      draw.say(`${state.generation} has no ${state.operation}: ${names[0]} is shown.`);
      state.operation = names[0];
    }
    draw.fill(field.operation, names, state.operation);
    const waves = [...(state.generation.startsWith("RDNA") || state.generation === "CDNA 5" ? ["32"] : []), ...(WAVE64.includes(state.generation) ? ["64"] : [])];
    if (!waves.includes(state.wave)) state.wave = waves[0];
    draw.fill(field.wave, waves.map((w) => [w, `wave${w}`]), state.wave);
    const operation = OPERATIONS[state.operation];
    const wave = Number(state.wave);
    for (const name of ["first", "second"]) field[name].value = state[name] = draw.within("Lane", state[name], 0, wave - 1);
    if (operation.most)
      for (const name of ["selector", "own"]) field[name].value = state[name] = draw.within("Selector", state[name], 0, operation.most);
    field.selector.parentElement.hidden = operation.most === 0;
    field.own.parentElement.hidden = !operation.own;
    draw.keep(state);

    const off = lanesOff();
    const rows = wave / 16;
    const x = (lane) => 84 + (lane % 16) * 44;
    const y = (lane) => 46 + Math.floor(lane / 16) * 46;
    const bottom = 46 + rows * 46 + 90;
    const cells = [];
    for (const [title, offset, kind] of [["source", 0, "lanes0"], ["result", bottom - 46, "lanes2"]]) {
      cells.push(draw.text(58, 26 + offset, title, { class: "label end" }));
      for (let lane = 0; lane < wave; lane++) {
        const dead = off.has(lane) ? " off" : "";
        cells.push(draw.svg("rect", { x: x(lane) - 20, y: y(lane) - 14 + offset, width: 40, height: 30, rx: 3, class: kind + dead, "data-to": lane }));
        cells.push(draw.text(x(lane), y(lane) + 5 + offset, `L${lane}`, { class: "small" }));
      }
      for (let row = 0; row < rows; row++) cells.push(draw.text(58, y(row * 16) + 5 + offset, `row ${row}`, { class: "small end" }));
    }
    const lines = [];
    const told = [];
    const destinations = [[Number(state.first) % wave, Number(state.selector)], [Number(state.second) % wave, Number(operation.own ? state.own : state.selector)]];
    for (const [lane, selector] of destinations) {
      const from = operation.source(lane, selector, wave, FAR.includes(state.generation));
      if (off.has(lane)) {
        told.push(`L${lane} is off in EXEC: its register is not written.`);
        continue;
      }
      lines.push(draw.arrow(x(from), y(from) + 18, x(lane), y(lane) + bottom - 46 - 16));
      const unread = off.has(from) && !operation.inactive ? "; that lane is off in EXEC, see the EXEC rules below" : "";
      told.push(`L${lane} receives x${from}${unread}.`);
    }
    panel.replaceChildren(draw.picture(770, bottom + rows * 46 + 8, `${state.operation}: ${told.join(" ")}`, ...cells, ...lines));
    readout.replaceChildren(draw.html("p", {}, draw.html("strong", { id: "answer" }, told.join(" "))), draw.html("p", { class: "scope" }, operation.what ? `${state.operation} selects by ${operation.what}.` : "Fixed: the halves of a wave64 change places; nothing moves in wave32."));
    const prefix = state.operation.startsWith("ds_") ? "arithmetic.lds_permute." : "arithmetic.row_gather.";
    list.replaceChildren(draw.statements([prefix], state.generation));
  }
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", (event) => {
    if (event.target.type === "number" && event.target.value === "") return;
    draw.hush();
    state[event.target.name] = event.target.value;
    show();
  });
  draw.choosable(panel, "to", (value) => {
    state.first = field.first.value = value;
    show();
  });
  show();
})();
