"""``lops patch``: LOPS inside the four original repositories."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.cli import options as shared
from lops_adapters.vendoring import patching, upstreams

EXAMPLES = """\
  lops patch conwea ~/src/ConWea --check
  lops patch conwea ~/src/ConWea
  lops patch conwea ~/src/ConWea --reverse"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops patch``."""
    parser = shared.parser(
        "patch",
        "Insert LOPS into a checkout of an original repository. "
        "Without LOPS=1 in the environment, the patched program runs as before.",
        EXAMPLES,
    )
    names = upstreams.names()
    parser.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("path", type=Path, metavar="PATH", help="top folder of the checkout")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--check", action="store_true", help="list what would be written, and write nothing"
    )
    what.add_argument("--reverse", action="store_true", help="remove the patch")
    what.add_argument(
        "--status", action="store_true", help="show the state of the checkout, and write nothing"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Patch a checkout, remove the patch, or show the state."""
    options = parser().parse_args(arguments)
    upstream, root = upstreams.load(options.name), options.path
    if options.status:
        rows = patching.status(root, upstream)
        width = max(len(name) for name, _ in rows)
        print("\n".join(f"{name:<{width}}  {state}" for name, state in rows))
    elif options.reverse:
        restored, left = patching.reverse(root, upstream)
        named = ", ".join(restored)
        print(f"Restored or removed: {named}" if restored else "Nothing to remove.")
        if left:
            print(f"Left in place, edited since the patch: {', '.join(left)}")
    else:
        written = patching.apply(root, upstream, dry=options.check)
        verb = "Would write" if options.check else "Wrote"
        print(f"{verb}: {', '.join(written)}" if written else "Already patched; nothing to do.")
        if not options.check:
            print("Set LOPS=1 to switch the selection on. Other variables: docs/vendoring.md")
    return 0
