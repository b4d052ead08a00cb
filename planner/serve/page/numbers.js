// Numbers between sliders (0 to STEPS), SI units, and the texts that a scenario takes.
export const STEPS = 1000;

const UNITS = {
  rate: [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
  size: [["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]],
  duration: [["s", 1], ["ms", 1e-3]],
};

// Three significant digits without an exponent.
function digits(value) {
  return String(Number(value.toPrecision(3)));
}

// Write a number as a scenario takes it: 2e7 as "20Mbit/s".
export function spell(value, kind) {
  if (kind === "count") return String(Math.round(value));
  if (kind === "share") return `${Number((100 * value).toPrecision(4))}%`;
  if (!(kind in UNITS)) return digits(value);
  if (value === 0) return kind === "duration" ? "0s" : "0";
  const units = UNITS[kind];
  const rounded = Number(value.toPrecision(3));
  const [name, factor] = units.find(([, one]) => rounded >= one) ?? units[units.length - 1];
  return `${digits(rounded / factor)}${name}`;
}

// The value at a place of the slider; logarithmic, but for shares.
export function valueAt(place, control) {
  const { low, high, kind, zero } = control;
  if (zero && place <= 0) return 0;
  const part = Math.min(Math.max(place / STEPS, 0), 1);
  if (kind === "share") return low + part * (high - low);
  const value = low * (high / low) ** part;
  return kind === "count" ? Math.round(value) : value;
}

// The place of a value on the slider; null outside, where `exact` is asked for.
export function placeOf(value, control, exact = false) {
  const { low, high, kind } = control;
  if (exact && (value < low || value > high)) return null;
  if (value <= low) return 0;
  const part = kind === "share" ? (value - low) / (high - low) : Math.log(value / low) / Math.log(high / low);
  return STEPS * Math.min(part, 1);
}

// A key of the keyboard moves a count by one at least.
export function nextCount(place, before, control) {
  const now = valueAt(before, control), then = valueAt(place, control);
  if (control.kind !== "count" || now !== then || place === before) return place;
  return placeOf(now + Math.sign(place - before), control);
}
