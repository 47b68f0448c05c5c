// Numbers as people read them, each with its unit; the same forms as service/dashboard/units.py.

const TIMES = [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]];
const BYTES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

function significant(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001) return value.toExponential(2);
  const digits = size < 10 ? 3 : size < 100 ? 2 : size < 1000 ? 1 : 0;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function scaled(value, steps) {
  const [scale, unit] = steps.find(([least]) => Math.abs(value) >= least) ?? steps.at(-1);
  return [value / scale, unit];
}

function parts(value, unit) {
  if (unit === "µs") return scaled(value, TIMES);
  if (unit === "B") return scaled(value, BYTES);
  return [value, unit];
}

export function format(value, unit = "") {
  if (value === null || value === undefined || value === "") return "unknown";
  if (typeof value !== "number") return String(value);
  const [number, shown] = parts(value, unit);
  const text = Number.isInteger(number) ? number.toLocaleString("en-US") : significant(number);
  return `${text}${shown ? ` ${shown}` : ""}`;
}

// For the labels of an axis: no digits that say nothing.
export function short(value, unit = "", digits = 3) {
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0"; // in every unit
  const [number, shown] = parts(value, unit);
  return `${Number(number.toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits })}${shown ? ` ${shown}` : ""}`;
}
