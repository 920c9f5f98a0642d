// What the diagrams share: elements, labelled controls, and a state that lives in the address.
"use strict";

const draw = {
  // An SVG element with attributes and children (elements or text).
  svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  },

  // An HTML element, likewise.
  html(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  },

  // A picture of that size, drawn larger where there is room, named for those who do not see it.
  picture(width, height, title, ...children) {
    const svg = draw.svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, style: `--width: ${width}px`, "aria-label": title }, ...children);
    // An image hides what is in it; a group leaves marks within reach of the keyboard.
    svg.setAttribute("role", svg.querySelector("[tabindex]") ? "group" : "img");
    return svg;
  },

  text(x, y, content, attributes = {}) {
    return draw.svg("text", { x, y, ...attributes }, content);
  },

  // A horizontal or vertical arrow with its head at (x2, y2).
  arrow(x1, y1, x2, y2, attributes = {}) {
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    return draw.svg(
      "g",
      { class: "arrow", ...attributes },
      draw.svg("line", { x1, y1, x2: x2 - 5 * Math.cos((angle * Math.PI) / 180), y2: y2 - 5 * Math.sin((angle * Math.PI) / 180) }),
      draw.svg("path", { d: "M0 0 L-9 -4 L-9 4 Z", transform: `translate(${x2} ${y2}) rotate(${angle})` }),
    );
  },

  // A labelled select; `options` are [value, text] pairs or plain strings.
  select(label, name, options, value) {
    const select = draw.html("select", { name });
    draw.fill(select, options, value);
    return draw.html("label", {}, label, select);
  },

  fill(select, options, value) {
    select.replaceChildren(...options.map((each) => (Array.isArray(each) ? new Option(each[1], each[0]) : new Option(each, each))));
    if (value !== undefined) select.value = value;
    if (select.selectedIndex < 0) select.selectedIndex = 0;
  },

  // Registers in a row as the assembler spells them.
  span: (first, last) => (first === last ? `v${first}` : `v[${first}:${last}]`),

  number(label, name, value, min, max) {
    return draw.html("label", {}, label, draw.html("input", { type: "number", name, value, min, max, inputmode: "numeric" }));
  },

  // The state that the address carries, as "#key=value&key=value", over these defaults. `allowed` has for some keys the
  // values there are, or [least, most] of a whole number; anything else is replaced, and said.
  state(defaults, allowed = {}) {
    const state = { ...defaults };
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
      if (!Object.hasOwn(defaults, key)) draw.say(`The address has ${key}=${value}, which says nothing here.`);
      else if (!Object.hasOwn(allowed, key)) state[key] = value;
      else if (typeof allowed[key][0] === "number") state[key] = draw.within(key, value, ...allowed[key], defaults[key]);
      else if (allowed[key].includes(value)) state[key] = value;
      else draw.say(`There is no ${key} "${value}": ${defaults[key]} is shown.`);
    }
    return state;
  },

  // A whole number between two, as text; what is outside is moved to the nearest and said.
  within(name, value, least, most, otherwise = least) {
    if (!/^-?\d+$/.test(value)) {
      draw.say(`${name} "${value}" is no whole number: ${otherwise || least} is shown.`);
      return String(otherwise);
    }
    const found = Math.min(most, Math.max(least, Number(value)));
    if (found !== Number(value)) draw.say(`${name} ${value} is not one of ${least} to ${most}: ${found} is shown.`);
    return String(found);
  },

  // Tell what was changed, above the diagram.
  say(text) {
    draw.message.append(draw.html("p", {}, text));
  },
  hush() {
    draw.message.replaceChildren();
  },

  keep(state) {
    history.replaceState(null, "", `#${new URLSearchParams(state)}`);
  },

  // A list of numbers as ranges: "0-3, 8-11".
  ranges(numbers) {
    const found = [];
    for (const n of [...numbers].sort((a, b) => a - b)) {
      const last = found.at(-1);
      if (last && last[1] === n - 1) last[1] = n;
      else found.push([n, n]);
    }
    return found.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(", ");
  },
};

// What the page brings along: generations with their targets, and the facts it shows.
draw.root = document.getElementById("diagram");
draw.message = draw.html("div", { class: "message", role: "status" });
draw.root.before(draw.message);
draw.generations = JSON.parse(draw.root.dataset.generations);
draw.facts = JSON.parse(draw.root.dataset.facts);

// The answers of one row for a generation.
draw.answers = (subject, generation) =>
  (draw.facts.find((fact) => fact.subject === subject)?.answers ?? []).filter((answer) => answer.generations.includes(generation));

// The rows whose subject begins so, as a list of statements for a generation, each linked to its row.
draw.statements = (prefixes, generation) => {
  const list = draw.html("ul", { class: "statements" });
  for (const fact of draw.facts.filter((each) => prefixes.some((prefix) => each.subject.startsWith(prefix)))) {
    for (const answer of draw.answers(fact.subject, generation)) {
      const link = draw.html("a", { href: fact.href }, fact.title);
      const where = answer.targets.length ? ` (${answer.targets.join(", ")})` : "";
      list.append(draw.html("li", {}, link, `${where}: ${answer.says} `, draw.html("span", { class: "badge" }, answer.evidence)));
    }
  }
  if (!list.children.length) list.append(draw.html("li", { class: "nothing" }, `No fact is recorded for ${generation}.`));
  return list;
};

draw.names = Object.keys(draw.generations);
draw.generation = (value) => draw.select("Generation", "generation", draw.names, value);

// An address that is changed by hand, or by a search result on this page, starts over.
addEventListener("hashchange", () => location.reload());

// Marks with data-KEY inside `panel` are chosen by click and, where they have the focus, by Enter or space.
draw.choosable = (panel, key, chosen) => {
  const choose = (event) => {
    const value = event.target.closest?.(`[data-${key}]`)?.dataset[key];
    if (value === undefined) return;
    event.preventDefault();
    chosen(value);
    panel.querySelector(`[data-${key}="${value}"][tabindex]`)?.focus();
  };
  panel.addEventListener("click", choose);
  panel.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && choose(event));
};
