// Looks through the index: which targets a query names, what its other words mean, and the entries with most of them.
"use strict";

(() => {
  const MOST = { layout: 3, page: 5, instruction: 8, fact: 20 };
  const SHOWN = 20;
  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // Where a word begins, or anywhere if it is long. A mnemonic may leave parts out: ds_read_tr finds ds_read_b64_tr_b16.
  antiphase.pattern = (word) => {
    const parts = word.split("_").filter(Boolean).map(escape).join("\\w*?_") || escape(word);
    return new RegExp(word.length < 4 || word.includes("_") ? `(?<![a-z0-9])${parts}` : parts);
  };

  // What a query asks: words, targets as bits (0: any) with their spelling, an element such as A[3,7].
  function read(index, query) {
    let element = null;
    const text = query
      .toLowerCase()
      .replace(/\b([abcd])\s*\[\s*(\d+)\s*,\s*(\d+)\s*\]/, (_, operand, row, column) => {
        element = { operand: operand.toUpperCase(), row, column };
        return " ";
      })
      .replace(/\b([rc]dna)\s+(\d)/g, "$1$2");
    const all = text.split(/[\s,;()?]+/).filter(Boolean);
    const words = [];
    const named = [];
    for (const word of all) {
      const keys = Object.hasOwn(index.filters, word) ? [word] : Object.keys(index.filters).filter((key) => word.length > 3 && /\d/.test(word) && key.startsWith(word));
      if (keys.length) named.push(...keys.map((key) => index.filters[key]));
      else if (!index.skipped.includes(word)) words.push(word);
    }
    const targets = named.reduce((bits, [mask]) => bits | mask, 0);
    return { words: words.length || element ? words : all, targets, only: !words.length && targets !== 0, spelled: [...new Set(named.map(([, name]) => name))], element };
  }

  function terms(index, word) {
    const single = word.replace(/s$/, "");
    const base = Object.hasOwn(index.synonyms, word) ? word : Object.keys(index.synonyms).find((key) => key === single || (key.includes("_") && word.startsWith(key)));
    const spelled = index.filters[word]?.[1].toLowerCase();
    const others = [...(index.synonyms[base] ?? []), ...(spelled && spelled !== word ? [spelled] : []), ...(single !== word && word.length > 4 ? [single] : [])];
    return [{ word, test: antiphase.pattern(word), worth: 1 }, ...others.map((other) => ({ word: other, test: antiphase.pattern(other), worth: 0.6 }))];
  }

  const rate = ({ word, test, worth }, entry) => {
    if (entry.name === word || entry.label === word) return 8 * worth;
    if (entry.label.startsWith(word)) return 4 * worth;
    if (test.test(entry.label) || test.test(entry.name)) return 2 * worth;
    return test.test(entry.text) ? worth : 0;
  };

  // Whether the element is in the operand, by the M x N x K of the name.
  function inside(name, { operand, row, column }) {
    const [m, n, k] = name.match(/(\d+)x(\d+)x(\d+)/).slice(1).map(Number);
    const [rows, columns] = { A: [m, k], B: [k, n] }[operand] ?? [m, n];
    return row < rows && column < columns;
  }

  const names = (index, bits) => index.targets.filter((_, i) => (bits >> i) & 1);

  // Every entry alike: kind, title, label and name and text to look through, bits of the targets it is about.
  function* entries(index, asked) {
    const { targets, element } = asked;
    const about = (bits) => !targets || bits & targets;
    for (const [name, aliases, bits] of index.layouts) {
      if (!about(bits) || (element && !inside(name, element))) continue;
      const held = names(index, targets ? bits & targets : bits);
      const place = element ? `&operand=${element.operand}&row=${element.row}&column=${element.column}` : "";
      const shown = `${element ? `where ${element.operand}[${element.row}, ${element.column}] is` : "which lane and register holds each element"}: ${held.join(", ")}`;
      yield { kind: "layout", title: name, shown, href: `explorer.html#target=${held[0]}&form=${name}${place}`, label: name, name: "", text: `${aliases} ${index.layout.join(" ")}` };
    }
    for (const [title, text, href, bits] of index.pages)
      if (!bits || about(bits)) yield { kind: "page", title, shown: text, href, label: title.toLowerCase(), name: "", text: text.toLowerCase(), home: bits & targets };
    for (const [title, name, chapter, values, statements] of index.facts) {
      const held = statements.filter(([bits]) => about(bits));
      if (!held.length) continue;
      const text = `${values} ${held.map(([, says]) => says).join(" ")}`.toLowerCase();
      yield { kind: "fact", title, held, href: `${chapter}.html#${name}`, label: title.toLowerCase(), name: name.toLowerCase(), text };
    }
    for (const [name, group, bits] of index.instructions)
      if (about(bits)) yield { kind: "instruction", title: name, shown: group, href: `instructions.html#${name}`, label: name, name: "", text: group.toLowerCase() };
  }

  // The statements of a fact for the targets that were named, or those that have most of the words first.
  function said(index, asked, held, sought) {
    const { targets, spelled } = asked;
    if (!targets) {
      const count = (says) => sought.filter((forms) => forms.some(({ test }) => test.test(says.toLowerCase()))).length;
      const sorted = held.map(([, says]) => says).sort((a, b) => count(b) - count(a));
      return [...new Set(sorted)].join(" · ");
    }
    return held.map(([bits, says]) => `${(bits & targets) === targets ? spelled.join(", ") : names(index, bits & targets).join(", ")}: ${says}`).join(" · ");
  }

  // The best entries, each {kind, title, text, href}; `partial` where none has every word.
  antiphase.find = (index, query) => {
    const asked = read(index, query);
    const { words, element, only } = asked;
    const sought = words.map((word) => terms(index, word));
    const rated = [];
    for (const entry of entries(index, asked)) {
      const points = sought.map((forms) => Math.max(...forms.map((form) => rate(form, entry))));
      if (entry.home && only) points.fill(9);
      if (points.some((each) => each > 0) || (element && !words.length && entry.kind === "layout")) rated.push({ entry, points });
    }
    // A word that few entries have says more than one that many have.
    const rarity = words.map((_, i) => Math.log(1 + 3000 / (1 + rated.filter(({ points }) => points[i] > 0).length)));
    const mnemonic = (word) => index.families.some((family) => word.includes(family)) && index.layouts.some(([name, aliases]) => antiphase.pattern(word).test(`${name} ${aliases}`));
    const layoutFirst = element || (words.some(mnemonic) && words.every((word) => mnemonic(word) || index.layout.includes(word)));
    for (const one of rated) {
      one.has = one.points.filter((each) => each > 0).length;
      one.score = one.points.reduce((sum, each, i) => sum + each * rarity[i], layoutFirst && one.entry.kind === "layout" ? 1000 : 0);
    }
    const best = Math.max(0, ...rated.map(({ has }) => has));
    const first = rated.filter(({ has }) => has === best).sort((a, b) => b.score - a.score || (a.entry.kind !== "layout" && a.entry.title.length - b.entry.title.length));
    const count = {};
    const results = [];
    for (const { entry } of first) {
      count[entry.kind] = (count[entry.kind] ?? 0) + 1;
      if (results.length >= SHOWN || count[entry.kind] > (layoutFirst || entry.kind !== "layout" ? MOST[entry.kind] : 1)) continue;
      results.push({ kind: entry.kind, title: entry.title, text: entry.shown ?? said(index, asked, entry.held, sought), href: entry.href });
    }
    if (count.instruction > MOST.instruction)
      results.push({ kind: "instructions", title: `All ${count.instruction} instructions with ${words.join(" ")}`, text: "the list, filtered", href: `instructions.html#${encodeURIComponent(words.join(" "))}` });
    return { results, partial: !only && best > 0 && best < words.length };
  };
})();
