"""The pictures of a report in README and docs, made from ``lops demo``; needs Chromium::

    python -m benchmarks.pictures

``docs/figures/pictures.json`` says what they show; a test compares it with what the demo writes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from lops_adapters import storage

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
RECORD = FIGURES / "pictures.json"
NAMES = ("report.png", "check.png")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, MARGIN = 1100, 10  # pixels


def shows(folder: Path) -> str:
    """Return a checksum of what the pictures show of the report in a folder of ``lops select``.

    The style, the page above its charts, and the first row to check, which a script draws.
    """
    page = (folder / "report.html").read_text(encoding="utf-8")
    top = page[page.index("<header>") : page.index('<h2 id="charts">')]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    (row,) = (one for one in summary["suspects"] if one["row"] == summary["to_check"][0])
    style = files("lops_adapters.report").joinpath("page.css").read_text(encoding="utf-8")
    text = "\n".join([style, top, row["text"], row["label"], row["suggested"]])
    return hashlib.sha256(text.encode()).hexdigest()


def checksums() -> dict[str, str]:
    """Return a checksum of each picture."""
    return {name: hashlib.sha256((FIGURES / name).read_bytes()).hexdigest() for name in NAMES}


def photograph(report: Path) -> None:
    """Write the pictures of a report: its top, and the card of the rows to check."""
    from playwright.sync_api import sync_playwright

    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as api:
        browser = api.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 2000})
        page.goto(report.resolve().as_uri())
        box: Any = page.locator("section[aria-labelledby=classes] .wide").first.bounding_box()
        clip: Any = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + MARGIN}
        page.screenshot(path=FIGURES / NAMES[0], clip=clip)
        page.locator("#check-card").screenshot(path=FIGURES / NAMES[1])
        browser.close()


def main() -> None:
    """Run the demo and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "lops_adapters.cli.main", "demo"]
        subprocess.run(command, cwd=folder, check=True)
        selection = Path(folder) / "lops-demo" / "selection"
        photograph(selection / "report.html")
        storage.write_json(RECORD, {"shows": shows(selection), **checksums()})


if __name__ == "__main__":
    main()
