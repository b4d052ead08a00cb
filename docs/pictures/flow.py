"""Draw the flow of the planner as SVG: ``python docs/pictures/flow.py``. The tables are what is shown."""

from __future__ import annotations

from html import escape
from pathlib import Path

FLOW = (
    ("text", "options, TOML, CSV", "planner/cli, planner/io"),
    ("Scenario", "every value with its origin and interval", "planner/scenario, planner/data"),
    ("Question", "topologies, problem, network, target", "planner/predict/question.py"),
    ("predict and cost, per topology", "rounds; time and traffic of a round", "planner/predict, planner/cost"),
    ("rank", "the objective decides; what cannot be told apart ties", "planner/decide/rank.py"),
    ("sensitivity, uncertainty, evidence", "what would change it; how sure it is", "planner/decide"),
    ("Answer", "data only", "planner/decide/recommendation.py"),
    ("Document", "headings, paragraphs, tables, figures", "planner/report/answers"),
    ("renderer", "terminal, JSON, CSV, Markdown, HTML, LaTeX", "planner/report/render"),
)
SOURCES = (  # and the place in the flow that reads them
    ("Topology", "tiers, a pattern each", "hflbounds/topology", 2),
    ("bounds", "what is guaranteed", "hflbounds/catalog", 3),
    ("harness", "the algorithms, run", "validation", 5),
)
WIDTH, HEIGHT, STEP, MARGIN, GAP, SIDE = 500, 46, 66, 12, 50, 230
STYLE = (
    "text{font-family:sans-serif;fill:#222}.title{font-size:14px;font-weight:bold}.says{font-size:12px}"
    ".where{font-size:11px;font-family:monospace;fill:#555}.flow{fill:#eef3fa;stroke:#4a6fa5}"
    ".source{fill:#f6f1e7;stroke:#a5834a}.arrow{stroke:#555;stroke-width:1.5}"
)
ALTERNATIVE = (
    "Text becomes a scenario, a question, predictions and costs per topology, a ranking, sensitivity and uncertainty, "
    "an answer, a document and rendered output; topologies and bounds come from hflbounds, runs from validation."
)


def box(x: int, y: int, width: int, kind: str, title: str, says: str, where: str) -> str:
    """Draw a box with its three texts."""
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="6"/>\n'
        f'<text class="title" x="{x + 10}" y="{y + 18}">{escape(title)}</text>\n'
        f'<text class="says" x="{x + 10}" y="{y + 36}">{escape(says)}</text>\n'
        f'<text class="where" x="{x + width - 10}" y="{y + 18}" text-anchor="end">{escape(where)}</text>'
    )


def arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    """Draw an arrow to its second point."""
    return f'<line class="arrow" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" marker-end="url(#head)"/>'


def drawn() -> str:
    """Return the picture."""
    width, height = 2 * MARGIN + WIDTH + GAP + SIDE, 2 * MARGIN + STEP * (len(FLOW) - 1) + HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
        f'aria-label="{ALTERNATIVE}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    middle = MARGIN + WIDTH // 2
    for place, texts in enumerate(FLOW):
        y = MARGIN + STEP * place
        parts.append(box(MARGIN, y, WIDTH, "flow", *texts))
        if place:
            parts.append(arrow(middle, y - STEP + HEIGHT, middle, y - 1))
    for *texts, place in SOURCES:
        y, x = MARGIN + STEP * place, MARGIN + WIDTH
        parts.append(box(x + GAP, y, SIDE, "source", *texts))
        parts.append(arrow(x + GAP, y + HEIGHT // 2, x + 1, y + HEIGHT // 2))
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(drawn(), encoding="utf-8")
