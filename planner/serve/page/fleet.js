// The fleet as it is built: tiers as a picture with fields in it, and sliders.
import { get, put } from "./state.js";
import { STEPS, nextCount, placeOf, spell, valueAt } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";
let serial = 0;

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// One number: a label, a slider, a text field, what changes the answer, and what is wrong with it.
export class Slider {
  constructor(control, path, tables, changed) {
    Object.assign(this, { control, path, tables, changed, flips: [] });
    const id = `c${++serial}`;
    this.text = make("input", { type: "text", id, autocomplete: "off", spellcheck: false });
    this.text.setAttribute("aria-describedby", `${id}-flip ${id}-problem`);
    this.range = make("input", { type: "range", min: 0, max: STEPS, step: 1 });
    this.track = make("div", { className: "track" }, this.range);
    this.flip = make("p", { className: "flip", id: `${id}-flip` });
    this.problem = make("p", { className: "problem", id: `${id}-problem`, hidden: true });
    this.label = make("label", { htmlFor: id, title: control.help });
    this.element = make("div", { className: "control" }, this.label, this.track, this.text, this.flip, this.problem);
    this.element.dataset.path = path;
    this.text.addEventListener("input", () => this.typed());
    this.range.addEventListener("input", () => this.moved());
    this.place = 0;
    this.shown();
  }

  // What stands beside it, and what it is called away from there.
  call(label, name = label) {
    this.name = name;
    this.label.textContent = label;
    this.text.setAttribute("aria-label", name);
    this.range.setAttribute("aria-label", `${name}, slider`);
  }

  // What is written in the scenario, as text.
  shown() {
    const said = get(this.tables(), this.path);
    this.text.value = said === undefined ? "" : String(said);
    this.element.classList.toggle("assumed", said === undefined);
  }

  typed() {
    const text = this.text.value.trim();
    const plain = /^[0-9.]+$/.test(text) && ["count", "number"].includes(this.control.kind);
    put(this.tables(), this.path, text === "" ? undefined : plain && Number.isFinite(Number(text)) ? Number(text) : text);
    this.element.classList.toggle("assumed", text === "");
    this.changed();
  }

  moved() {
    this.place = nextCount(Number(this.range.value), this.place, this.control);
    this.range.value = this.place;
    const value = valueAt(this.place, this.control);
    this.text.value = spell(value, this.control.kind);
    this.range.setAttribute("aria-valuetext", this.text.value);
    this.typed();
  }

  // Show what the answer took it to be.
  known(found) {
    if (!found) return;
    if (found.value !== null && document.activeElement !== this.range) {
      this.place = Math.round(placeOf(found.value, this.control));
      this.range.value = this.place;
    }
    this.range.setAttribute("aria-valuetext", found.text);
    this.text.placeholder = found.text;
  }

  refuse(text) {
    this.problem.textContent = text ?? "";
    this.problem.hidden = !text;
    this.text.setAttribute("aria-invalid", text ? "true" : "false");
  }

  mark(found) {
    this.flips = [found?.below, found?.above].filter(Boolean);
    this.flip.textContent = this.flips.map((one) => one.text).join("; ");
    this.track.querySelectorAll(".mark").forEach((old) => old.remove());
    for (const one of this.flips) {
      const place = placeOf(one.at, this.control, true);
      if (place === null) continue;
      const mark = make("span", { className: "mark", title: one.text });
      mark.style.left = `calc(8px + (100% - 16px) * ${place / STEPS})`;
      this.track.append(mark);
    }
  }
}

const PLURAL = { group: "groups", client: "clients" };

export class Fleet {
  constructor(described, tables, changed) {
    Object.assign(this, { described, tables, changed, sliders: [] });
  }

  build() {
    const tiers = get(this.tables(), "fleet.tiers") ?? [];
    const numbers = this.numbers();
    this.sliders = [];
    const place = document.getElementById("tiers");
    place.replaceChildren(...tiers.map((tier, i) => this.tier(tier, i, tiers.length, numbers)));
    const rest = document.getElementById("controls");
    rest.replaceChildren(...this.described.fleet.map((control) => this.slider(control, control.key, control.label).element));
    document.getElementById("add").disabled = tiers.length >= 5;
  }

  numbers() {
    return (get(this.tables(), "fleet.tiers") ?? []).some((tier) => tier.deviation !== undefined);
  }

  slider(control, path, ...names) {
    const made = new Slider(control, path, this.tables, this.changed);
    made.call(...names);
    this.sliders.push(made);
    return made;
  }

  tier(tier, i, depth, numbers) {
    const at = `fleet.tiers[${i + 1}]`;
    const usual = i === depth - 1 ? "client" : depth === 2 ? "group" : `tier ${i + 1}`, word = tier.name ?? usual;
    const name = make("input", { type: "text", value: tier.name ?? "", placeholder: usual, maxLength: 40 });
    name.setAttribute("aria-label", `Name of the nodes of tier ${i + 1}`);
    const away = make("button", { type: "button", textContent: "Remove", hidden: depth === 1 });
    away.setAttribute("aria-label", `Remove tier ${i + 1}, ${word}`);
    away.addEventListener("click", () => this.remove(i));
    const rows = this.described.tier
      .filter((control) => (control.key !== "passes" || i > 0) && (control.key !== "deviation" || numbers))
      .map((control) => this.slider(control, `${at}.${control.key}`, ...this.labels(control, word, i)));
    name.addEventListener("input", () => {
      const now = name.value.trim();
      put(this.tables(), `${at}.name`, now || undefined);
      away.setAttribute("aria-label", `Remove tier ${i + 1}, ${now || usual}`);
      rows.forEach((one) => one.call(...this.labels(one.control, now || usual, i)));
      this.changed();
    });
    const svg = draw("svg", { viewBox: "0 0 320 54", role: "img", "data-tier": i });
    return make("fieldset", { className: "tier" }, make("legend", {}, name, " ", away), svg, ...rows.map((one) => one.element));
  }

  // What stands beside a slider, and what it is called away from its tier.
  labels(control, word, i) {
    const many = PLURAL[word] ?? `${word}s`;
    if (control.key === "count") return i === 0 ? [many] : [`${many} below each`];
    return [control.label, control.key.startsWith("link.") ? `${word} link ${control.label}` : `${word}: ${control.label}`];
  }

  // Draw every tier: one parent, up to seven children, the link's rate.
  pictures(known) {
    document.querySelectorAll("#tiers svg").forEach((svg) => {
      const at = `fleet.tiers[${Number(svg.dataset.tier) + 1}]`;
      const count = known[`${at}.count`]?.value ?? 1, shown = Math.min(count, 7);
      const rate = known[`${at}.link.up`]?.text ?? "";
      const children = [];
      for (let k = 0; k < shown; k++) {
        const x = 160 + (k - (shown - 1) / 2) * 28;
        children.push(draw("line", { x1: 160, y1: 9, x2: x, y2: 43 }), draw("circle", { cx: x, cy: 44, r: 6 }));
      }
      const number = draw("text", { x: 268, y: 48 });
      number.textContent = count > shown ? `... of ${count}` : "";
      const link = draw("text", { x: 175, y: 12 });
      link.textContent = rate ? `${rate} up` : "";
      svg.setAttribute("aria-label", `${count} nodes below each, ${rate} up`);
      svg.replaceChildren(...children, draw("circle", { cx: 160, cy: 9, r: 7 }), number, link);
    });
  }

  add() {
    const tiers = this.tables().fleet.tiers;
    const tier = { name: "edge", count: 4 };
    if (this.numbers()) tier.deviation = 1;
    tiers.splice(Math.max(tiers.length - 1, 0), 0, tier);
    this.restructured();
  }

  remove(i) {
    this.tables().fleet.tiers.splice(i, 1);
    this.restructured();
  }

  // The top tier passes through its children once.
  restructured() {
    const tiers = this.tables().fleet.tiers;
    if (tiers.length) delete tiers[0].passes;
    this.build();
    this.changed();
  }

  find(path) {
    return this.sliders.find((one) => one.path === path);
  }
}
