"""Draw house.svg: the folders of src/taut as floors, and the path of a value through them.

Each floor imports only from those below it.
"""

from html import escape
from pathlib import Path

ROOF = ("cli", "taut run, view, render, export, validate, bench …")
# From the top. Folders on one floor do not import each other, or only to the left.
FLOORS = (
    (
        ("show", "viewer, pictures, plots, export"),
        ("validate", "cases with formulas"),
        ("bench", "speed"),
    ),
    (("bridge", "trajectories within JAX and PyTorch"),),
    (("study", "many runs on many processes: designs, measures, tables"),),
    (("inverse", "gradients through steps and shapes, fits"),),
    (("scene", "TOML files: one file per table"),),
    (("run", "simulate, energy ledger, run folders"),),
    (("proof", "an exact solution next to a step: intervals, eigenvalues"),),
    (("statics", "equilibrium, stability, modes, form finding"),),
    (("step", "time: one integrator per file"),),
    (("system", "System, State, Workspace; assembly of V, f, K, D"),),
    (("collision", "near pairs, distances, when they meet, intersections"),),
    (("constraints", "what fixes particles, or moves them along paths"),),
    (("laws", "the catalogue: one law per file"),),
    (("binding", "laws bound to elements, placed among particles, compiled"),),
    (("formula", "symbols: formula → graph → derivatives → source"),),
    (("optimise", "Newton, L-BFGS, line search, tolerances"),),
    (("linalg", "block matrices, direct solver, CG with multigrid, eigenvalues"),),
    (("jit", "source → machine code, cached"),),
    (("materials", "moduli in, springs out"),),
    (("mesh", "points and cells: generators, files, selections, filling"),),
)
GROUND = (
    "errors",
    "arrays",
    "atomic_write",
    "regular_file",
    "tables",
    "extras",
    "importable",
    "progress",
    "watch",
    "threads",
)
PATH = (  # stations of a value, numbered as in docs/design.md
    ("scene", 1, "k = 500.0"),
    ("mesh", 2, "edges"),
    ("formula", 3, "V, ∇V, ∇²V"),
    ("binding", 4, "spring(edges, k)"),
    ("system", 5, "f, K"),
    ("optimise", 6, "K y = r"),
    ("step", 7, "q', report"),
    ("run", 8, "a frame"),
    ("show", 9, "a picture"),
)

LEFT, WIDTH, HIGH, TOP = 60, 560, 44, 128
INK, WALL, SHADE, GLOW = "#37474f", "#fbfaf7", ("#eceff1", "#e3e9ec"), "#d84315"


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: int = 12,
    anchor: str = "start",
    colour: str = INK,
    weight: int = 400,
) -> str:
    """A line of text; y is its baseline."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def room(x: float, y: float, width: float, name: str, what: str, shade: str) -> str:
    """A folder as a room with its name and what it holds; narrow ones have two lines."""
    box = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HIGH}" fill="{shade}" stroke="{INK}"/>'
    if width < WIDTH:
        return (
            box
            + text(x + 12, y + 19, f"{name}/", size=14, weight=700)
            + text(x + 12, y + 36, what, size=11)
        )
    return box + text(x + 12, y + 27, f"{name}/", size=14, weight=700) + text(x + 124, y + 27, what)


def house() -> str:
    """The whole picture."""
    middle = LEFT + WIDTH / 2
    gable = f"{LEFT - 24},{TOP} {middle:g},24 {LEFT + WIDTH + 24},{TOP}"
    parts = [f'<polygon points="{gable}" fill="#b0bec5" stroke="{INK}"/>']
    parts += [
        text(middle, 92, f"{ROOF[0]}/", size=14, anchor="middle", weight=700),
        text(middle, 114, ROOF[1], anchor="middle"),
    ]
    level = {}
    for i, rooms in enumerate(FLOORS):
        y, x = TOP + HIGH * i, float(LEFT)
        shares = (0.46, 0.29, 0.25) if len(rooms) == 3 else (1.0,)
        for (name, what), share in zip(rooms, shares, strict=True):
            parts.append(room(x, y, share * WIDTH, name, what, SHADE[i % 2]))
            level[name] = y + HIGH / 2
            x += share * WIDTH
    base = TOP + HIGH * len(FLOORS)
    parts.append(
        f'<rect x="{LEFT - 24}" y="{base}" width="{WIDTH + 48}" height="34" fill="#90a4ae" stroke="{INK}"/>'
    )
    half = (len(GROUND) + 1) // 2
    for row, names in enumerate((GROUND[:half], GROUND[half:])):
        files = "   ".join(f"{name}.py" for name in names)
        parts.append(
            text(middle, base + 14 + 13 * row, files, size=10, anchor="middle", weight=700)
        )

    parts.append(
        f'<path d="M28 {TOP + 20} V{base - 20}" stroke="{INK}" stroke-width="1.5" marker-end="url(#down)"/>'
    )
    parts.append(f'<g transform="rotate(-90 18 {(TOP + base) / 2:g})">')
    parts.append(text(18, (TOP + base) / 2, "imports point down", anchor="middle") + "</g>")

    x = LEFT + WIDTH + 44
    ways = [
        f"M{x} {level['scene']:g}",
        f"L{x} {level['mesh']:g}",
        f"L{x + 96} {level['mesh']:g}",
        f"L{x + 96} {level['show']:g}",
    ]
    parts.append(f'<path d="{" ".join(ways)}" fill="none" stroke="{GLOW}" stroke-width="2"/>')
    for name, number, label in PATH:
        at = x if number <= 2 else x + 96
        y = level[name]
        parts.append(f'<circle cx="{at}" cy="{y:g}" r="10" fill="{GLOW}"/>')
        parts.append(text(at, y + 4, str(number), anchor="middle", colour="#fff", weight=700))
        parts.append(text(at + 16, y + (4 if number != 2 else -8), label))
    arrow = '<marker id="down" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    wide, high = LEFT + WIDTH + 260, base + 48
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="DejaVu Sans, Arial, sans-serif">'
        f'<defs>{arrow}<path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>'
        f'<rect width="{wide}" height="{high}" fill="{WALL}"/>' + "\n".join(parts) + "</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(house())
