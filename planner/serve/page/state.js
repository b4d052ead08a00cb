// The scenario as tables, read and written by path ("fleet.tiers[2].link.up"), and kept in the address.
const PART = /([^.[\]]+)|\[(\d+)\]/g;

function parts(path) {
  return [...path.matchAll(PART)].map((m) => (m[2] === undefined ? m[1] : Number(m[2]) - 1));
}

function isTable(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

export function get(tables, path) {
  return parts(path).reduce((at, part) => (at === null || typeof at !== "object" ? undefined : at[part]), tables);
}

// Write a value; undefined takes it away, with the tables that are then empty.
export function put(tables, path, value) {
  const steps = parts(path), last = steps.pop();
  const way = [tables];
  for (const step of steps) {
    let next = way[way.length - 1][step];
    if (next === undefined || next === null || typeof next !== "object") {
      if (value === undefined) return;
      next = way[way.length - 1][step] = {};
    }
    way.push(next);
  }
  if (value !== undefined) {
    way[way.length - 1][last] = value;
    return;
  }
  delete way[way.length - 1][last];
  for (let i = steps.length; i > 0 && Object.keys(way[i]).length === 0 && typeof steps[i - 1] === "string"; i--)
    delete way[i - 1][steps[i - 1]];
}

export function toAddress(tables) {
  const bytes = new TextEncoder().encode(JSON.stringify(tables));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return "#s=" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The tables of an address; null where it has none, and an error where they cannot be read.
export function fromAddress(hash) {
  if (!hash.startsWith("#s=")) return null;
  const text = atob(hash.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
  const tables = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  const tiers = get({ tables }, "tables.fleet.tiers");
  if (![tables, ...(Array.isArray(tiers) ? tiers : [])].every(isTable)) throw new Error("no scenario");
  return tables;
}
