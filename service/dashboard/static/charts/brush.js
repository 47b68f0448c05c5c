// Charts of one job that brush together: what is selected in one restricts the trials that the others show.
// A selection is a list of conditions on fields, which the service applies (service/dashboard/jobs/selection.py).

import { format } from "./units.js";

const group = document.querySelector("[data-brush]");
const bar = group?.querySelector(".brush");
const selections = new Map(); // from the id of a figure to its conditions
const bands = new Map(); // from a figure's element to its rectangle, in values of the axes
const listening = new WeakSet();
const LEAST_PX = 6;
const anchors = new WeakMap();

if (group) {
  group.addEventListener("chart:drawn", (event) => drawn(event.target.figure));
  group.addEventListener("chart:pick", pick);
  group.addEventListener("pointerdown", begin);
  group.addEventListener("keydown", key);
  group.addEventListener("change", axes);
  bar.addEventListener("click", (event) => event.target.closest("button") && clear());
}

function drawn(figure) {
  if (figure.document.kind === "parallel" && !listening.has(figure.chart)) {
    listening.add(figure.chart);
    const intervals = new Map();
    figure.chart.on("axisareaselected", (event) => intervals.set(Number(event.parallelAxisId), event.intervals ?? []));
    // Once the pointer is up: an area is told of with every move.
    figure.chosen = () => select(figure.element, alongAxes(figure.document, intervals));
    figure.forget = () => intervals.clear();
  }
  place(figure);
}

function alongAxes(found, intervals) {
  return found.axes.flatMap((axis, i) => {
    const chosen = intervals.get(i) ?? [];
    if (chosen.length === 0 || !axis.field) return [];
    if (axis.scale === "category") {
      const inside = (place) => chosen.some(([low, high]) => low <= place && place <= high);
      return [oneOf(axis, axis.categories.filter((_, place) => inside(place)))];
    }
    const ends = chosen.flat();
    return [between(axis, Math.min(...ends), Math.max(...ends))];
  });
}

// A range on an axis, in the values that the chart draws: logarithms on a logarithmic axis.
function between(axis, low, high) {
  const plain = (value) => (axis.scale === "log" ? 10 ** value : value);
  const [from, to] = axis.whole ? [Math.ceil(low), Math.floor(high)] : [plain(low), plain(high)].map((v) => Number(v.toPrecision(6)));
  return { text: `${axis.field}=${from}..${to}`, words: `${axis.name.toLowerCase()} ${format(from, axis.unit)} to ${format(to, axis.unit)}` };
}

function oneOf(axis, values) {
  const named = values.length > 3 ? `${values[0]} to ${values.at(-1)}` : values.join(" or ");
  return { text: `${axis.field}=${values.join("|")}`, words: `${axis.name.toLowerCase()} ${named}` };
}

function pick(event) {
  const { figure, row } = event.detail;
  const { kind, x, y } = figure.document;
  if (kind !== "heat") return;
  event.preventDefault();
  const conditions = [x, y].filter((axis) => axis.field).map((axis) => oneOf(axis, [row[axis.column]]));
  const same = selections.get(figure.element.id)?.map((c) => c.text).join() === conditions.map((c) => c.text).join();
  select(figure.element, same ? [] : conditions);
}

// Drag a rectangle over a chart with two axes.
function begin(event) {
  const figure = event.target.closest("figure")?.figure;
  const plot = event.target.closest(".plot");
  if (!figure?.chart || !plot || event.button !== 0 || event.ctrlKey) return;
  const found = figure.document;
  if (found.kind === "parallel") addEventListener("pointerup", () => setTimeout(figure.chosen), { once: true });
  // A finger scrolls the page.
  if (found.kind !== "xy" || event.pointerType === "touch" || !(found.x.field || found.y.field)) return;
  const start = inPlot(plot, event);
  if (!figure.chart.containPixel({ gridIndex: 0 }, start)) return;
  const move = (moved) => show(figure, rectangle(figure, start, inPlot(plot, moved)));
  const end = (ended) => {
    removeEventListener("pointermove", move);
    const stop = inPlot(plot, ended);
    if (Math.hypot(stop[0] - start[0], stop[1] - start[1]) < LEAST_PX) {
      bands.has(figure.element) ? show(figure, bands.get(figure.element)) : hide(figure);
      return;
    }
    choose(figure, rectangle(figure, start, stop));
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", end, { once: true });
}

function inPlot(plot, event) {
  const box = plot.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function rectangle(figure, from, to) {
  const [a, b] = [from, to].map((point) => figure.chart.convertFromPixel({ gridIndex: 0 }, point));
  const sides = [0, 1].map((i) => [Math.min(a[i], b[i]), Math.max(a[i], b[i])]);
  // An axis that selects nothing is covered whole.
  return [figure.document.x, figure.document.y].map((axis, i) => (axis.field ? sides[i] : null));
}

function choose(figure, band) {
  bands.set(figure.element, band);
  show(figure, band);
  const { x, y } = figure.document;
  select(figure.element, [x, y].flatMap((axis, i) => (band[i] ? [between(axis, ...band[i])] : [])));
}

function show(figure, band) {
  const mark = figure.plot.querySelector(".band") ?? document.createElement("div");
  mark.className = "band";
  figure.plot.append(mark);
  const area = figure.area();
  const [[left, right], [top, bottom]] = band.map((side, i) => {
    const whole = i === 0 ? [area.x, area.x + area.width] : [area.y, area.y + area.height];
    if (!side) return whole;
    const at = side.map((value) => figure.chart.convertToPixel(i === 0 ? { xAxisIndex: 0 } : { yAxisIndex: 0 }, value));
    return [Math.max(Math.min(...at), whole[0]), Math.min(Math.max(...at), whole[1])];
  });
  Object.assign(mark.style, { left: `${left}px`, top: `${top}px`, width: `${Math.max(0, right - left)}px`, height: `${Math.max(0, bottom - top)}px` });
}

function hide(figure) {
  figure.plot.querySelector(".band")?.remove();
}

function place(figure) {
  const band = bands.get(figure.element);
  if (band) show(figure, band);
  else hide(figure);
}

// The same without a pointer: the space bar begins and ends a range of trials, or picks a cell; Escape drops it.
function key(event) {
  const figure = event.target.closest("figure")?.figure;
  if (!figure?.chart || event.target !== figure.plot) return;
  if (event.key === "Escape" && selections.has(figure.element.id)) {
    drop(figure);
    select(figure.element, []);
  }
  if (event.key !== " " || figure.place < 0) return;
  event.preventDefault();
  const { series, index } = figure.points()[figure.place];
  const { kind, x } = figure.document;
  if (kind === "heat") figure.pick(series, series.rows[index]);
  if (kind !== "xy" || !x.field || x.scale !== "linear") return;
  const at = series.rows[index][x.column];
  if (!anchors.has(figure)) {
    anchors.set(figure, at);
    figure.element.querySelector(".readout").textContent = `Selecting from ${x.name.toLowerCase()} ${at}: go to the last one and press space.`;
    return;
  }
  const from = anchors.get(figure);
  anchors.delete(figure);
  choose(figure, [[Math.min(from, at), Math.max(from, at)], null]);
}

function select(element, conditions) {
  const before = selections.get(element.id)?.map((condition) => condition.text).join() ?? "";
  if (before === conditions.map((condition) => condition.text).join()) return;
  if (conditions.length) selections.set(element.id, conditions);
  else selections.delete(element.id);
  apply();
}

function apply() {
  for (const element of group.querySelectorAll("figure[data-chart]")) {
    const others = [...selections].filter(([id]) => id !== element.id).flatMap(([, conditions]) => conditions);
    element.dataset.base ??= element.dataset.chart;
    point(element, others.reduce((address, { text }) => `${address}${address.includes("?") ? "&" : "?"}where=${encodeURIComponent(text)}`, element.dataset.base));
  }
  const all = [...selections.values()].flat();
  bar.hidden = all.length === 0;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Show all trials";
  bar.replaceChildren(`Selected: ${all.map((condition) => condition.words).join(", ")} `, button);
}

function point(element, address) {
  if (address === element.dataset.chart) return;
  element.dataset.chart = address;
  const join = address.includes("?") ? "&" : "?";
  element.querySelector("[data-table]").href = `${address}${join}as=table`;
  element.querySelector("a[download]").href = `${address}${join}as=csv`;
  if (element.figure?.document) element.figure.load();
}

function drop(figure) {
  bands.delete(figure.element);
  anchors.delete(figure);
  hide(figure);
  figure.forget?.();
}

function clear() {
  for (const element of group.querySelectorAll("figure[data-chart]")) {
    const { figure } = element;
    if (!figure?.chart) continue;
    const parallel = selections.has(element.id) && figure.document.kind === "parallel";
    drop(figure);
    if (parallel) figure.draw();
  }
  selections.clear();
  apply();
  group.querySelector("#history .plot")?.focus({ preventScroll: true });
}

// Another parameter on an axis of the map.
function axes(event) {
  const form = event.target.closest("form.axes");
  const element = form?.closest("figure");
  if (!element) return;
  const own = element.dataset.base ?? element.dataset.chart;
  element.dataset.base = `${own.split("?")[0]}?${new URLSearchParams(new FormData(form))}`;
  selections.delete(element.id);
  apply();
}
