"""The list of rows to look at, which the script fills."""

from lops_adapters.report.contents import SelectionPage
from lops_adapters.report.layout import keys, section
from lops_adapters.report.text import count, escaped, isolated

CORRECTION = "correction"
_WORDS = (CORRECTION, "row", "text", "label", "suggested")  # columns of words, not numbers


def listed(page: SelectionPage) -> str:
    """Return the section of the least trusted rows; nothing where none are listed."""
    if not page.suspects:
        return ""
    intro = f"The least trusted rows per class, {count(len(page.suspects))} in all."
    rejected = sum(not row.selected for row in page.suspects) + page.n_more
    if rejected == page.n_rows - page.n_kept:
        intro = "All rejected rows, and the least trusted kept rows."
    if page.n_unlisted:
        intro = f"The least trusted rows; {count(page.n_unlisted)} rejected rows did not fit."
    if page.to_check:
        intro += " The rows to check are also here."
    intro += " Look here for wrong labels."
    counted = "Row 1 is the first row; the header does not count."
    if has(page, "id"):
        counted = f"Rows are shown by id. In the CSV: {counted[0].lower()}{counted[1:]}"
    words = ' class="words"'
    head = "".join(
        f'<th scope="col" role="columnheader"{words if name in _WORDS else ""}>{name}</th>'
        for name in [*columns(page), CORRECTION]
    )
    live = (
        f"<div data-live hidden>{_how(page)}{_controls(page)}"
        '<div class="bar"><span><span role="status" id="rows-status"></span> '
        '<span role="status" id="more-status"></span></span>'
        '<button type="button" id="download">Download these as CSV</button></div>'
        '<table id="rows" role="table" aria-labelledby="suspects">'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        '<tbody role="rowgroup"></tbody></table>'
        '<div class="bar"><button type="button" id="previous">Previous</button>'
        '<button type="button" id="next">Next</button></div></div>'
    )
    introduction = f'<p>{intro}</p><p class="note">{counted}</p>'
    off = "<noscript><p>The list needs scripts. The file of rejected rows has them.</p></noscript>"
    return section("suspects", "Rows to look at", introduction, live, off)


def _how(page: SelectionPage) -> str:
    """Return how rows are corrected: the counter, the download, the keys, the next command."""
    entries = [
        ("j</kbd> <kbd>k", "next, previous row"),
        ("a", "accept the suggestion"),
        ("d", "delete the row"),
        ("u", "undo the last correction"),
        *((str(i), isolated(row.label)) for i, row in enumerate(page.classes[:9], 1)),
    ]
    command = page.table.get("command", "lops apply corrections.csv TABLE --output FILE")
    return (
        '<div class="bar correct"><span role="status" id="corrections-status"></span>'
        '<button type="button" id="undo">Undo the last</button>'
        '<button type="button" id="download-corrections">Download corrections</button></div>'
        f'<p class="note" id="corrections-note">Then: <code>{escaped(command)}</code></p>'
        f"{keys('Keys', entries)}"
    )


def labels(page: SelectionPage) -> list[str]:
    """Return the labels of the listed rows, in the order of the classes."""
    if page.n_more:
        return list(page.codes)
    of_suspects = {row.label for row in page.suspects}
    return [row.label for row in page.classes if row.label in of_suspects]


def columns(page: SelectionPage) -> list[str]:
    """Return the names of the list's columns."""
    names = ["row", "text", "label"]
    names += ["suggested"] if has(page, "suggested") else []
    names.append("confidence")
    names += ["learnt at"] if page.learnt else []
    return [*names, "state"]


def has(page: SelectionPage, name: str) -> bool:
    """Return whether any of the first rows has a value for a field."""
    return any(getattr(row, name) is not None for row in page.suspects)


def _controls(page: SelectionPage) -> str:
    options = "".join(
        f'<option value="{i}">{escaped(label)}</option>' for i, label in enumerate(labels(page))
    )
    doubt = ""
    if has(page, "suggested"):
        doubt = '<option value="probe">probe disagrees most</option>'
    return (
        '<div class="controls"><label>Search'
        '<input type="search" id="search" autocomplete="off" spellcheck="false"></label>'
        f'<label>Label<select id="label"><option value="">all</option>{options}</select>'
        '</label><label>State<select id="state"><option value="">all</option>'
        '<option value="rejected">rejected</option><option value="kept">kept</option>'
        '<option value="checked">checked</option></select>'
        '</label><label>Order<select id="order"><option value="">least trusted first</option>'
        f'{doubt}<option value="position">as in the data</option></select></label></div>'
    )
