// Numbers, times and bytes for people.

export function number(value) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (value >= size * (unit === "k" ? 10 : 1)) return (value / size).toPrecision(3) + " " + unit;
  }
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 1 : 0);
}

export function bytes(value) {
  for (const [unit, size] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024]]) {
    if (value >= size) return (value / size).toFixed(value / size < 10 ? 1 : 0) + " " + unit;
  }
  return Math.round(value) + " B";
}

export function duration(ms) {
  const parts = [["d", 86400e3], ["h", 3600e3], ["min", 60e3], ["s", 1e3]];
  const index = parts.findIndex(([, size]) => ms >= size);
  if (ms > 0 && ms < 0.1) return Math.ceil(ms * 1000) + " µs";
  if (index < 0) return ms < 10 ? ms.toFixed(1) + " ms" : Math.round(ms) + " ms";
  const [unit, size] = parts[index];
  const rest = parts[index + 1];
  const first = Math.floor(ms / size);
  const second = rest && Math.floor((ms % size) / rest[1]);
  return `${first} ${unit}` + (second ? ` ${second} ${rest[0]}` : "");
}

export const time = (ms) => new Date(ms).toLocaleTimeString([], { hour12: false });
export function dateTime(ms) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(ms);
  return date.toISOString().replace("T", " ").replace("Z", "");
}
export const percent = (share) => (share * 100).toFixed(share < 0.0995 ? 1 : 0) + " %";
export const range = (start, end) =>
  `${start === "" ? "first key" : start} … ${end === "" ? "last key" : end}`;

export const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const strict = new TextDecoder("utf-8", { fatal: true });

function text(value) {
  try {
    const decoded = strict.decode(value);
    // Control characters and marks that change the direction of text would hide the content.
    return /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/
      .test(decoded) ? null : decoded;
  } catch {
    return null;
  }
}

const printable = (value) => Array.from(value, (byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x5c
  ? String.fromCharCode(byte) : "\\x" + byte.toString(16).toUpperCase().padStart(2, "0")).join("");

function hex(value) {
  const lines = [];
  for (let at = 0; at < value.length; at += 16) {
    const line = Array.from(value.slice(at, at + 16));
    const digits = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = line.map((byte) => byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${digits.padEnd(47)}  ${letters.join("")}`);
  }
  return lines.join("\n");
}

// Bytes that are not a float rarely decode to a number of ordinary size.
const real = (kind, value) => {
  const size = Math.abs(value);
  return size > 1e-9 && size < 1e15 ? ` (${kind} ${value})` : "";
};

function numbers(value) {
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  switch (value.length) {
    case 1: return String(view.getInt8(0));
    case 2: return String(view.getInt16(0));
    case 4: return view.getInt32(0) + real("float", Number(view.getFloat32(0).toPrecision(7)));
    case 8: return view.getBigInt64(0) + real("double", view.getFloat64(0));
    default: return null;
  }
}

function json(value) {
  const decoded = text(value);
  if (decoded === null) return null;
  try {
    const parsed = JSON.parse(decoded);
    const line = JSON.stringify(parsed);
    return line.length <= 80 ? line : JSON.stringify(parsed, null, 2);
  } catch {
    return null;
  }
}

export const DECODINGS = ["auto", "text", "number", "JSON", "hex"];

/// A value as text, and what it was taken for.
export function decode(value, decoding) {
  const as = {
    text: () => text(value) ?? printable(value),
    number: () => numbers(value) ?? `not a number of 1, 2, 4 or 8 bytes: ${printable(value)}`,
    JSON: () => json(value) ?? `not JSON: ${text(value) ?? printable(value)}`,
    hex: () => hex(value),
  };
  if (decoding !== "auto") return { text: as[decoding](), kind: decoding };
  const plain = text(value);
  if (plain !== null) {
    const structured = /^\s*[[{]/.test(plain) ? json(value) : null;
    return structured ? { text: structured, kind: "JSON" } : { text: plain, kind: "text" };
  }
  const counted = numbers(value);
  return counted ? { text: counted, kind: "number" } : { text: printable(value), kind: "bytes" };
}
