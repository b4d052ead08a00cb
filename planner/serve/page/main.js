// The page: state in the address, one answer at a time, marks of changes when the hand rests.
import { Latest, Refused, ask } from "./ask.js";
import { front } from "./chart.js";
import { Fleet, make } from "./fleet.js";
import { Grouping, download } from "./group.js";
import { fromAddress, get, put, toAddress } from "./state.js";

const REST = 250; // ms without a move before changes are searched for
const SHOWN = ["verdict", "brief", "table", "fronts", "target", "warnings", "command"]; // stay, paler, at a refusal
const COUNTS = "counts.csv"; // what the server calls a file of label counts
const $ = (id) => document.getElementById(id);
let tables, example, fleet, grouping, answer = null, answered = "", spoken = "", timer = 0, searching = null, movedAt = 0, taking = 0;

const start = () => ({ ...structuredClone(example), plan: { objective: "time" } });

function changed() {
  history.replaceState(null, "", toAddress(tables));
  return asked();
}

async function asked() {
  movedAt = performance.now();
  clearTimeout(timer);
  searching?.abort();
  showSharing();
  others();
  grouping.follow();
  looks(true);
  $("answer").setAttribute("aria-busy", "true");
  try {
    await asking.go();
  } finally {
    $("answer").setAttribute("aria-busy", "false");
  }
}

const asking = new Latest(async () => {
  const from = movedAt, now = toAddress(tables);
  try {
    answer = await ask("answer", { scenario: tables });
    answered = now;
    show();
    performance.clearMeasures();
    performance.measure("move to ranking", { start: from, end: performance.now() });
    clearTimeout(timer);
    timer = setTimeout(search, REST);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refuse(error);
  }
});

function clearProblems() {
  document.querySelectorAll("[data-problem], #problem").forEach((one) => (one.hidden = true));
  fleet.sliders.forEach((one) => one.refuse(null));
}

// Say what is wrong where it was typed, and above the answer, which stays as it was.
function refuse(error) {
  clearProblems();
  const text = error.message;
  const key = error.key.replace(/^network\.client_link/, `fleet.tiers[${get(tables, "fleet.tiers")?.length}].link`)
    .replace(/^network\.server_link/, "fleet.tiers[1].link");
  const slider = fleet.find(key);
  if (slider) slider.refuse(text);
  const place = document.querySelector(`[data-problem="${CSS.escape(key)}"]`);
  if (place) {
    place.textContent = text;
    place.hidden = false;
  }
  $("problem").textContent = text;
  $("problem").hidden = false;
  for (const id of SHOWN) $(id).classList.add("stale");
  $("looking").hidden = true;
}

function cell(tag, text, attributes = {}) {
  return make(tag, { textContent: text, ...attributes });
}

function table() {
  const { cases, rows } = answer;
  const columns = cases.flatMap(() => [cell("th", "time", { scope: "col" }), cell("th", "vs best", { scope: "col" })]);
  const rest = (rowSpan) => ["rounds", "traffic"].map((name) => cell("th", name, { scope: "col", rowSpan }));
  const head = cases.length === 1 ? [make("tr", {}, cell("th", "topology", { scope: "col" }), ...columns, ...rest(1))] : [
    make("tr", {}, cell("th", "topology", { scope: "col", rowSpan: 2 }),
      ...cases.map((one) => cell("th", one.words, { scope: "colgroup", colSpan: 2 })), ...rest(2)),
    make("tr", {}, ...columns)];
  const body = rows.map((row) => {
    const cells = cases.flatMap((_, i) => {
      const className = row.best[i] ? "best" : "";
      return [cell("td", row.text.time[i], { className }), cell("td", row.best[i] ? "best" : row.text.ratio[i], { className })];
    });
    return make("tr", { title: row.why }, cell("th", row.title, { scope: "row" }), ...cells, cell("td", row.text.rounds), cell("td", row.text.traffic));
  });
  return make("table", {}, make("thead", {}, ...head), make("tbody", {}, ...body));
}

function items(texts) {
  return texts.map((text) => make("li", { textContent: text }));
}

function show() {
  clearProblems();
  for (const id of SHOWN) $(id).classList.remove("stale");
  const now = [answer.verdict, ...answer.lines].join(" ");
  if (now !== spoken) { // a status is read out where it is written again
    $("verdict").replaceChildren(answer.verdict, make("ul", {}, ...items(answer.lines)));
    $("brief").textContent = spoken = now;
  }
  $("target").textContent = answer.target;
  $("table").replaceChildren(table());
  $("fronts").replaceChildren(...answer.cases.map((_, i) => front(answer, i)));
  $("warnings").replaceChildren(...items(answer.warnings));
  $("warnings-part").hidden = !answer.warnings.length;
  $("command").textContent = grouping.command() + answer.command;
  fleet.sliders.forEach((one) => one.known(answer.known[one.path]));
  fleet.pictures(answer.known);
}

// Look along every slider for the nearest change, one after the other.
async function search() {
  searching?.abort();
  searching = new AbortController();
  const { signal } = searching, found = [], own = answer.cases.length > 1 ? " (own links)" : "";
  const scenario = structuredClone(tables);
  if (!get(scenario, sharingPath())) put(scenario, sharingPath(), "per-client");
  const sliders = [...fleet.sliders];
  for (const [i, slider] of sliders.entries()) {
    try {
      const one = await ask("flips", { scenario, path: slider.path }, signal);
      slider.mark(one);
      found.push(...slider.flips.map((flip) => `${slider.name}: ${flip.text}${own}`));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Refused)) throw error;
      found.push(`Not all is known: ${error.message}`);
      sliders.slice(i).forEach((one) => one.mark(null)); // what they show is of the scenario before
      break;
    }
  }
  $("changes").replaceChildren(...items(found.length ? found : ["No slider moved alone changes it."]));
  looks(false);
}

// While changes are looked for, those of the scenario before are no answer.
function looks(now) {
  $("fleet").classList.toggle("looking", now);
  $("looking").hidden = !now;
  $("changes").hidden = now;
}

function showSharing() {
  const sharing = get(tables, sharingPath()) ?? "";
  document.querySelectorAll("input[name=sharing]").forEach((one) => (one.checked = one.value === sharing));
}

function sharingPath() {
  return `fleet.tiers[${get(tables, "fleet.tiers").length}].link.sharing`;
}

// Show the whole state in the controls.
function restore() {
  const tiers = get(tables, "fleet.tiers");
  if (!Array.isArray(tiers) || !tiers.length) put(tables, "fleet.tiers", structuredClone(example.fleet.tiers));
  fleet.build();
  $("objective").value = get(tables, "plan.objective") ?? "time";
  const said = get(tables, "problem.heterogeneity");
  const differ = $("heterogeneity");
  differ.querySelector(".own")?.remove();
  if (typeof said === "string" && !fleet.numbers() && ![...differ.options].some((one) => one.value === said)) {
    const own = new Option(said, said);
    own.className = "own";
    differ.append(own);
  }
  differ.value = fleet.numbers() ? "numbers" : typeof said === "string" ? said : "";
  $("title").value = tables.title ?? "";
}

// Keys that no control shows are kept, and listed.
function others() {
  const shown = new Set(["plan.objective", "title", "schema_version", "problem.heterogeneity", sharingPath(),
    ...fleet.sliders.map((slider) => slider.path), ...get(tables, "fleet.tiers").map((_, i) => `fleet.tiers[${i + 1}].name`)]);
  const found = [];
  const walk = (value, path) => {
    if (path === "fleet.tiers") value.forEach((tier, i) => walk(tier, `${path}[${i + 1}]`));
    else if (value !== null && typeof value === "object" && !Array.isArray(value))
      for (const [key, below] of Object.entries(value)) walk(below, path ? `${path}.${key}` : key);
    else if (!shown.has(path)) found.push(`${path} = ${JSON.stringify(value)}`);
  };
  walk(tables, "");
  const said = get(tables, "problem.heterogeneity");
  if (said !== undefined && $("heterogeneity").value === "") found.push(`problem.heterogeneity = ${JSON.stringify(said)}`);
  $("others").hidden = !found.length;
  $("others-text").textContent = found.join("\n");
}

function setHeterogeneity(word) {
  const tiers = get(tables, "fleet.tiers");
  tiers.forEach((tier) => (word === "numbers" ? (tier.deviation ??= 1) : delete tier.deviation));
  put(tables, "problem.heterogeneity", word === "" || word === "numbers" ? undefined : word);
  fleet.build();
  changed();
}

// Take over tiers that label counts say, with the names and links there are.
function takeTiers(found) {
  history.pushState(null, "", toAddress(tables)); // "back" brings the old ones back
  const old = get(tables, "fleet.tiers") ?? [];
  const names = found.length === 2 ? ["group", "client"] : found.map((_, i) => (i === found.length - 1 ? "client" : `tier ${i + 1}`));
  put(tables, "fleet.tiers", found.map((tier, i) => ({ name: names[i], ...(old.length === found.length ? old[i] : {}), ...tier })));
  put(tables, "problem.heterogeneity", undefined);
  restore();
  changed();
}

// Take over a file; of several only the last. "Back" brings back what it took the place of.
async function take(file) {
  const mine = ++taking, named = (text) => text.replaceAll(COUNTS, () => file.name);
  $("dropped").textContent = `Reading ${file.name} ...`;
  const toml = file.name.toLowerCase().endsWith(".toml");
  if (file.size > (toml ? 60_000 : 4 << 20)) {
    $("dropped").textContent = `${file.name} is too large (${toml ? "60 kB" : "4 MiB"} at most). Choose another file.`;
    return;
  }
  try {
    const text = await file.text(), found = await ask(toml ? "toml" : "counts", { text });
    if (mine !== taking) return;
    if (toml) {
      history.pushState(null, "", toAddress(tables));
      tables = found.scenario;
      grouping.offer(null);
      $("dropped").textContent = `Opened ${file.name}.`;
      restore();
      changed();
    } else {
      const measured = found.tiers.length > 0;
      if (measured) takeTiers(found.tiers);
      grouping.offer({ name: file.name, text, clients: found.clients, groups: found.groups });
      const then = measured ? "" : "Your fleet is unchanged until you group them below.";
      $("dropped").textContent = named(`${measured ? "Measured" : "Read"} ${file.name}: ${[found.text, ...found.warnings, then].join(" ")}`);
    }
  } catch (error) {
    if (mine !== taking) return;
    if (!(error instanceof Refused || error instanceof DOMException)) throw error; // DOMException: a folder, or gone
    const why = error instanceof Refused ? error.message : "cannot be read.";
    $("dropped").textContent = named(why.startsWith(COUNTS) ? `${why} Your fleet is unchanged.` : `${file.name}: ${why} Your fleet is unchanged.`);
  }
}

// Say on a button what came of it, for a moment.
function tell(button, text) {
  button.dataset.label ??= button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = button.dataset.label), 2500);
}

async function copied(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    tell(button, "Copied");
  } catch {
    tell(button, "Select and copy it yourself");
  }
}

// Do something with the answer to what is typed now, not to what was before.
async function withAnswer(button, act) {
  if (answered !== toAddress(tables)) await asked();
  if (answered === toAddress(tables)) act();
  else tell(button, "First mend what is refused");
}

function listen() {
  $("add").addEventListener("click", () => fleet.add());
  document.querySelectorAll("input[name=sharing]").forEach((one) =>
    one.addEventListener("change", () => {
      put(tables, sharingPath(), one.value || undefined);
      changed();
    }));
  $("objective").addEventListener("change", () => {
    put(tables, "plan.objective", $("objective").value);
    changed();
  });
  $("heterogeneity").addEventListener("change", () => setHeterogeneity($("heterogeneity").value));
  $("title").addEventListener("input", () => {
    put(tables, "title", $("title").value || undefined);
    changed();
  });
  $("file").addEventListener("click", () => ($("file").value = "")); // the same file again is a change, too
  $("file").addEventListener("change", () => $("file").files.length && take($("file").files[0]));
  $("save").addEventListener("click", () => withAnswer($("save"), () => download(answer.toml, "scenario.toml", "application/toml")));
  $("link").addEventListener("click", () => copied($("link"), location.href));
  $("copy").addEventListener("click", () => withAnswer($("copy"), () => copied($("copy"), $("command").textContent)));
  $("reset").addEventListener("click", () => {
    history.pushState(null, "", toAddress(tables)); // "back" brings it back
    tables = start();
    grouping.offer(null);
    $("dropped").textContent = "";
    restore();
    changed();
  });
  const drop = document.body;
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    $("drop").classList.add("over");
  });
  drop.addEventListener("dragleave", () => $("drop").classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
  addEventListener("hashchange", open);
  // The address holds the scenario: a link within the page goes to its place, and leaves the address.
  for (const link of document.querySelectorAll("a[href^='#']"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      $("answer").focus({ preventScroll: true });
      $("answer").scrollIntoView();
    });
}

// Read the address; where it cannot be read, say so and leave the address as it is.
function open() {
  let wrong = "";
  try {
    tables = fromAddress(location.hash) ?? start();
  } catch {
    tables = start();
    wrong = `This link holds no scenario that can be read: ${location.hash.slice(0, 80)}. Ask for it again, or build the fleet here.`;
  }
  restore();
  asked().then(() => wrong && refuse(new Refused({ text: wrong, key: "" })));
}

const described = await (await fetch("/api/page")).json();
example = described.example;
fleet = new Fleet(described.controls, () => tables, changed);
grouping = new Grouping(() => tables, takeTiers);
listen();
open();
