// Every <figure data-chart="address"> becomes a chart of the document that the service has at that address.

import { option, readout } from "./chart_option.js";
import { colours } from "./colours.js";
import { glyph } from "./glyph.js";
import { saveDrawing, savePicture } from "./picture.js";

const LIBRARY = document.querySelector('meta[name="xetune-echarts"]').content;
const REASONS = {
  401: "It needs an API key that works; load the page again to sign in.",
  403: "The key that you signed in with is not for this.",
  404: "The service no longer has it.",
  429: "The service gets too many requests; wait a moment.",
  503: "The service cannot reach its database.",
};
let library = null;

const figures = new Set();
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) entry.target.figure.begin();
}, { rootMargin: "300px" });
const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) entry.target.closest("figure")?.figure?.chart?.resize();
});
const tip = document.getElementById("tip");

class Figure {
  constructor(element) {
    this.element = element;
    this.plot = element.querySelector(".plot");
    this.hidden = new Set();
    this.chart = null;
    this.place = -1;
    element.figure = this;
    figures.add(this);
    seen.observe(element);
    element.addEventListener("click", (event) => this.click(event));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("pointerleave", () => (tip.hidden = true));
    this.plot.addEventListener("blur", () => (tip.hidden = true));
  }

  async begin() {
    seen.unobserve(this.element);
    await this.load();
  }

  async load() {
    const address = this.element.dataset.chart;
    const began = performance.now();
    try {
      const response = await fetch(address, { headers: { Accept: "application/json" } });
      if (!response.ok) throw new Error(REASONS[response.status] ?? `The service answered ${response.status}.`);
      const found = await response.json();
      if (address !== this.element.dataset.chart) return;
      this.document = found;
      library ??= import(LIBRARY);
      this.init = (await library).init;
      this.draw();
      // A long history takes longer to draw: look less often then, so that the service keeps up.
      this.rest = performance.now() + 4 * (performance.now() - began);
    } catch (error) {
      const reason = error instanceof TypeError ? "The service does not answer." : error.message;
      this.message("error", `This chart cannot be drawn now. ${reason}`);
      this.plot.append(this.button());
    }
  }

  button() {
    const again = document.createElement("button");
    again.type = "button";
    again.dataset.again = "";
    again.textContent = "Try again";
    return again;
  }

  again() {
    const p = document.createElement("p");
    p.className = "loading";
    p.textContent = "Loading";
    this.plot.replaceChildren(p);
    this.plot.focus();
    return this.load();
  }

  renew() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), Math.max(0, (this.rest ?? 0) - performance.now()));
  }

  message(kind, text) {
    this.plot.classList.add("bare");
    this.chart?.dispose();
    this.chart = null;
    const p = document.createElement("p");
    p.className = kind;
    p.textContent = text;
    this.plot.replaceChildren(p);
  }

  draw() {
    const { document: found, element, plot } = this;
    element.querySelector(".chart-note").textContent = found.note;
    const points = found.series.reduce((sum, series) => sum + series.rows.length, 0);
    element.querySelector(".legend").replaceChildren(...(points ? this.legend() : []));
    if (points === 0) {
      this.message("empty", found.empty);
      return;
    }
    if (this.chart === null) {
      plot.replaceChildren();
      plot.classList.remove("bare");
      this.chart = this.init(plot, null, { renderer: "canvas" });
      this.listen();
      sizes.observe(plot);
    }
    const shown = found.series.filter((series) => !this.hidden.has(series.name));
    this.shown = shown;
    this.chart.setOption(option(found, shown, colours(), plot.clientWidth), { notMerge: true });
    this.place = -1;
    this.element.dispatchEvent(new Event("chart:drawn", { bubbles: true }));
  }

  // Where the axes span, in pixels of the plot.
  area() {
    return this.chart.getModel().getComponent("grid").coordinateSystem.getRect();
  }

  // Whether a point's link is to be followed: a page may do something else with it.
  pick(series, row) {
    const detail = { figure: this, series, row };
    return this.element.dispatchEvent(new CustomEvent("chart:pick", { bubbles: true, cancelable: true, detail }));
  }

  legend() {
    const entries = this.document.series.filter((series) => !series.part_of);
    return entries.map((series) => {
      const item = document.createElement("li");
      item.append(glyph(series));
      if (this.document.kind === "xy" && entries.length > 1) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "quiet";
        button.textContent = series.name;
        button.setAttribute("aria-pressed", String(!this.hidden.has(series.name)));
        button.dataset.series = series.name;
        item.append(button);
      } else {
        item.append(series.name);
      }
      return item;
    });
  }

  listen() {
    this.chart.on("mouseover", (event) => {
      const row = this.row(event);
      if (row) this.tell(row, event.event?.event);
    });
    this.chart.on("mouseout", () => (tip.hidden = true));
    this.chart.on("click", (event) => {
      const found = this.row(event);
      const link = found?.series.links?.[event.dataIndex];
      if (found && this.pick(found.series, found.row) && link) location.assign(link);
    });
    this.chart.getZr().on("dblclick", () => this.chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 }));
  }

  row(event) {
    if (event.componentType !== "series") return null;
    const series = this.shown[Number(String(event.seriesId).split(":")[0])];
    const row = series?.rows[event.dataIndex];
    return row ? { series, row } : null;
  }

  tell({ series, row }, pointer) {
    const text = readout(this.document, series, row);
    this.element.querySelector(".readout").textContent = text.replaceAll("\n", " · ");
    if (!pointer) return;
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(Math.max(8, pointer.clientX + 14), innerWidth - box.width - 8)}px`;
    const above = pointer.clientY - box.height - 12;
    tip.style.top = `${above > 8 ? above : pointer.clientY + 16}px`;
  }

  // Left and right walk through the points from left to right, Enter goes where the point leads.
  key(event) {
    if (!this.chart) return;
    const points = this.points();
    const before = this.place < 0 ? points.length - 1 : this.place - 1;
    const next = { ArrowRight: this.place + 1, ArrowLeft: before, Home: 0, End: points.length - 1 };
    if (event.key === "Enter" && this.place >= 0) {
      const { series, index } = points[this.place];
      if (series.links?.[index]) location.assign(series.links[index]);
      return;
    }
    if (!(event.key in next) || points.length === 0) return;
    event.preventDefault();
    this.chart.dispatchAction({ type: "downplay" });
    this.place = Math.min(Math.max(next[event.key], 0), points.length - 1);
    const { series, index } = points[this.place];
    this.highlight();
    this.tell({ series, row: series.rows[index] }, null);
  }

  // The point that was walked to last is drawn as the others are.
  async save() {
    this.chart.dispatchAction({ type: "downplay" });
    // The library changes what stands out with the next frame.
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    savePicture(this.chart, this.document, this.shown, colours());
    this.highlight();
  }

  highlight() {
    if (this.place < 0) return;
    const { series, index } = this.points()[this.place];
    this.chart.dispatchAction({ type: "highlight", seriesId: `${this.shown.indexOf(series)}:`, dataIndex: index });
  }

  points() {
    const x = this.document.x?.column ?? 0;
    const all = this.shown.flatMap((series) =>
      ["line", "steps", "spans", "limit"].includes(series.mark) ? [] : series.rows.map((row, index) => ({ series, index, at: row[x] })),
    );
    return all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  }

  async click(event) {
    const target = event.target.closest("button, a");
    if (!target) return;
    if (target.dataset.series !== undefined) {
      const name = target.dataset.series;
      if (!this.hidden.delete(name)) this.hidden.add(name);
      this.draw();
      [...this.element.querySelectorAll("[data-series]")].find((b) => b.dataset.series === name)?.focus();
    } else if (target.matches("[data-again]")) {
      await this.again();
    } else if (target.matches("[data-picture]")) {
      if (this.chart) await this.save();
    } else if (target.matches("[data-table]")) {
      event.preventDefault();
      await this.table(target);
    }
  }

  async table(control) {
    const place = this.element.querySelector(".chart-table");
    const open = place.hidden;
    if (open) {
      place.innerHTML = '<p class="loading">Loading</p>';
    }
    place.hidden = !open;
    control.setAttribute("aria-expanded", String(open));
    if (open) await this.fill(place);
  }

  async fill(place) {
    const join = this.element.dataset.chart.includes("?") ? "&" : "?";
    try {
      const response = await fetch(`${this.element.dataset.chart}${join}as=part`);
      if (response.ok) place.innerHTML = await response.text(); // made and escaped by the service
      else place.textContent = REASONS[response.status] ?? `The service answered ${response.status}.`;
    } catch {
      place.textContent = "The service does not answer.";
    }
  }
}

function find(within) {
  for (const figure of figures) if (!figure.element.isConnected) {
    figure.chart?.dispose();
    figures.delete(figure);
  }
  for (const element of within.querySelectorAll("figure[data-chart]")) if (!element.figure) new Figure(element);
}

find(document);
document.body.addEventListener("htmx:load", (event) => find(event.target.parentElement ?? document));
addEventListener("themechange", () => {
  for (const figure of figures) if (figure.chart) figure.draw();
});
// The service says that there is news in an answer to a live part; what is hidden and open stays so.
document.body.addEventListener("news", () => {
  for (const figure of figures) if (figure.element.dataset.live !== undefined && figure.document) figure.renew();
});
addEventListener("signedin", () => {
  for (const figure of figures) if (figure.plot.querySelector("[data-again]")) figure.again();
});
// A page may point a figure elsewhere: figure.dispatchEvent(new Event("chart:load")) after changing data-chart.
document.addEventListener("chart:load", (event) => event.target.figure?.load(), true);
addEventListener("scroll", () => (tip.hidden = true), { passive: true });
document.addEventListener("click", (event) => {
  const drawing = event.target.closest("[data-drawing]")?.dataset.drawing;
  if (drawing) saveDrawing(drawing);
});
