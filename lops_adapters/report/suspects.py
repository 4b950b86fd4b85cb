"""The rows that a person checks one at a time, and the list of rows; the script fills both."""

from lops_adapters.report.contents import SelectionPage
from lops_adapters.report.layout import keys, section
from lops_adapters.report.text import count, escaped, isolated

CORRECTION = "correction"
_WORDS = (CORRECTION, "row", "text", "label", "suggested")  # columns of words, not numbers
_ROUND = 10  # rows that are offered at once
_DIGITS, _BUTTONS = 9, 20  # classes with a digit; more classes than buttons have a menu
_KEYS = (
    ("Enter</kbd> <kbd>r", "the label is right"),
    ("a", "accept the suggestion, where it is shown"),
    ("1</kbd> to <kbd>9", "another class"),
    ("n", "none of these classes; the row is rejected, and lops apply deletes it"),
    ("s", "skip the row; it comes back"),
    ("u", "undo"),
)


def listed(page: SelectionPage) -> str:
    """Return the section of the least trusted rows; nothing where none are listed."""
    lists = page.rows
    if not lists.suspects:
        return ""
    intro = f"The least trusted rows per class, {count(len(lists.suspects))} in all."
    rejected = sum(not row.selected for row in lists.suspects) + lists.n_more
    if rejected == page.counts.n_rows - page.counts.n_kept:
        intro = "All rejected rows, and the least trusted kept rows."
    if lists.n_unlisted:
        intro = f"The least trusted rows; {count(lists.n_unlisted)} rejected rows did not fit."
    if lists.to_check:
        intro += " The rows to check are also here."
    intro += " Look here for wrong labels."
    counted = "Row 1 is the first row; the header does not count."
    if page.table.get("counts", "").startswith(("texts", "ids")):
        counted = "Row 1 is the first text, in the order of the table."
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
    entries = [
        ("j</kbd> <kbd>k", "next, previous row"),
        ("a", "accept the suggestion"),
        ("d", "delete the row"),
        ("u", "undo the last correction"),
        *((str(i), isolated(row.label)) for i, row in enumerate(page.counts.classes[:9], 1)),
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
    if page.rows.n_more:
        return list(page.counts.codes)
    of_suspects = {row.label for row in page.rows.suspects}
    return [row.label for row in page.counts.classes if row.label in of_suspects]


def columns(page: SelectionPage) -> list[str]:
    """Return the names of the list's columns."""
    names = ["row", "text", "label"]
    names += ["suggested"] if has(page, "suggested") else []
    names.append("confidence")
    names += ["learnt at"] if page.charts.learnt else []
    return [*names, "state"]


def has(page: SelectionPage, name: str) -> bool:
    """Return whether any of the first rows has a value for a field."""
    return any(getattr(row, name) is not None for row in page.rows.suspects)


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


def checked(page: SelectionPage) -> str:
    """Return the section "Check rows", hidden until the script runs; nothing without rows."""
    n = len(page.rows.to_check)
    if not n:
        return ""
    first = min(_ROUND, n)
    rows = "1 row shows" if first == 1 else f"{first} rows, about a minute, shows"
    done = f" {count(page.n_checked)} rows are checked already." if page.n_checked else ""
    intro = (
        f"<p>Is the label right? Checking {rows} how many labels are wrong, and improves the "
        f"selection.{done} Stop at any time: this browser keeps what you checked.</p>"
    )
    command = page.table.get("check", "lops select TABLE --checked corrections.csv")
    follow = (
        '<div class="bar"><button type="button" id="download-checked">Download corrections</button>'
        f'<span class="note">Then: <code>{escaped(command)}</code></span></div>'
    )
    option = (
        '<p class="note"><label><input type="checkbox" id="check-suggestions"> Show suggestions '
        "before the answer</label> (quicker, but they sway answers, and so the measured share of "
        "wrong labels)</p>"
    )
    folded = keys("Keys for checking", _KEYS)
    shown = section("check", "Check rows", intro, _card(page), follow, option, folded)
    return f'<div class="check" data-live hidden>{shown}</div>'


def _card(page: SelectionPage) -> str:
    main = (
        _button("right", "r", 'class="primary" id="check-right"'),
        _button('accept <bdi dir="auto"></bdi>', "a", 'id="check-accept"'),
        _button("none of these", "n", 'id="check-none"'),
        _button("skip", "s", 'id="check-skip"'),
        _button("undo", "u", 'id="check-undo"'),
    )
    return (
        '<div class="card" id="check-card">'
        f'<progress id="check-bar" max="{_ROUND}" value="0" aria-hidden="true">'
        '</progress><p role="status" class="muted" id="check-status"></p>'
        '<p class="muted" id="check-estimate"></p>'
        '<div id="check-row" tabindex="-1"></div>'
        '<div class="dock"><div id="check-label"></div>'
        f'<div class="buttons classes" role="group" aria-label="classes">{_classes(page)}</div>'
        f'<div class="buttons main">{"".join(main)}</div></div></div>'
    )


def _classes(page: SelectionPage) -> str:
    names = list(page.counts.codes)
    shown = names if len(names) <= _BUTTONS else names[:_DIGITS]
    parts = []
    for code, name in enumerate(shown):
        key = str(code + 1) if code < _DIGITS else ""
        parts.append(_button(isolated(name), key, f'data-code="{code}"'))
    if names[len(shown) :]:
        options = "".join(
            f'<option value="{code}">{escaped(name)}</option>'
            for code, name in enumerate(names[len(shown) :], len(shown))
        )
        parts.append(f'<select id="check-others" aria-label="other classes">{options}</select>')
        parts.append(_button("choose", "", 'id="check-other"'))
    return "".join(parts)


def _button(name: str, key: str, attributes: str) -> str:
    """Return a button with its key; ``name`` and ``attributes`` are HTML."""
    shown = ""
    if key:
        attributes += f' aria-keyshortcuts="{key}"'
        shown = f'<kbd aria-hidden="true">{key}</kbd> '
    return f'<button type="button" {attributes}>{shown}<span>{name}</span></button>'
