// The layout explorer: pick an instruction and an operand, then a lane and register or an element, and see the other.
"use strict";

(async () => {
  const GENERATIONS = draw.generations;
  const { root } = draw;
  const of = (target) => Object.keys(GENERATIONS).find((name) => GENERATIONS[name].targets.includes(target));
  const data = (target) => antiphase.need(GENERATIONS[of(target)].data);

  const targets = Object.values(GENERATIONS).flatMap((each) => each.targets);
  const start = {
    target: "gfx1100",
    form: "v_wmma_f32_16x16x16_f16",
    variant: "",
    wave: "32",
    operand: "D",
    lane: "16",
    vgpr: "1",
    slot: "0",
    other: "gfx1200",
    row: "",
    column: "",
  };
  // How far each goes is known when the operand is.
  const numbers = Object.fromEntries(["lane", "vgpr", "slot", "row", "column"].map((key) => [key, [0, Number.MAX_SAFE_INTEGER]]));
  const state = draw.state(start, { target: targets, wave: ["32", "64"], other: ["", ...targets], ...numbers });

  // One operand: who holds what, both ways.
  class Operand {
    constructor(description, layouts) {
      Object.assign(this, description);
      const layout = layouts[this.layout];
      this.lanes = layout.lanes;
      this.positions = layout.positions;
      const sum = (index, steps) =>
        steps.reduce((total, step, bit) => ((index >> bit) & 1 ? total.map((v, i) => v + step[i]) : total), [0, 0, 0]);
      this.elements = [];
      this.places = new Map();
      for (let lane = 0; lane < this.lanes; lane++) {
        const start = layout.table ? null : sum(lane, layout.lane);
        for (let position = 0; position < this.positions; position++) {
          const element = layout.table
            ? layout.table[lane * this.positions + position]
            : sum(position, layout.position).map((value, i) => value + start[i]);
          this.elements.push(element);
          if (element[0] < 0 || element[1] < 0) continue;
          const key = element.join();
          if (!this.places.has(key)) this.places.set(key, []);
          this.places.get(key).push([lane, position]);
        }
      }
      this.steps = layout.table ? null : layout;
    }
    element(lane, position) {
      const found = this.elements[lane * this.positions + position];
      return !found || found[0] < 0 || found[1] < 0 ? null : found;
    }
    bit(position) {
      return this.offset + position * this.stride;
    }
    // First position whose bits are in a register's slot, -1 without one.
    at(register, slot) {
      for (let p = 0; p < this.positions; p++) {
        const start = this.bit(p);
        const end = start + this.bits - 1;
        const low = register * 32 + (this.bits >= 32 ? 0 : slot * this.bits);
        if (start <= low && low <= end) return p;
      }
      return -1;
    }
    get slots() {
      return this.bits >= 32 ? 1 : Math.floor(32 / this.bits);
    }
    place(position) {
      const start = this.bit(position);
      const register = Math.floor(start / 32);
      if (this.bits > 32) return `VGPRs ${register} and ${register + 1}`;
      if (this.bits === 32) return `VGPR ${register}`;
      const low = start % 32;
      const high = low + this.bits - 1;
      return high < 32 ? `VGPR ${register} bits ${high}:${low}` : `VGPR ${register} bits 31:${low} and VGPR ${register + 1} bits ${high - 32}:0`;
    }
    named(element) {
      const [row, column, block] = element;
      return `${this.name}[${row}, ${column}]${this.shape[2] > 1 ? ` of block ${block}` : ""}`;
    }
  }

  const controls = draw.html("form", { class: "controls" });
  const readout = draw.html("div", { class: "readout", "aria-live": "polite" });
  const keys = "arrow up and down change the lane, left and right the VGPR";
  const matrix = draw.html("div", { class: "panel", role: "group", "aria-label": `Matrix: ${keys}` });
  const registers = draw.html("div", { class: "panel", role: "group", "aria-label": `Registers: ${keys}` });
  const bits = draw.html("div", { class: "panel" });
  const facts = draw.html("div", { class: "panel" });
  controls.append(
    draw.select("Target", "target", targets, state.target),
    draw.select("Instruction", "form", []),
    draw.select("Wave", "wave", []),
    draw.select("Choice", "variant", []),
    draw.select("Operand", "operand", []),
    draw.number("Lane", "lane", state.lane, 0, 63),
    draw.number("VGPR", "vgpr", state.vgpr, 0, 31),
    draw.select("Bits", "slot", []),
    draw.number("Row", "row", 0, 0, 127),
    draw.number("Column", "column", 0, 0, 127),
    draw.select("Compare with", "other", [["", "nothing"], ...targets.map((t) => [t, t])], state.other),
  );
  const tables = draw.html("div", { class: "panels" }, bits, facts);
  root.replaceChildren(controls, readout, draw.html("div", { class: "panels" }, matrix, registers), tables);
  const field = controls.elements;
  let operand = null;
  let chosen = null;

  const formsOf = (content, name, wave, variant) =>
    content.forms.find((f) => f.name === name && f.wave === wave && f.variant === variant) ??
    content.forms.find((f) => f.name === name && f.wave === wave) ??
    content.forms.find((f) => f.name === name);

  // Fill the lists from the top down, keeping what is still possible, and draw.
  async function choose() {
    const content = await data(state.target);
    field.target.value = state.target;
    const names = [...new Set(content.forms.map((form) => form.name))];
    if (!names.includes(state.form)) state.form = instead(state.form, content, names);
    draw.fill(field.form, names, state.form);
    const waves = [...new Set(content.forms.filter((f) => f.name === state.form).map((f) => String(f.wave)))];
    if (!waves.includes(state.wave)) state.wave = waves[0];
    draw.fill(field.wave, waves.map((w) => [w, `wave${w}`]), state.wave);
    const variants = content.forms.filter((f) => f.name === state.form && String(f.wave) === state.wave).map((f) => f.variant);
    if (!variants.includes(state.variant)) state.variant = variants[0];
    draw.fill(field.variant, variants.map((v) => [v, v || "none"]), state.variant);
    field.variant.parentElement.hidden = variants.length < 2;
    chosen = formsOf(content, state.form, Number(state.wave), state.variant);
    const operands = chosen.operands.map((each) => each.name);
    if (!operands.includes(state.operand)) {
      draw.say(`${state.form} has no operand ${state.operand}: ${operands[0]} is shown.`);
      state.operand = operands[0];
    }
    draw.fill(field.operand, operands, state.operand);
    operand = new Operand(chosen.operands.find((each) => each.name === state.operand), content.layouts);
    clamp();
    field.lane.max = operand.lanes - 1;
    field.vgpr.max = operand.registers - 1;
    field.row.max = operand.shape[0] - 1;
    field.column.max = operand.shape[1] - 1;
    const slots = Array.from({ length: operand.slots }, (_, i) => [String(i), operand.bits >= 32 ? "31:0" : `${(i + 1) * operand.bits - 1}:${i * operand.bits}`]);
    draw.fill(field.slot, slots, state.slot);
    field.slot.parentElement.hidden = slots.length < 2;
    drawMatrix();
    drawRegisters();
    drawBits();
    drawFacts();
    await show();
  }

  // The instruction under another of its names, or the one of this target that looks most like it.
  function instead(name, content, names) {
    const alias = content.forms.find((form) => form.aliases.includes(name));
    if (alias) return alias.name;
    const found = nearest(name, names);
    draw.say(`${state.target} has no ${name}: ${found} is shown.`);
    return found;
  }

  // Places inside the operand: row and column of the address or a field, else lane, VGPR and bits.
  function clamp() {
    if (state.row !== "" || state.column !== "") seek(state.row || "0", state.column || "0");
    state.row = state.column = "";
    state.lane = draw.within("Lane", state.lane, 0, operand.lanes - 1);
    state.vgpr = draw.within("VGPR", state.vgpr, 0, operand.registers - 1);
    state.slot = String(Math.min(Number(state.slot), operand.slots - 1));
  }

  // Lane, VGPR and bits of an element.
  function seek(row, column) {
    const [rows, columns] = operand.shape;
    const found = [draw.within("Row", row, 0, rows - 1), draw.within("Column", column, 0, columns - 1)];
    const held = operand.places.get(`${found.join()},0`);
    if (held) place(...held[0]);
    else draw.say(`No lane holds ${operand.name}[${found.join(", ")}].`);
  }

  function place(lane, position) {
    const start = operand.bit(position);
    Object.assign(state, { lane: String(lane), vgpr: String(Math.floor(start / 32)), slot: String(operand.bits >= 32 ? 0 : Math.floor((start % 32) / operand.bits)) });
  }

  // The instruction of another target that looks most like this one.
  function nearest(name, names) {
    const parts = name.split("_");
    const score = (other) => other.split("_").filter((part) => parts.includes(part)).length;
    return names.reduce((best, each) => (score(each) > score(best) ? each : best), names[0]);
  }

  const group = (lane) => Math.floor(lane / 16) % 4;

  function drawMatrix() {
    const [rows, columns, blocks] = operand.shape;
    const size = Math.max(7, Math.min(36, Math.floor(620 / columns)));
    const width = 34 + columns * size + 6;
    const height = (20 + rows * size) * blocks + 8;
    const cells = draw.svg("g", { class: "cells" });
    for (const [key, places] of operand.places) {
      const [row, column, block] = key.split(",").map(Number);
      const [lane, position] = places[0];
      const x = 34 + column * size;
      const y = 20 + row * size + block * (20 + rows * size);
      const mark = draw.svg("rect", { x, y, width: size - 1, height: size - 1, class: `lanes${group(lane)}`, "data-lane": lane, "data-position": position });
      cells.append(mark);
      if (size >= 26) {
        const register = Math.floor(operand.bit(position) / 32);
        cells.append(draw.text(x + size / 2, y + size / 2 - 3, `L${lane}`, { class: "small" }));
        cells.append(draw.text(x + size / 2, y + size / 2 + 11, `v${register}`, { class: "small" }));
      }
    }
    for (let block = 0; block < blocks; block++) {
      const top = 20 + block * (20 + rows * size);
      for (let column = 0; column < columns; column += columns > 32 ? 8 : columns > 16 ? 4 : 1)
        cells.append(draw.text(34 + (column + 0.5) * size, top - 5, column, { class: "small" }));
      for (let row = 0; row < rows; row += rows > 32 ? 8 : rows > 16 ? 4 : 1)
        cells.append(draw.text(28, top + (row + 0.5) * size + 4, row, { class: "small end" }));
    }
    const picture = draw.picture(width, height, `Matrix ${operand.name}: which lane and register holds each element`, cells, draw.svg("g", { class: "marks" }));
    picture.addEventListener("click", pick);
    picture.addEventListener("pointermove", pick);
    const copies = Math.max(...[...operand.places.values()].map((places) => places.length));
    const note = copies > 1 ? ` Every element is held ${copies} times; the lowest lane is named.` : "";
    matrix.replaceChildren(draw.html("h2", {}, `Matrix ${operand.name}`), draw.html("p", { class: "scope" }, `${rows} x ${columns}${blocks > 1 ? ` in ${blocks} blocks` : ""} of ${operand.type}.${note}`), legend(), picture);
  }

  function legend() {
    const line = draw.html("p", { class: "legend" });
    for (let g = 0; g < Math.min(4, operand.lanes / 16); g++) line.append(draw.html("span", { class: `key lanes${g}` }), `lanes ${g * 16}-${g * 16 + 15} `);
    return line;
  }

  function drawRegisters() {
    const slots = operand.slots;
    const columns = operand.registers * slots;
    const w = Math.max(8, Math.min(52, Math.floor(620 / columns)));
    const h = 15;
    const cells = draw.svg("g", { class: "cells" });
    for (let lane = 0; lane < operand.lanes; lane++) {
      if (lane % 4 === 0) cells.append(draw.text(28, 26 + lane * h + h - 2, lane, { class: "small end" }));
      for (let position = 0; position < operand.positions; position++) {
        if (!operand.element(lane, position)) continue;
        const x = 34 + (operand.bit(position) / 32) * slots * w;
        const wide = (operand.bits / 32) * slots * w;
        const mark = { x, y: 24 + lane * h, width: Math.max(3, wide - 1), height: h - 1, class: `lanes${group(lane)}`, "data-lane": lane, "data-position": position };
        cells.append(draw.svg("rect", mark));
        const [row, column] = operand.element(lane, position);
        if (wide >= 34) cells.append(draw.text(x + wide / 2, 24 + lane * h + 11, `${row},${column}`, { class: "small" }));
      }
    }
    for (let register = 0; register < operand.registers; register++)
      cells.append(draw.text(34 + (register + 0.5) * slots * w, 16, `v${register}`, { class: "small" }));
    const picture = draw.picture(40 + columns * w, 30 + operand.lanes * h, `Registers of operand ${operand.name}: which element each lane holds`, cells, draw.svg("g", { class: "marks" }));
    picture.addEventListener("click", pick);
    picture.addEventListener("pointermove", pick);
    registers.replaceChildren(
      draw.html("h2", {}, "Registers"),
      draw.html("p", { class: "scope" }, `${operand.lanes} lanes down, ${operand.registers} VGPR${operand.registers > 1 ? "s" : ""} across, bit 0 on the left. Row and column where they fit.`),
      picture,
    );
  }

  function drawBits() {
    bits.replaceChildren(draw.html("h2", {}, "Bit by bit"));
    if (!operand.steps) {
      bits.append(draw.html("p", { class: "scope" }, "The coordinates of this operand are no sum over bits of lane and position."));
      return;
    }
    bits.append(draw.html("p", { class: "scope" }, "What each set bit of the lane number, and of the position in the lane's registers, adds to the coordinates."));
    const table = draw.html("table", {}, draw.html("caption", { class: "unseen" }, `What each bit adds to row and column of ${operand.name}`));
    const row = (tag, ...cells) => table.append(draw.html("tr", {}, ...cells.map((cell) => draw.html(tag, {}, cell))));
    const blocks = operand.shape[2] > 1;
    row("th", "bit", "row", "column", ...(blocks ? ["block"] : []));
    for (const [what, steps] of [["lane", operand.steps.lane], ["position", operand.steps.position]])
      steps.forEach((step, bit) => row("td", `${what} bit ${bit} (+${1 << bit})`, ...step.slice(0, blocks ? 3 : 2).map((v) => (v ? `+${v}` : "·"))));
    bits.append(table);
  }

  function drawFacts() {
    const list = draw.html("ul", { class: "notes" });
    const item = (text) => list.append(draw.html("li", {}, text));
    item(`${chosen.name}, wave${chosen.wave}${chosen.variant ? `, ${chosen.variant}` : ""}`);
    for (const each of chosen.operands) {
      const count = (each.registers * 32) / each.stride;
      item(`${each.name}: ${each.shape.slice(0, 2).join(" x ")}${each.shape[2] > 1 ? ` x ${each.shape[2]} blocks` : ""} of ${each.type}; ${Math.floor(count)} elements in ${each.registers} VGPRs a lane${each.same ? `, the registers of ${each.same}` : ""}`);
    }
    if (chosen.aliases.length) item(`also spelled ${chosen.aliases.join(", ")}`);
    if (chosen.builtins.length) item(`clang: ${chosen.builtins.join(", ")}`);
    for (const source of chosen.sources) item(`source: ${source}`);
    facts.replaceChildren(draw.html("h2", {}, "Instruction"), list);
  }

  function pick(event) {
    const lane = event.target.dataset?.lane;
    if (lane === undefined) return;
    if (event.type === "pointermove" && event.pointerType === "touch") return;
    draw.hush();
    place(Number(lane), Number(event.target.dataset.position));
    show();
  }

  async function show() {
    const { row: _row, column: _column, ...kept } = state;
    draw.keep(kept);
    for (const name of ["lane", "vgpr", "slot"]) field[name].value = state[name];
    const lane = Number(state.lane);
    const register = Number(state.vgpr);
    const position = operand.at(register, Number(state.slot));
    const element = position < 0 ? null : operand.element(lane, position);
    document.querySelectorAll("#diagram .marks").forEach((marks) => marks.replaceChildren());
    if (!element) {
      readout.replaceChildren(draw.html("p", {}, `Lane ${lane}, VGPR ${register}: holds no element of ${operand.name}.`));
      return;
    }
    [field.row.value, field.column.value] = element;
    const places = operand.places.get(element.join());
    const line = draw.html("p", {}, `Lane ${lane}, ${operand.place(position)}: `, draw.html("strong", { id: "answer", class: "element" }, operand.named(element)));
    if (places.length > 1) line.append(`, which ${draw.ranges(places.map(([l]) => l)) === String(lane) ? "it" : `lanes ${draw.ranges(places.map(([l]) => l))}`} hold`);
    const partners = draw.html("p", { class: "scope" }, "Partner lanes, same register: ");
    const others = [16, 32, 48].map((mask) => lane ^ mask).filter((other) => other < operand.lanes);
    partners.append(others.map((other) => `lane ${other} has ${operand.element(other, position) ? operand.named(operand.element(other, position)) : "nothing"}`).join("; "));
    readout.replaceChildren(line, partners);
    mark(element, places, lane, position);
    if (state.other && state.other !== state.target) readout.append(await compared(lane, register));
  }

  async function compared(lane, register) {
    const content = await data(state.other);
    const form = content.forms.find((f) => f.name === state.form && f.wave === Number(state.wave)) ?? content.forms.find((f) => f.name === state.form);
    const line = draw.html("p", { id: "compared" });
    if (!form) {
      line.append(`${state.other} has no ${state.form}.`);
      return line;
    }
    const found = form.operands.find((each) => each.name === state.operand);
    if (!found) return line;
    const there = new Operand(found, content.layouts);
    const position = register < there.registers && lane < there.lanes ? there.at(register, Math.min(Number(state.slot), there.slots - 1)) : -1;
    const element = position < 0 ? null : there.element(lane, position);
    line.append(`${state.other}, same lane and register: `, draw.html("strong", { class: "element" }, element ? there.named(element) : "nothing"), there.registers === operand.registers ? `; ${there.registers} VGPRs on both.` : `; ${there.registers} VGPRs instead of ${operand.registers}.`);
    return line;
  }

  function mark(element, places, lane, position) {
    const outline = (rect, kind) => {
      const box = { x: rect.getAttribute("x"), y: rect.getAttribute("y"), width: rect.getAttribute("width"), height: rect.getAttribute("height"), class: kind };
      rect.closest("svg").querySelector(".marks").append(draw.svg("rect", box));
    };
    const [first] = places;
    matrix.querySelectorAll(`rect[data-lane="${first[0]}"][data-position="${first[1]}"]`).forEach((rect) => outline(rect, "mark"));
    for (const [l, p] of places)
      registers.querySelectorAll(`rect[data-lane="${l}"][data-position="${p}"]`).forEach((rect) => outline(rect, l === lane && p === position ? "mark" : "copy"));
  }

  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", (event) => {
    const { name, type, value } = event.target;
    // A field that is being emptied to type another number stays as it is.
    if (type === "number" && value === "") return;
    draw.hush();
    if (name === "row" || name === "column") {
      seek(field.row.value, field.column.value);
      return show();
    }
    state[name] = value;
    if (name === "other") return show();
    if (["lane", "vgpr", "slot"].includes(name)) {
      clamp();
      return show();
    }
    choose();
  });
  // Arrow keys walk lanes and registers when a picture has the focus.
  for (const panel of [matrix, registers]) {
    panel.tabIndex = 0;
    panel.addEventListener("keydown", (event) => {
      const step = { ArrowUp: ["lane", -1], ArrowDown: ["lane", 1], ArrowLeft: ["vgpr", -1], ArrowRight: ["vgpr", 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const most = step[0] === "lane" ? operand.lanes : operand.registers;
      state[step[0]] = String((Number(state[step[0]]) + step[1] + most) % most);
      show();
    });
  }
  await choose();
})();
