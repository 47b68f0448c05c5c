// Charts with title, note and legend, and drawings of the service, as PNG of twice the size.

import { seriesColour } from "./colours.js";
import { DASHES } from "./glyph.js";

const SCALE = 2;
const MARGIN = 16;
const LINE = 18;

export function savePicture(chart, found, shown, of) {
  const drawing = chart.getRenderedCanvas({ pixelRatio: SCALE, backgroundColor: of.card });
  const named = shown.filter((series) => !series.part_of);
  const canvas = document.createElement("canvas");
  canvas.width = drawing.width + 2 * MARGIN * SCALE;
  const pen = canvas.getContext("2d");
  const width = drawing.width / SCALE;
  const told = [[found.title, `600 14px ${of.sans}`, of.text], [found.of, `14px ${of.sans}`, of.text], [found.note, `12px ${of.sans}`, of.quiet]];
  const lines = told.flatMap(([text, font, colour]) => wrapped(pen, text, font, width).map((line) => [line, font, colour]));
  const legend = MARGIN + LINE * lines.length;
  const head = legend + LINE * Math.ceil(named.length / 3) + 8;
  canvas.height = drawing.height + (head + MARGIN) * SCALE;
  pen.scale(SCALE, SCALE);
  pen.fillStyle = of.card;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.textBaseline = "top";
  lines.forEach(([text, font, colour], i) => write(pen, text, MARGIN, MARGIN + LINE * i, font, colour));
  const third = width / 3;
  named.forEach((series, i) => {
    const [x, y] = [MARGIN + (i % 3) * third, legend + LINE * Math.floor(i / 3)];
    mark(pen, series, x, y + 7, seriesColour(of, series));
    write(pen, series.name, x + 32, y, `12px ${of.sans}`, of.quiet);
  });
  pen.drawImage(drawing, MARGIN, head, drawing.width / SCALE, drawing.height / SCALE);
  const name = `${found.title} ${found.of}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 120);
  saveCanvas(canvas, `${name.replace(/^-|-$/g, "")}.png`);
}

// A drawing of the service as a PNG of twice the size.
export async function saveDrawing(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * SCALE, image.naturalHeight * SCALE];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  saveCanvas(canvas, "tiling.png");
}

function saveCanvas(canvas, name) {
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

// The same shapes as on the chart and in the legend of the page: evidence is told apart without colour too.
function mark(pen, series, x, y, colour) {
  pen.save();
  [pen.strokeStyle, pen.fillStyle, pen.lineWidth] = [colour, colour, 1.5];
  pen.beginPath();
  if (["line", "steps", "limit", "paths"].includes(series.mark)) {
    pen.setLineDash(DASHES[series.evidence] ?? []);
    pen.moveTo(x, y);
    pen.lineTo(x + 26, y);
    pen.stroke();
  } else if (series.mark === "bars" || series.mark === "cells") {
    pen.rect(x + 7, y - 5, 12, 10);
    const outline = series.mark === "bars" && series.evidence === "predicted";
    if (outline) pen.setLineDash(DASHES.predicted);
    outline ? pen.stroke() : pen.fill();
  } else if (series.role === "failed") {
    for (const way of [1, -1]) {
      pen.moveTo(x + 9, y - 4 * way);
      pen.lineTo(x + 17, y + 4 * way);
    }
    pen.stroke();
  } else if (series.evidence === "predicted") {
    for (const [right, down] of [[13, -5], [18, 0], [13, 5], [8, 0]]) pen.lineTo(x + right, y + down);
    pen.closePath();
    pen.stroke();
  } else {
    pen.arc(x + 13, y, 4, 0, 2 * Math.PI);
    series.evidence === "emulated" ? pen.stroke() : pen.fill();
  }
  pen.restore();
}

// The text in lines of at most that width; of nothing there are none.
function wrapped(pen, text, font, width) {
  pen.font = font;
  const lines = [];
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function write(pen, text, x, y, font, colour) {
  pen.font = font;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}
