// A chart's document as ECharts has it. Logarithms are taken here: its own logarithmic axis has ticks at powers of ten
// alone, which leaves times within one decade without any.

import { heat, readable, seriesColour } from "./colours.js";
import { DASHES } from "./glyph.js";
import { format, short } from "./units.js";

const RIGHT = 24;
const LETTER = 7, GAP = 12; // pixels of a letter of a label, and least between two labels
const LABELLED_CELL = 46; // pixels of a cell that has room for its time
const CROSS = "path://M-1,-0.7L-0.7,-1L0,-0.3L0.7,-1L1,-0.7L0.3,0L1,0.7L0.7,1L0,0.3L-0.7,1L-1,0.7L-0.3,0Z";

export function readout(found, series, row) {
  const lines = found.columns.map((column, i) => [column, row[i]]).filter(([, value]) => value !== null);
  return [series.name, ...lines.map(([column, value]) => `${column.name}: ${format(value, column.unit)}`)].join("\n");
}

export function option(found, shown, of, width) {
  const base = { animation: false, textStyle: { fontFamily: of.sans, color: of.quiet } };
  const make = { xy: lines, heat: heatMap, parallel }[found.kind];
  return { ...base, ...make(found, shown, of, width) };
}

// The plot areas of all charts begin and end at the same distance from their edges, so that axes of neighbours align.
// Below, an area ends where its labels need it to.
function plotArea(width) {
  return { left: labelRoom(width), right: RIGHT, top: 24, bottom: 4, outerBoundsMode: "auto", outerBounds: { left: 0, right: 0, top: 0, bottom: 4 }, outerBoundsContain: "all" };
}

function labelRoom(width) {
  return width < 560 ? 84 : 104;
}

function lines(found, shown, of, width) {
  return {
    grid: plotArea(width),
    xAxis: axis(found.x, shown, of, width, width / 90, { nameLocation: "middle", nameGap: 26 }),
    yAxis: axis(found.y, shown, of, width, 6, { nameLocation: "end", nameGap: 8, nameTextStyle: { align: "left", color: of.quiet } }),
    dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: "ctrl", moveOnMouseWheel: false, filterMode: "none" }],
    series: shown.map((series, i) => ({ ...drawn(found, series, i, of), ...(alone(found, shown) ? { barGap: "-100%" } : {}) })),
  };
}

// Whether no place has two bars: then each stands in its middle, where its spread is drawn.
function alone(found, shown) {
  const side = found.y.scale === "category" ? found.y : found.x;
  const places = shown.filter((series) => series.mark === "bars").flatMap((series) => series.rows.map((row) => row[side.column]));
  return new Set(places).size === places.length;
}

function at(axis, row, column = axis.column) {
  const value = row[column];
  if (axis.scale === "category") return String(value);
  return value === null ? null : axis.scale === "log" ? Math.log10(value) : value;
}

function drawn(found, series, i, of) {
  const colour = seriesColour(of, series);
  const common = { id: `${i}:`, name: series.name, itemStyle: { color: colour }, emphasis: { scale: 1.8 } };
  const data = series.rows.map((row) => [at(found.x, row), at(found.y, row)]);
  const dash = DASHES[series.evidence] ?? [];
  const stroke = { color: colour, width: series.mark === "limit" ? 1.5 : 2, type: dash.length ? dash : "solid" };
  switch (series.mark) {
    case "bars":
      return { ...common, type: "bar", data, barMaxWidth: 28, itemStyle: bar(series, colour) };
    case "line":
    case "limit":
      return { ...common, type: "line", data, lineStyle: stroke, showSymbol: false, silent: true, z: 3 };
    case "steps":
      return { ...common, type: "line", step: "end", data, lineStyle: stroke, showSymbol: false, silent: true, z: 3 };
    case "spans": {
      // From the low to the high value of each row, as pieces of one broken line.
      const ends = series.rows.flatMap((row) => [
        [at(found.x, row), at(found.y, row, series.low)], [at(found.x, row), at(found.y, row, series.high)], ["-", "-"],
      ]);
      return { ...common, type: "line", data: ends, lineStyle: { ...stroke, width: 1.5, type: "solid" }, showSymbol: false, silent: true };
    }
    default:
      return { ...common, type: "scatter", data, ...symbol(series, colour, of), z: series.role === "best" ? 4 : 2 };
  }
}

function bar(series, colour) {
  // Predicted bars are outlines: told apart without colour.
  return series.evidence === "predicted" ? { color: "transparent", borderColor: colour, borderType: "dotted", borderWidth: 2 } : { color: colour };
}

function symbol(series, colour, of) {
  const size = series.role === "best" ? 10 : series.rows.length > 400 ? 5 : 7;
  if (series.role === "failed") return { symbol: CROSS, symbolSize: size, itemStyle: { color: colour, opacity: 0.8 } };
  const filled = series.evidence !== "predicted" && series.evidence !== "emulated";
  const style = filled
    ? { color: colour, opacity: series.role === "best" ? 1 : 0.55 }
    : { color: series.role === "best" ? colour : of.card, borderColor: colour, borderWidth: 1.2, opacity: 0.8 };
  return { symbol: series.evidence === "predicted" ? "diamond" : "circle", symbolSize: size, itemStyle: style };
}

function axis(of_, shown, of, width, most, more) {
  // Times and bytes change their unit along an axis: there each label has its own.
  const changing = ["µs", "B"].includes(of_.unit);
  const unit = changing ? of_.unit : "";
  const common = {
    name: of_.unit && !changing ? `${of_.name} (${of_.unit})` : of_.name,
    nameTextStyle: { color: of.quiet },
    axisLine: { show: true, onZero: false, lineStyle: { color: of["line-strong"] } },
    axisLabel: { color: of.quiet, hideOverlap: true },
    splitLine: { show: true, lineStyle: { color: of.line } },
    ...more,
  };
  if (of_.scale === "category") {
    const many = more.nameLocation === "middle" && of_.categories.length > 5;
    // Many in order, such as dates: every so many has its label.
    const across = more.nameLocation === "middle";
    const longest = Math.max(...of_.categories.map((name) => String(name).length)) * LETTER + GAP;
    const each = (width - labelRoom(width) - RIGHT) / of_.categories.length;
    const step = across && of_.categories.length > 12 ? Math.ceil(longest / each) : 1;
    const rotate = many && step === 1 ? 35 : 0;
    const room = across ? 150 : labelRoom(width) - 12;
    const axisLabel = { ...common.axisLabel, interval: step - 1, hideOverlap: false, rotate, width: room, overflow: "truncate" };
    return { ...common, type: "category", data: of_.categories.map(String), splitLine: { show: false }, axisLabel };
  }
  const values = shown.flatMap((series) => {
    const columns = series.mark === "spans" ? [series.low, series.high] : [of_.column];
    return series.rows.flatMap((row) => columns.map((column) => row[column])).filter((value) => value !== null);
  });
  for (const end of [of_.low, of_.high]) if (typeof end === "number") values.push(end);
  let [low, high] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
  if (of_.scale !== "log") {
    return { ...common, type: "value", scale: !of_.from_zero, ...ends(of_), minInterval: of_.whole ? 1 : undefined,
      axisLabel: { ...common.axisLabel, formatter: (value) => short(value, unit) } };
  }
  // Values that hardly differ get room around them: an axis of nothing else would have labels that are all alike.
  const room = high / low < 1.3 ? 2 : (high / low) ** 0.04;
  [low, high] = [low / room, high * room];
  const ticks = logTicks(low, high, Math.max(3, Math.floor(most)));
  const digits = [3, 4, 5, 6].find((n) => new Set(ticks.map((tick) => short(tick, unit, n))).size === ticks.length);
  return {
    ...common, type: "value", min: Math.log10(low), max: Math.log10(high),
    axisTick: { show: true, customValues: ticks.map(Math.log10), lineStyle: { color: of["line-strong"] } },
    axisLabel: { ...common.axisLabel, customValues: ticks.map(Math.log10), formatter: (value) => short(10 ** value, unit, digits) },
  };
}

// Charts that are told the same ends have the same axis, whatever is drawn on it.
function ends(of_) {
  if (typeof of_.low !== "number" || typeof of_.high !== "number" || of_.low === of_.high) return {};
  const rough = (of_.high - of_.low) / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  const least = of_.whole ? 1 : 0;
  const interval = Math.max(least, [1, 2, 5, 10].map((c) => c * power).find((c) => c >= rough));
  return { min: Math.floor(of_.low / interval) * interval, max: Math.ceil(of_.high / interval) * interval, interval };
}

export function logTicks(low, high, most) {
  const decades = [];
  for (let d = Math.floor(Math.log10(low)); d <= Math.ceil(Math.log10(high)); d++) decades.push(10 ** d);
  for (const choices of [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const ticks = decades.flatMap((d) => choices.map((c) => c * d)).filter((t) => t >= low && t <= high);
    // Over a decade and more two ticks say more than even steps, which crowd at one end.
    if (ticks.length < (high / low >= 10 ? 2 : 3)) break;
    if (ticks.length <= most) return ticks;
  }
  if (high / low > 100) {
    const whole = decades.filter((t) => t >= low && t <= high);
    return whole.filter((_, i) => i % Math.ceil(whole.length / most) === 0);
  }
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((c) => c * power).find((c) => c >= rough);
  const ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high; t += step) ticks.push(Number(t.toPrecision(12)));
  return ticks;
}

function spread(rows, column) {
  const values = rows.map((row) => row[column]).filter((value) => value !== null).sort((a, b) => a - b);
  // By rank: a few very slow ones would leave the rest in one colour.
  const rank = new Map(values.map((value, i) => [value, values.length > 1 ? i / (values.length - 1) : 0]));
  return (value) => rank.get(value) ?? 1;
}

function heatMap(found, shown, of, width) {
  const rows = shown.flatMap((series) => series.rows);
  const place = spread(rows, found.color.column);
  const labelled = (width - labelRoom(width) - RIGHT) / found.x.categories.length >= LABELLED_CELL;
  const category = (side, more) => ({
    type: "category", data: side.categories.map(String), name: side.name, nameTextStyle: { color: of.quiet },
    axisLabel: { color: of.quiet }, axisTick: { show: false }, axisLine: { lineStyle: { color: of["line-strong"] } }, ...more,
  });
  return {
    grid: plotArea(width),
    xAxis: category(found.x, { nameLocation: "middle", nameGap: 26 }),
    yAxis: category(found.y, { nameLocation: "end", nameGap: 8, nameTextStyle: { align: "left", color: of.quiet } }),
    series: shown.map((series, i) => ({
      id: `${i}:`, type: "heatmap",
      data: series.rows.map((row) => {
        const fraction = place(row[found.color.column]);
        return {
          value: [String(row[found.x.column]), String(row[found.y.column]), row[found.color.column]],
          itemStyle: { color: heat(of, fraction), borderColor: of.card, borderWidth: 1 },
          label: { show: labelled, color: readable(of, fraction), fontSize: 10, formatter: short(row[found.color.column], found.color.unit) },
        };
      }),
      emphasis: { itemStyle: { borderColor: of.text, borderWidth: 2 } },
    })),
  };
}

function clipped(name) {
  return name.length > 5 ? `${name.slice(0, 4)}…` : name;
}

function parallel(found, shown, of, width) {
  const place = spread(shown.flatMap((series) => series.rows), found.color.column);
  const narrow = width < 560;
  const axes = found.axes.map((side, i) => {
    const category = side.scale === "category";
    const values = shown.flatMap((series) => series.rows.map((row) => row[side.column]));
    return {
      dim: i, id: String(i), name: side.name, type: category ? "category" : "value", scale: true, inverse: side.column === found.color.column,
      nameLocation: side.column === found.color.column ? "start" : "end",
      data: category ? side.categories.map(String) : undefined,
      min: side.scale === "log" ? Math.log10(Math.min(...values)) : undefined,
      max: side.scale === "log" ? Math.log10(Math.max(...values)) : undefined,
      nameTextStyle: { color: of.text, fontSize: 11 }, nameRotate: narrow ? 60 : 0, nameTruncate: { maxWidth: 90 },
      axisLine: { lineStyle: { color: of["line-strong"] } },
      axisLabel: { color: of.text, backgroundColor: of.card, padding: [1, 3], fontSize: 10, showMinLabel: side.scale !== "log", formatter: category ? (narrow ? clipped : undefined) : (v) => short(side.scale === "log" ? 10 ** v : v, side.unit) },
      splitNumber: 4,
    };
  });
  return {
    parallel: { left: narrow ? 12 : labelRoom(width), right: 64, top: narrow ? 90 : 34, bottom: 16, parallelAxisDefault: { areaSelectStyle: { borderColor: of.accent, color: of.accent, width: 14 } } },
    parallelAxis: axes,
    series: shown.map((series, i) => ({
      id: `${i}:`, type: "parallel", smooth: false, inactiveOpacity: 0.03, activeOpacity: 0.9,
      // The fastest last, so that they are on top.
      data: series.rows.map((row) => ({
        value: found.axes.map((side) => (side.scale === "category" ? String(row[side.column]) : side.scale === "log" ? Math.log10(row[side.column]) : row[side.column])),
        lineStyle: { color: heat(of, place(row[found.color.column])), opacity: 0.55, width: 1.2, type: (DASHES[series.evidence] ?? []).length ? DASHES[series.evidence] : "solid" },
      })),
      emphasis: { lineStyle: { width: 3, opacity: 1 } },
    })),
  };
}
