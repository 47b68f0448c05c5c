// The colours of tokens.css as the canvas can use them: light-dark() is only resolved where it is used.

const NAMES = [
  "card", "line", "line-strong", "text", "quiet", "accent", "measured", "emulated", "predicted", "bad",
  "heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "series-0", "series-1", "series-2", "series-3", "series-4",
];

export function colours() {
  const probe = document.createElement("span");
  probe.className = "own-colours";
  document.body.append(probe);
  const found = {};
  for (const name of NAMES) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  found.sans = getComputedStyle(probe).fontFamily;
  probe.remove();
  return found;
}

// The colour at a fraction of the way from fast (0) to slow (1).
export function heat(of, fraction) {
  const place = Math.min(Math.max(fraction, 0), 1) * 4;
  const low = Math.min(Math.floor(place), 3);
  const [a, b] = [of[`heat-${low}`], of[`heat-${low + 1}`]].map((text) => text.match(/[\d.]+/g).map(Number));
  const mixed = a.slice(0, 3).map((value, i) => Math.round(value + (b[i] - value) * (place - low)));
  return `rgb(${mixed.join(", ")})`;
}

// Black or white, which has more contrast with that colour, always 4.5 at least; the theme's own colours have less.
export function readable(of, fraction) {
  const ground = luminance(heat(of, fraction)) + 0.05;
  return ground / 0.05 > 1.05 / ground ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)";
}

// Relative luminance of WCAG 2.
function luminance(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).map((value) => Number(value) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function seriesColour(of, series) {
  if (series.role === "failed" && series.palette === null) return of.bad;
  if (series.mark === "limit") return of["line-strong"];
  return series.evidence && series.palette === null ? of[series.evidence] : of[`series-${(series.palette ?? 0) % 5}`];
}
