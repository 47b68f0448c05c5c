"""A chart as JSON to draw, as CSV to save, as a table to read."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, replace

from fastapi import Request, Response

from service.dashboard.assets import compressed
from service.dashboard.charts.document import Chart, Mark, Row, Series, Value
from service.dashboard.rendering import page

_LONGEST_NAME = 120
MOST_ROWS = 500
"""Maximum number of rows of a table on a page; the CSV has all that are drawn."""


def chart_answer(request: Request, chart: Chart, of: str = "") -> Response:
    """Return the chart in the form of the query parameter `as`: csv, table (a page), part (of one), else
    JSON.

    `of` is what it belongs to.
    """
    chart = replace(chart, of=of)
    match request.query_params.get("as"):
        case "csv":
            name = re.sub(r"[^a-z0-9]+", "-", f"{chart.title} {of}".lower())[:_LONGEST_NAME].strip("-")
            headers = {"Content-Disposition": f'attachment; filename="{name or "chart"}.csv"'}
            answer = Response(chart_csv(chart), media_type="text/csv; charset=utf-8", headers=headers)
        case "table":
            return page(request, "charts/table.html", _table(chart))
        case "part":
            return page(request, "charts/_table.html", _table(chart))
        case _:
            text = json.dumps(_drawable(asdict(chart)), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            answer = Response(text, media_type="application/json")
    answer.headers["Cache-Control"] = "no-store"
    return compressed(request, answer)


def chart_csv(chart: Chart) -> str:
    """Return the rows as drawn, with the unit in each heading, and the evidence of each row."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["series", "evidence", *(f"{c.name} ({c.unit})" if c.unit else c.name for c in chart.columns)])
    for series, row in _rows(chart):
        writer.writerow([csv_cell(series.name), series.evidence or "", *(csv_cell(value) for value in row)])
    return text.getvalue()


def thinned(chart: Chart, most: int) -> Chart:
    """Return the chart with at most `most` rows in a series of dots, evenly sampled."""
    return replace(chart, series=tuple(_thin(series, most) for series in chart.series))


def _thin(series: Series, most: int) -> Series:
    count = len(series.rows)
    if series.mark is not Mark.DOTS or count <= most:
        return series
    kept = [i * count // most for i in range(most)]
    links = None if series.links is None else [series.links[i] for i in kept]
    return replace(series, rows=[series.rows[i] for i in kept], links=links)


def _table(chart: Chart) -> dict[str, object]:
    rows = list(_rows(chart))
    return {"chart": chart, "rows": rows[:MOST_ROWS], "left_out": max(0, len(rows) - MOST_ROWS)}


def _rows(chart: Chart) -> Iterator[tuple[Series, Row]]:
    for series in chart.series:
        if series.part_of is None:  # its rows are those of another
            for row in series.rows:
                yield series, row


def csv_cell(value: Value) -> Value:
    """Escape a value of a table that may be opened in a spreadsheet."""
    # A spreadsheet would interpret such a text as a formula.
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value


def _drawable(value: object) -> object:
    """Return the value with six digits, and without numbers that JSON cannot represent."""
    match value:
        case float():
            return float(f"{value:.6g}") if math.isfinite(value) else None
        case dict():
            return {k: _drawable(v) for k, v in value.items()}
        case list() | tuple():
            return [_drawable(v) for v in value]
        case _:
            return value
