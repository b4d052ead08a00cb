"use strict";
// What a report can do beyond being read: sort a table, copy a text, open a section that a link names, print all.
for (const table of document.querySelectorAll("table")) {
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
