"""Draw the pictures of the documentation, on a light ground that is readable on light and dark pages.

Run: python -m docs.site.pictures
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "pictures"
_INK, _GREY, _GROUND = "#1b2733", "#5b6b7a", "#f7f9fb"
BLUE, GREEN, AMBER, ROSE, WHITE = "#dbe8f8", "#dcf0e0", "#fbeccb", "#f8dfe0", "#ffffff"
_EDGE = {BLUE: "#3d6fb0", GREEN: "#3f8752", AMBER: "#b07d1d", ROSE: "#b0484c", WHITE: "#8796a5"}
_FONT = "font-family='system-ui,-apple-system,Segoe UI,Roboto,sans-serif'"


@dataclass
class Picture:
    """An SVG picture in pixels; `title` and `description` are read by screen readers."""

    width: int
    height: int
    title: str
    description: str
    parts: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, w: float, h: float, *lines: str, colour: str = WHITE, size: int = 13) -> None:
        """A rectangle with centred lines; the first is bold if there are several."""
        self.parts.append(
            f"<rect x='{x}' y='{y}' width='{w}' height='{h}' rx='5' fill='{colour}' stroke='{_EDGE[colour]}'/>"
        )
        top = y + h / 2 - (len(lines) - 1) * (size + 3) / 2 + size * 0.36
        for number, line in enumerate(lines):
            bold = number == 0 and len(lines) > 1
            self.text(x + w / 2, top + number * (size + 3), line, size, "middle", bold=bold)

    def text(
        self,
        x: float,
        y: float,
        line: str,
        size: int = 13,
        anchor: str = "start",
        *,
        bold: bool = False,
        grey: bool = False,
    ) -> None:
        """A line of text at its baseline."""
        weight = " font-weight='600'" if bold else ""
        fill = _GREY if grey else _INK
        self.parts.append(
            f"<text x='{x:g}' y='{y:g}' font-size='{size}' text-anchor='{anchor}' fill='{fill}'{weight}>"
            f"{escape(line)}</text>"
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        """An arrow along points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(
            f"<polyline points='{path}' fill='none' stroke='{_GREY}' stroke-width='1.4' marker-end='url(#tip)'/>"
        )

    def cells(self, x: float, y: float, rows: int, columns: int, w: float, h: float, colour: str) -> None:
        """A grid of equal cells."""
        for row in range(rows):
            for column in range(columns):
                self.parts.append(
                    f"<rect x='{x + column * w:g}' y='{y + row * h:g}' width='{w:g}' height='{h:g}' fill='{colour}' "
                    f"stroke='{_EDGE[colour]}' stroke-width='0.8'/>"
                )

    def svg(self) -> str:
        """Return the file."""
        head = (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width} {self.height}' role='img' "
            f"width='{self.width}' aria-labelledby='t d' {_FONT}>\n<title id='t'>{escape(self.title)}</title>\n"
            f"<desc id='d'>{escape(self.description)}</desc>\n"
            "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
            f"<path d='M0,0L8,4L0,8z' fill='{_GREY}'/></marker></defs>\n"
            f"<rect width='{self.width}' height='{self.height}' rx='8' fill='{_GROUND}'/>\n"
        )
        return head + "\n".join(self.parts) + "\n</svg>\n"


def pipeline() -> Picture:
    """From a problem to a kernel that is served."""
    p = Picture(
        860,
        300,
        "Pipeline",
        "A problem and a device define the legal configurations; one is compiled from XeTile over XeGPU, sub-groups, "
        "lanes and LLVM IR to SPIR-V, verified, timed or predicted, stored and served.",
    )
    p.box(20, 30, 170, 52, "problem", "M, N, K, types, epilogue", colour=BLUE)
    p.box(20, 112, 170, 52, "device", "facts with sources", colour=BLUE)
    p.box(230, 62, 150, 70, "legal configurations", "named rules;", "a sampler proposes", colour=AMBER)
    p.arrow((190, 56), (230, 88))
    p.arrow((190, 138), (230, 106))
    names = ("XeTile", "XeGPU", "sub-groups", "lanes", "LLVM IR", "SPIR-V")
    for number, name in enumerate(names):
        x, y = 420 + (number % 3) * 142, 50 + (number // 3) * 62
        p.box(x, y, 112, 40, name, colour=WHITE)
        if number % 3:
            p.arrow((x - 30, y + 20), (x, y + 20))
    p.arrow((380, 84), (420, 72))
    p.arrow((760, 90), (760, 101), (476, 101), (476, 112))
    p.box(20, 220, 180, 56, "verified", "against numpy in float64", colour=GREEN)
    p.box(230, 220, 190, 56, "measured or predicted", "each time says which", colour=GREEN)
    p.box(450, 220, 170, 56, "stored", "SQL rows, artifact files", colour=BLUE)
    p.box(650, 220, 190, 56, "served", "REST, CLI, Python, torch", colour=BLUE)
    p.arrow((760, 152), (760, 190), (110, 190), (110, 220))
    for left, right in ((200, 230), (420, 450), (620, 650)):
        p.arrow((left, 248), (right, 248))
    return p


def loops() -> Picture:
    """The nine loops of a blocked product."""
    p = Picture(
        860,
        330,
        "Nine loops",
        "Three loops each over M, N and K: parallel loops over work-groups, loops of one work-group over blocks, and "
        "loops of a block over instructions.",
    )
    levels = (
        (
            "parallel: p",
            "threads m x n x k",
            ("pm", "pn", "pk"),
            BLUE,
            ("work-groups; on a CPU, threads.", "pk splits the sums (split K)"),
        ),
        (
            "outer: o",
            "blocks, one after another",
            ("om", "on", "ok"),
            AMBER,
            ("tiles of a persistent work-group;", "ok is the K loop, in steps of block k"),
        ),
        (
            "inner: i",
            "inside a block",
            ("im", "in", "ik"),
            GREEN,
            ("register tiles: DPAS of 8x16,", "or vector code of a CPU"),
        ),
    )
    for number, (name, size, loop, colour, note) in enumerate(levels):
        x = 30 + number * 275
        p.text(x, 38, name, 15, bold=True)
        p.text(x, 57, size, 12, grey=True)
        for depth, each in enumerate(loop):
            p.box(x + depth * 14, 72 + depth * 42, 120, 34, f"for {each}", colour=colour)
        p.text(x, 216, note[0], 12)
        p.text(x, 233, note[1], 12)
        if number < 2:
            p.arrow((x + 170, 130), (x + 260, 130))
    p.box(
        30,
        258,
        800,
        50,
        "loop_order, such as pm pn pk ok om on im in ik: the order inside each level",
        "C[m, n] += A[m, k] * B[k, n]",
        colour=WHITE,
    )
    return p


def subgroups() -> Picture:
    """A work-group's tile, its sub-groups, and the instructions of one."""
    p = Picture(
        860,
        330,
        "Layout of sub-groups",
        "A work-group's tile of C of 256 x 256 is divided by sg_layout 8 x 4 into sub-group tiles of 32 x 64; each of "
        "these is computed by DPAS instructions of 8 x 16, one column of which belongs to each of 16 lanes.",
    )
    p.text(30, 36, "work-group: block 256 x 256", 14, bold=True)
    p.text(30, 54, "sg_layout 8 x 4: 32 sub-groups", 12, grey=True)
    p.cells(30, 70, 8, 4, 55, 27, BLUE)
    p.cells(140, 124, 1, 1, 55, 27, AMBER)
    p.arrow((195, 137), (310, 137))
    p.text(320, 36, "sub-group: 32 x 64 of C in registers", 14, bold=True)
    p.text(320, 54, "4 x 4 DPAS, repeated for each K step", 12, grey=True)
    p.cells(320, 70, 4, 4, 60, 30, AMBER)
    p.cells(500, 100, 1, 1, 60, 30, GREEN)
    p.arrow((560, 115), (628, 115))
    p.text(635, 36, "DPAS: 8 x 16", 14, bold=True)
    p.text(635, 54, "lane = column, register = row", 12, grey=True)
    p.cells(635, 70, 8, 16, 12, 15, GREEN)
    p.text(635, 210, "16 lanes of one thread; on GPUs", 12)
    p.text(635, 226, "with sub-groups of 8: 8 x 8", 12)
    p.box(
        320,
        236,
        510,
        70,
        "rules that bound it",
        "subgroups-divide-block, dpas-shape, registers,",
        "workgroup-size, resident-subgroups, grf-mode",
        colour=WHITE,
    )
    return p


def load_blocks() -> Picture:
    """One 2-D block message and the operands in it."""
    p = Picture(
        860,
        300,
        "Load blocks",
        "A sub-group's operand A of 32 x 32 16-bit elements is loaded by one message of two blocks of 32 rows and 16 "
        "columns; it holds eight DPAS operands of 8 x 16.",
    )
    p.text(30, 36, "A in memory, row-major", 14, bold=True)
    p.cells(30, 55, 8, 12, 17, 25, WHITE)
    p.cells(64, 80, 4, 4, 17, 25, AMBER)
    p.text(30, 278, "a 2-D message names base, width, height, pitch and x, y", 12, grey=True)
    p.arrow((132, 130), (330, 100))
    p.text(340, 36, "intel_sub_group_2d_block_read_16b_32r16x2c", 13, bold=True)
    p.cells(340, 55, 4, 2, 100, 42, AMBER)
    for row in range(4):
        for column in range(2):
            p.text(390 + 100 * column, 80 + 42 * row, "8 x 16", 12, "middle")
    p.text(340, 243, "one message: 2 blocks of 32 x 16", 12)
    p.text(340, 260, "8 x 16: operand A of one DPAS", 12)
    p.box(600, 60, 235, 56, "load-block-a, load-block-b", "the block divides the operand", colour=WHITE)
    p.box(600, 128, 235, 56, "larger blocks", "fewer messages for a DPAS", colour=GREEN)
    p.box(600, 196, 235, 56, "Arc A: no 2-D messages", "loads by lanes instead", colour=ROSE)
    return p


def evidence() -> Picture:
    """The two facts of every result."""
    p = Picture(
        860,
        320,
        "Evidence",
        "Every result says how its time is known, measured natively, measured with emulated DPAS or predicted, and how "
        "its numbers are known, verified on the device, on CPU OpenCL, as machine code, in the simulator or not.",
    )
    p.text(30, 38, "time", 15, bold=True)
    p.box(30, 52, 380, 46, "measured, native", "on the device it is for", colour=GREEN)
    p.box(30, 110, 380, 46, "predicted, model version", "with an interval; for an absent GPU", colour=AMBER)
    p.box(30, 168, 380, 46, "measured, DPAS emulated", "says nothing about the GPU, is not served for it", colour=ROSE)
    p.text(450, 38, "numbers, against numpy in float64", 15, bold=True)
    rows = (
        ("device", GREEN),
        ("CPU OpenCL: the SPIR-V, DPAS emulated", GREEN),
        ("machine code: the instructions, interpreted", GREEN),
        ("simulator: the lowered module, n of N tiles", GREEN),
        ("not verified", ROSE),
    )
    for number, (line, colour) in enumerate(rows):
        p.box(450, 52 + number * 34, 380, 28, line, colour=colour)
    p.box(
        30,
        240,
        800,
        56,
        "accepted by the driver",
        "an absent GPU's driver built the kernel and took the launch; it executed nothing",
        colour=BLUE,
    )
    return p


def job() -> Picture:
    """A job, from the request to the lookup."""
    p = Picture(
        860,
        310,
        "A job",
        "A job proposes a configuration, compiles, verifies and measures or predicts it, and stores a trial, until its "
        "budget ends; finalists are measured again, interleaved with the default, and the winner is stored.",
    )
    p.box(20, 40, 130, 56, "job", "problem, device,", "budget", colour=BLUE, size=12)
    steps = (
        ("propose", "sampler"),
        ("compile", "own process"),
        ("verify", "float64"),
        ("measure", "or predict"),
        ("trial", "row in SQL"),
    )
    for number, (name, note) in enumerate(steps):
        x = 190 + number * 132
        p.box(x, 40, 108, 56, name, note, colour=AMBER if number < 4 else BLUE)
        p.arrow((x - (40 if number == 0 else 24), 68), (x, 68))
    p.arrow((772, 96), (772, 126), (244, 126), (244, 96))
    p.text(508, 120, "until the budget, --no-gain or --roofline ends it", 12, "middle", grey=True)
    p.box(20, 170, 190, 60, "finalists", "best three and the default,", "measured interleaved", colour=GREEN)
    p.box(250, 170, 170, 60, "winner", "the fastest one, or the", "default; right numbers", colour=GREEN)
    p.box(460, 170, 170, 60, "kernel", "artifacts by SHA-256", colour=BLUE)
    p.box(670, 170, 170, 60, "lookup", "GET /v1/kernels", colour=BLUE)
    p.arrow((772, 126), (772, 148), (115, 148), (115, 170))
    for left, right in ((210, 250), (420, 460), (630, 670)):
        p.arrow((left, 200), (right, 200))
    p.text(
        20,
        268,
        "A killed job continues from its rows. A candidate that fails is a trial with a reason, no error of the job.",
        12,
    )
    p.text(20, 286, "Compilers and devices run in child processes, which may crash or hang.", 12)
    return p


PICTURES = {each.__name__: each for each in (pipeline, loops, subgroups, load_blocks, evidence, job)}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw().svg())
