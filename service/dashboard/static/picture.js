// A chart with its title, note and legend as a PNG of twice the size.

import { seriesColour } from "./colours.js";

const SCALE = 2;
const MARGIN = 16;
const LINE = 18;

export function savePicture(chart, found, shown, of) {
  const drawing = chart.getRenderedCanvas({ pixelRatio: SCALE, backgroundColor: of.card });
  const named = shown.filter((series) => !series.part_of);
  const head = MARGIN + LINE * (2 + Math.ceil(named.length / 3)) + 8;
  const canvas = document.createElement("canvas");
  canvas.width = drawing.width + 2 * MARGIN * SCALE;
  canvas.height = drawing.height + (head + MARGIN) * SCALE;
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.fillStyle = of.card;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.textBaseline = "top";
  write(pen, found.title, MARGIN, MARGIN, `600 14px ${of.sans}`, of.text);
  write(pen, found.note, MARGIN, MARGIN + LINE, `12px ${of.sans}`, of.quiet);
  const third = drawing.width / SCALE / 3;
  named.forEach((series, i) => {
    const [x, y] = [MARGIN + (i % 3) * third, MARGIN + LINE * (2 + Math.floor(i / 3))];
    pen.fillStyle = seriesColour(of, series);
    pen.fillRect(x, y + 3, 10, 8);
    write(pen, series.name, x + 16, y, `12px ${of.sans}`, of.quiet);
  });
  pen.drawImage(drawing, MARGIN, head, drawing.width / SCALE, drawing.height / SCALE);
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${found.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 80)}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

function write(pen, text, x, y, font, colour) {
  pen.font = font;
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}
