// Formulas by the KaTeX beside this file, and a filter over long tables. Without JavaScript formulas stay TeX and tables whole.
document.addEventListener("DOMContentLoaded", () => {
  if (window.katex) {
    for (const place of document.querySelectorAll(".math")) {
      const tex = place.textContent.trim().match(/^\\[([]([\s\S]*)\\[)\]]$/);
      if (tex) katex.render(tex[1], place, { displayMode: place.tagName === "DIV", throwOnError: false });
    }
  }
  for (const box of document.querySelectorAll(".filtered")) {
    const rows = [...box.querySelectorAll("tbody tr")];
    const words = rows.map((row) => row.textContent.toLowerCase());
    const field = document.createElement("input");
    const count = document.createElement("output");
    field.type = "search";
    field.placeholder = "words, such as: ring partial proved";
    field.setAttribute("aria-label", "Show rows that have all these words");
    const filter = () => {
      const asked = field.value.toLowerCase().split(/\s+/);
      rows.forEach((row, i) => (row.hidden = !asked.every((word) => words[i].includes(word))));
      count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
    };
    field.addEventListener("input", filter);
    box.prepend(field, count);
    filter();
  }
});
