// The small drawing before a name in a legend: the same shapes as on the chart.

const SVG = "http://www.w3.org/2000/svg";

function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function colourClass(series) {
  if (series.role === "failed" && series.palette === null) return "ink-bad";
  if (series.mark === "limit") return "ink-limit";
  return series.evidence && series.palette === null ? `ink-${series.evidence}` : `ink-${(series.palette ?? 0) % 5}`;
}

export const DASHES = { measured: [], emulated: [7, 3], predicted: [2, 3] };

export function glyph(series) {
  const svg = draw("svg", { width: 26, height: 12, "aria-hidden": "true", class: colourClass(series) });
  const line = { x1: 1, x2: 25, y1: 6, y2: 6, stroke: "currentColor", "stroke-width": 2 };
  if (["line", "steps", "limit", "paths"].includes(series.mark)) {
    svg.append(draw("line", { ...line, "stroke-dasharray": (DASHES[series.evidence] ?? []).join(" ") }));
  } else if (series.mark === "bars" || series.mark === "cells") {
    const outline = { fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": DASHES.predicted.join(" ") };
    const filled = series.mark === "cells" || series.evidence !== "predicted";
    svg.append(draw("rect", { x: 7, y: 1, width: 12, height: 10, ...(filled ? { fill: "currentColor" } : outline) }));
  } else if (series.role === "failed") {
    svg.append(draw("path", { d: "M9 2L17 10M17 2L9 10", stroke: "currentColor", "stroke-width": 1.5 }));
  } else if (series.evidence === "predicted") {
    svg.append(draw("path", { d: "M13 1L18 6L13 11L8 6Z", fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
  } else {
    const fill = series.evidence === "emulated" ? "none" : "currentColor";
    svg.append(draw("circle", { cx: 13, cy: 6, r: 4, fill, stroke: "currentColor", "stroke-width": 1.5 }));
  }
  return svg;
}
