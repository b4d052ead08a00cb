// Time against traffic, both logarithmic, with a name at every point.
import { draw } from "./fleet.js";

const WIDE = 420, HIGH = 300, LEFT = 62, RIGHT = 14, TOP = 26, LOW = 40;
const SECONDS = [1e-3, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 8640000, 31536000, 86400000, 864000000];
const SHAPES = [
  (x, y) => draw("circle", { cx: x, cy: y, r: 6 }),
  (x, y) => draw("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }),
  (x, y) => draw("path", { d: `M${x} ${y - 7}l7 12h-14z` }),
  (x, y) => draw("path", { d: `M${x} ${y - 7}l7 7-7 7-7-7z` }),
];

function seconds(value) {
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]])
    if (value >= size) return `${Number((value / size).toPrecision(2))} ${unit}`;
  return `${Number((value * 1000).toPrecision(2))} ms`;
}

function bytes(value) {
  for (const [unit, size] of [["PB", 1e15], ["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
    if (value >= size) return `${Number((value / size).toPrecision(2))} ${unit}`;
  return `${value} B`;
}

function axis(values, units) {
  const low = Math.min(...values), high = Math.max(...values);
  const room = Math.max((high / low) ** 0.15, 1.6);
  const ends = [low / room, high * room];
  let ticks = units.filter((one) => one >= ends[0] && one <= ends[1]);
  if (ticks.length > 4) ticks = ticks.filter((_, i) => i % Math.ceil(ticks.length / 4) === 0);
  if (!ticks.length) ticks = [Math.sqrt(low * high)];
  return { ends, ticks, part: (v) => Math.log(v / ends[0]) / Math.log(ends[1] / ends[0]) };
}

function word(text, x, y, anchor = "start") {
  const made = draw("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

// Where a label fits: right, left, above or below its point, away from labels and points that are there.
function placed(text, x, y, taken) {
  const wide = 7 * text.length;
  const tries = [[x + 10, y + 4], [x - 10 - wide, y + 4], [x - wide / 2, y - 11], [x - wide / 2, y + 20],
    [x + 8, y - 12], [x + 8, y + 20], [x - 8 - wide, y - 12], [x - 8 - wide, y + 20]];
  const box = ([a, b]) => ({ l: a, r: a + wide, t: b - 11, b: b + 3 });
  const free = (one) => one.l >= LEFT && one.r <= WIDE && one.t >= TOP - 4 && one.b <= HIGH - LOW &&
    taken.every((t) => one.r < t.l || one.l > t.r || one.b < t.t || one.t > t.b);
  const at = tries.find((one) => free(box(one)));
  if (!at) return null;
  taken.push(box(at));
  return at;
}

// The picture of one case of an answer; a row has one shape and colour in all of them.
export function front(answer, i) {
  const rows = answer.rows.map((row, k) => ({ title: row.title, x: row.seconds[i], y: row.bytes, best: row.best[i],
    said: `${row.text.time[i]}, ${row.text.traffic}`, color: answer.colors[row.id] ?? "#767676", shape: SHAPES[k % SHAPES.length] }))
    .filter((row) => row.x > 0 && row.y > 0);
  const words = answer.cases[i].words;
  const title = `Time against traffic${words ? `, ${words}` : ""}`;
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });
  svg.append(word(title, LEFT, 14));
  if (!rows.length) {
    svg.setAttribute("aria-label", `${title}: nothing reaches the target.`);
    return svg;
  }
  svg.setAttribute("aria-label", `${title}: ${rows.map((row) => `${row.title} ${row.said}`).join("; ")}.`);
  const across = axis(rows.map((r) => r.x), SECONDS);
  const up = axis(rows.map((r) => r.y), Array.from({ length: 72 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3)));
  const X = (v) => LEFT + (WIDE - LEFT - RIGHT) * across.part(v), Y = (v) => HIGH - LOW - (HIGH - LOW - TOP) * up.part(v);
  for (const tick of across.ticks)
    svg.append(draw("line", { class: "grid", x1: X(tick), x2: X(tick), y1: TOP, y2: HIGH - LOW }), word(seconds(tick), X(tick), HIGH - LOW + 16, "middle"));
  for (const tick of up.ticks)
    svg.append(draw("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: Y(tick), y2: Y(tick) }), word(bytes(tick), LEFT - 6, Y(tick) + 4, "end"));
  svg.append(draw("path", { class: "axis", fill: "none", d: `M${LEFT} ${TOP}V${HIGH - LOW}H${WIDE - RIGHT}` }), word("time", WIDE - RIGHT, HIGH - 6, "end"), word("traffic", 2, 14));
  const taken = rows.map((r) => ({ l: X(r.x) - 7, r: X(r.x) + 7, t: Y(r.y) - 7, b: Y(r.y) + 7 }));
  for (const row of rows) {
    const x = X(row.x), y = Y(row.y), point = row.shape(x, y);
    point.setAttribute("stroke", row.color);
    point.setAttribute("stroke-width", 2);
    point.setAttribute("fill", row.best ? row.color : "none");
    const name = draw("title");
    name.textContent = `${row.title}: ${row.said}`;
    point.append(name);
    svg.append(point);
    const text = row.title.split(",")[0], at = placed(text, x, y, taken);
    if (at) svg.append(word(text, ...at));
  }
  return svg;
}
