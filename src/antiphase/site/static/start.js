// Runs before the page is drawn: the chosen theme, and where data files announce themselves.
"use strict";

const antiphase = {
  waiting: new Map(),
  data: new Map(),

  // Called by every file of data/ with its content.
  loaded(name, content) {
    antiphase.data.set(name, content);
    for (const ready of antiphase.waiting.get(name) ?? []) ready(content);
    antiphase.waiting.delete(name);
  },

  // The content of data/NAME.js, loaded once. A script and not fetch(), which a page opened from a file may not use.
  need(name) {
    if (antiphase.data.has(name)) return Promise.resolve(antiphase.data.get(name));
    return new Promise((ready, failed) => {
      const others = antiphase.waiting.get(name);
      if (others) return others.push(ready);
      antiphase.waiting.set(name, [ready]);
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onerror = () => failed(new Error(`data/${name}.js is missing`));
      document.head.append(script);
    });
  },
};

try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system's choice stands.
}
