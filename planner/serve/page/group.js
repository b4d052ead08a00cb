// Groups that are alike, of the clients of a dropped file: asked for, shown with what they buy, taken or downloaded.
import { Refused, ask } from "./ask.js";
import { make } from "./fleet.js";
import { get, put } from "./state.js";

const $ = (id) => document.getElementById(id);

// Hand a text to the user as a file.
export function download(text, name, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// What of a scenario the answer to a grouping depends on: all but what the counts say.
function question(tables) {
  const found = structuredClone(tables);
  for (const tier of get(found, "fleet.tiers") ?? []) for (const key of ["name", "count", "deviation"]) delete tier[key];
  for (const path of ["title", "problem.heterogeneity"]) put(found, path, undefined);
  return JSON.stringify(found);
}

export class Grouping {
  constructor(tables, take) {
    Object.assign(this, { tables, file: null, found: null, asked: "", taken: false, running: null });
    $("group").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    $("take").addEventListener("click", () => {
      this.taken = true;
      take(this.found.tiers);
      $("taken").textContent = "Taken: your fleet has these groups. The browser's back button gives the old ones back.";
    });
    $("download").addEventListener("click", () => download(this.found.csv, "regrouped.csv", "text/csv"));
  }

  // Offer to group the clients of a file, or nothing where it has none to group.
  offer(file) {
    this.running?.abort();
    Object.assign(this, { file, found: null, taken: false, running: null });
    $("group").hidden = !file?.clients;
    $("grouping").hidden = true;
    $("taken").textContent = "";
    this.say("");
    if (!file?.clients) return;
    $("group-legend").textContent = `The ${file.clients} clients of ${file.name}`;
    const first = Number(get(this.tables(), "fleet.tiers[1].count")) || 1;
    $("groups").max = file.clients;
    $("groups").value = file.groups || Math.min(first, Math.max(Math.floor(file.clients / 2), 1));
  }

  async ask() {
    const groups = Number($("groups").value), { name, text, clients } = this.file;
    if (!Number.isInteger(groups) || groups < 1 || groups > clients) {
      this.say(`Write a whole number of groups, from 1 to ${clients}.`, true);
      return;
    }
    this.running?.abort();
    const running = (this.running = new AbortController());
    this.say(`Grouping ${clients} clients: a few seconds ...`);
    const scenario = structuredClone(this.tables());
    try {
      const found = await ask("group", { text, name, groups, scenario }, running.signal);
      Object.assign(this, { found, asked: question(scenario), taken: false });
      this.show();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Refused)) throw error;
      this.say(error.message, true);
    }
  }

  say(text, wrong = false) {
    $("grouped").textContent = text;
    $("grouped").classList.toggle("problem", wrong);
    $("groups").setAttribute("aria-invalid", String(wrong));
  }

  show() {
    const { verdict, target, head, rows, facts, warnings, tiers } = this.found;
    this.say(verdict);
    $("grouping-target").textContent = target;
    const heads = head.map((name) => make(name ? "th" : "td", { textContent: name, ...(name && { scope: "col" }) }));
    const body = rows.map(([first, ...rest]) =>
      make("tr", {}, make("th", { textContent: first, scope: "row" }), ...rest.map((text) => make("td", { textContent: text }))));
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
    $("grouping-table").replaceChildren(...(rows.length ? [table] : []));
    $("grouping-table").hidden = !rows.length;
    $("facts").replaceChildren(...facts.flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })]));
    $("grouping-warnings").replaceChildren(...warnings.map((text) => make("li", { textContent: text })));
    $("take").hidden = !tiers.length;
    $("grouping").hidden = false;
    this.follow();
  }

  // Say where the scenario is no longer the one that was asked about.
  follow() {
    if (!this.found) return;
    const old = question(this.tables()) !== this.asked;
    $("grouping").classList.toggle("stale", old);
    $("take").disabled = old;
    $("taken").textContent = old ? "Your fleet has changed since: group again to see what that buys now." : "";
  }

  // The command that writes the groups that the scenario has, where they were taken here.
  command() {
    const now = get(this.tables(), "fleet.tiers") ?? [];
    const same = this.taken && now.length === this.found.tiers.length &&
      this.found.tiers.every((tier, i) => tier.count === now[i].count && tier.deviation === now[i].deviation);
    return same ? `${this.found.command}\n` : "";
  }
}
