"use strict";
// What a report can do beyond being read: sort a table, copy a text, open a section that a link names, print all,
// and compute times again where sliders move links, model size and work.
for (const table of document.querySelectorAll("table:not(.fixed)")) {
  const body = table.tBodies[0];
  const given = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  if (given.length < 2) continue;
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const next = now === null ? "ascending" : now === "ascending" ? "descending" : null;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next) head.setAttribute("aria-sort", next);
      body.append(...(next ? sorted(given, column, next === "ascending" ? 1 : -1) : given));
    });
  });
}

// Rows by a column: numbers by size, texts by letters; cells without a number stay last, equal ones in their order.
function sorted(rows, column, sign) {
  const cells = rows.map((row) => row.cells[column]);
  const numeric = cells.some((cell) => cell.dataset.n !== undefined);
  const key = (row) => {
    const cell = row.cells[column];
    return numeric ? (cell.dataset.n === undefined ? null : Number(cell.dataset.n)) : cell.textContent;
  };
  return [...rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
  });
}

for (const text of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  text.after(button);
}

function open() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();

let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((one) => (one.open = true));
});
addEventListener("afterprint", () => closed.forEach((one) => (one.open = false)));

// Two digits, three close to 1, as in the rest of the report.
function two(x) {
  const near = (y) => y >= 0.95 && y < 1.1, rounded = Number(x.toPrecision(near(x) ? 3 : 2));
  return near(rounded) && rounded !== 1 ? rounded.toFixed(2) : rounded.toLocaleString("en");
}
const UNITS = {
  "bit/s": [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
  bytes: [["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]],
  s: [["s", 1], ["ms", 1e-3], ["us", 1e-6]],
};

function amount(value, unit) {
  const rounded = Number(value.toPrecision(3));
  const [name, one] = UNITS[unit].find(([, size]) => rounded >= size) ?? UNITS[unit].at(-1);
  return `${Number((rounded / one).toPrecision(3))} ${name}`;
}

function duration(seconds) {
  for (const [size, unit, least] of [[3.15576e7, "y", 2], [86400, "d", 1.5], [3600, "h", 1], [60, "min", 1], [1, "s", 1]])
    if (seconds >= least * size) return `${two(seconds / size)} ${unit}`;
  return `${two(seconds * 1e3)} ms`;
}

// Seconds of a round: so many transfers and latencies of every link, and so much work.
function seconds(terms, values) {
  let total = 0;
  for (const [name, count] of Object.entries(terms)) {
    const at = name.lastIndexOf("."), link = name.slice(0, at), part = name.slice(at + 1);
    const bits = 8 * values.model_size;
    if (part === "up" || part === "down") total += (count * bits) / values[name];
    else if (part === "slower") total += (count * bits) / Math.min(values[`${link}.up`], values[`${link}.down`]);
    else total += count * (values[name] ?? 0);
  }
  return total;
}

function slide(section) {
  const { cases, reach, steps } = JSON.parse(section.dataset.model);
  const inputs = [...section.querySelectorAll("input[type=range]")];
  const move = () => {
    const values = {};
    for (const input of inputs) {
      const factor = reach ** (Number(input.value) / steps);
      values[input.dataset.name] = Number(input.dataset.value) * factor;
      const text = amount(values[input.dataset.name], input.dataset.unit);
      input.previousElementSibling.textContent = text;
      input.setAttribute("aria-valuetext", text);
    }
    for (const table of section.querySelectorAll("table")) {
      const times = cases[table.dataset.case].map((row) => row.rounds * seconds(row.terms, values));
      const best = Math.min(...times.filter((_, i) => !cases[table.dataset.case][i].baseline));
      [...table.tBodies[0].rows].forEach((row, i) => {
        row.cells[2].textContent = `~${duration(times[i])}`;
        row.cells[2].dataset.n = times[i];
        row.cells[3].textContent = `${two(times[i] / best)}x`;
        row.classList.toggle("best", times[i] === best);
      });
    }
  };
  section.addEventListener("input", move);
  section.querySelector("button.back").addEventListener("click", () => {
    inputs.forEach((input) => (input.value = 0));
    move();
  });
  section.hidden = false;
  move();
}
document.querySelectorAll("#sliders").forEach(slide);

function hint(scroll) {
  const note = document.createElement("p");
  note.className = "note more";
  note.textContent = "More columns: scroll sideways.";
  scroll.before(note);
  const look = () => note.classList.toggle("shown", scroll.scrollWidth > scroll.clientWidth + 1);
  new ResizeObserver(look).observe(scroll);
  look();
}
document.querySelectorAll(".scroll").forEach(hint);
