"""Links between the pages lead to a file and a heading that are there, as GitHub shows them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    path
    for pattern in ("*.md", "*/README.md", "docs/**/*.md")
    for path in ROOT.glob(pattern)
    if "_build" not in path.parts
]


def anchors(path):
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    headings = re.findall(r"^#+ (.*)", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in headings}


def test_links_lead_to_a_file_and_a_heading():
    wrong = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if ":" in link or (target.exists() and (not anchor or anchor in anchors(target))):
                continue
            wrong.append(f"{page.name}: {link}")
    assert not wrong
    assert len(PAGES) > 50
