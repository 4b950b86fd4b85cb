"""What all pages share: one HTML file that needs no network and runs no script but its own."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lops_adapters import shipped
from lops_adapters.core import __version__
from lops_adapters.formats.cells import valid_text
from lops_adapters.report.text import escaped, isolated
from lops_adapters.storage import plain

SCRIPTS = ("corrections.js", "more.js", "check.js", "page.js")
Cell = Any  # shown as text, unless it is Markup


class Markup(str):
    """HTML built from escaped parts; a page takes it as it is."""

    __slots__ = ()


def document(title: str, header: str, main: str, *, data: Any = None) -> str:
    """Return a whole page; with ``data`` the script is included and reads it."""
    style = _resource("page.css")
    script = "" if data is None else "".join(map(_resource, SCRIPTS))
    # Scripts are allowed by hash only: text that slips through unescaped still does not run.
    policy = f"default-src 'none'; style-src {_hash(style)}; img-src data:"
    policy += "; base-uri 'none'; form-action 'none'"
    policy += f"; script-src {_hash(script)}" if script else ""
    scripts = ""
    if script:
        scripts = f'<script type="application/json" id="data">{embedded(data)}</script>\n'
        scripts += f"<script>{script}</script>\n"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escaped(title)}</title><style>{style}</style></head>\n"
        f"<body>\n<header>{header}</header>\n<main>\n{main}\n</main>\n"
        f"<footer>Made by lops_adapters {__version__}. One file; works offline, sends nothing."
        f"</footer>\n{scripts}</body></html>\n"
    )


def embedded(value: Any) -> str:
    r"""Return a value in JSON's own types as text that HTML and JavaScript read as nothing else.

    >>> embedded("</script>&")
    '"\\u003c/script\\u003e\\u0026"'
    """
    # ASCII only, so that lone surrogates and U+2028 are escaped too.
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def headline(title: str, sentence: str, source: str) -> str:
    """Return the top of a page: title, main result, source."""
    return (
        f'<p class="eyebrow">{isolated(title)}</p><h1>{escaped(sentence)}</h1>'
        f'<p class="muted">{isolated(source)}</p>'
    )


def section(name: str, title: str, *parts: str) -> str:
    """Return a section of the page under a heading; ``name`` is its id."""
    body = "\n".join(part for part in parts if part)
    heading = f'<h2 id="{name}">{escaped(title)}</h2>'
    return f'<section aria-labelledby="{name}">{heading}\n{body}\n</section>'


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    caption: str,
    *,
    text: Sequence[int] = (),
    stacked: bool = False,
) -> str:
    """Return a table that scrolls sideways where it is too wide; numbers are right-aligned.

    Cells are shown as text unless they are :class:`Markup`; the caption is for screen readers. The
    first column, which names the row, and those of ``text`` hold words. ``stacked``: on a phone,
    the words of a row are above and below its numbers, so that nothing lies beyond the edge.
    """
    words = {0, *text}
    kinds = [' class="words" dir="auto"' if i in words else "" for i in range(len(head))]
    # Explicit roles: with another layout, screen readers no longer see a table.
    line, column, name, cell = (
        f' role="{role}"' if stacked else ""
        for role in ("row", "columnheader", "rowheader", "cell")
    )
    group, whole = (' role="rowgroup"', ' role="table" class="stacked"') if stacked else ("", "")
    titles = "".join(
        f'<th scope="col"{column}{kind}>{escaped(title)}</th>'
        for title, kind in zip(head, kinds, strict=True)
    )
    lines = []
    for row in rows:
        shown = [value if isinstance(value, Markup) else escaped(value) for value in row]
        first = f'<th scope="row"{name}{kinds[0]}>{shown[0]}</th>'
        rest = zip(shown[1:], kinds[1:], strict=True)
        cells = "".join(f"<td{cell}{kind}>{value}</td>" for value, kind in rest)
        lines.append(f"<tr{line}>{first}{cells}</tr>")
    body = f"<thead{group}><tr{line}>{titles}</tr></thead>"
    body += f"<tbody{group}>" + "\n".join(lines) + "</tbody>"
    label = escaped(caption)
    return (
        f'<div class="wide" role="region" aria-label="{label}" tabindex="0">'
        f'<table{whole}><caption class="unseen">{label}</caption>{body}</table></div>'
    )


def tiles(figures: Sequence[tuple[str, str]]) -> str:
    """Return large numbers, each with its name."""
    items = "".join(
        f"<div><dt>{isolated(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in figures
    )
    return f'<dl class="tiles">{items}</dl>'


def card(title: str, *parts: str) -> str:
    """Return parts in a frame under a small heading."""
    return f'<div class="card"><h3>{escaped(title)}</h3>{"".join(parts)}</div>'


def details(summary: str, *parts: str, is_open: bool = False) -> str:
    """Return parts that a click on ``summary`` shows, or hides where they are open."""
    begin = "<details open>" if is_open else "<details>"
    return f"{begin}<summary>{escaped(summary)}</summary>{''.join(parts)}</details>"


def keys(title: str, entries: Sequence[tuple[str, str]]) -> str:
    """Return what keys do, folded; both parts of an entry are HTML."""
    lines = "".join(f"<dt><kbd>{key}</kbd></dt><dd>{what}</dd>" for key, what in entries)
    return details(title, f'<dl class="keys">{lines}</dl>')


def settings_section(settings: Mapping[str, Any], versions: Mapping[str, Any]) -> str:
    """Return the section of settings and versions, if any."""
    tables = settings_tables(settings, versions)
    return section("settings", "Settings and versions", tables) if tables else ""


def settings_tables(settings: Mapping[str, Any], versions: Mapping[str, Any]) -> str:
    """Return two tables: given settings, nested ones as "outer.inner", and versions."""
    parts = [
        table((name, "value"), rows, caption, text=(1,))
        for name, caption, rows in (
            ("setting", "Settings", _flat(settings)),
            ("version of", "Versions", _flat(versions)),
        )
        if rows
    ]
    return f'<div class="pair">{"".join(parts)}</div>' if parts else ""


def _flat(values: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    rows = []
    for key, value in plain(dict(values)).items():
        if value is None:  # an option that was not given
            continue
        if isinstance(value, dict) and value:
            rows += _flat(value, f"{above}{key}.")
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rows.append((f"{above}{key}", shown))
    return rows


def _resource(name: str) -> str:
    return shipped.text(f"report/{name}")


def _hash(text: str) -> str:
    digest = hashlib.sha256(valid_text(text).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
