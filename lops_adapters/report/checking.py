"""The rows that a person checks, one at a time; the script fills the card."""

from lops_adapters.report.contents import SelectionPage
from lops_adapters.report.layout import keys, section
from lops_adapters.report.text import count, escaped, isolated

_DIGITS, _BUTTONS = 9, 20  # classes with a digit; more classes than buttons have a menu
_KEYS = (
    ("Enter</kbd> <kbd>r", "the label is right"),
    ("a", "accept the suggestion, where it is shown"),
    ("1</kbd> to <kbd>9", "another class"),
    ("n", "none of these classes; the row is rejected, and lops apply deletes it"),
    ("s", "skip the row; it comes back"),
    ("u", "undo"),
)


def checked(page: SelectionPage) -> str:
    """Return the section "Check rows", hidden until the script runs; nothing without rows."""
    if not page.to_check:
        return ""
    rows = "row" if len(page.to_check) == 1 else "rows"
    intro = (
        f"<p>Is the label right? Checking {count(len(page.to_check))} {rows} shows how many labels "
        "are wrong, and improves the selection. Stop at any time: this browser keeps what you "
        "checked.</p>"
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
        f'<progress id="check-bar" max="{len(page.to_check)}" value="0" aria-hidden="true">'
        '</progress><p role="status" class="muted" id="check-status"></p>'
        '<p class="muted" id="check-estimate"></p>'
        '<div id="check-row" tabindex="-1"></div>'
        f'<div class="buttons" role="group" aria-label="classes">{_classes(page)}</div>'
        '<div class="dock"><div id="check-label"></div>'
        f'<div class="buttons main">{"".join(main)}</div></div></div>'
    )


def _classes(page: SelectionPage) -> str:
    """Return a button per class; of many classes, a menu has the ones without a digit."""
    names = list(page.codes)
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
