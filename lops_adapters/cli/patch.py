"""``lops patch``: LOPS inside the four original repositories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.vendoring import patching, upstreams

EXAMPLES = """examples:
  lops patch conwea ~/src/ConWea --check
  lops patch conwea ~/src/ConWea
  lops patch conwea ~/src/ConWea --reverse"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops patch``."""
    found = argparse.ArgumentParser(
        prog="lops patch",
        description="Put LOPS into a checkout of an original repository. The patched program is as before, until it is run with LOPS=1.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument(
        "name", choices=upstreams.names(), metavar="NAME", help=", ".join(upstreams.names())
    )
    found.add_argument("path", type=Path, metavar="PATH", help="top folder of the checkout")
    what = found.add_mutually_exclusive_group()
    what.add_argument(
        "--check", action="store_true", help="say whether it would work, and write nothing"
    )
    what.add_argument("--reverse", action="store_true", help="take everything out again")
    what.add_argument(
        "--status", action="store_true", help="say how the checkout stands, and write nothing"
    )
    found.add_argument(
        "--force",
        action="store_true",
        help="patch changed files whose lines around the insertions still fit; reverse edited patches",
    )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Patch a checkout, undo that, or say how it stands."""
    options = parser().parse_args(arguments)
    upstream, root = upstreams.load(options.name), options.path
    if options.status:
        print("\n".join(_columns(patching.status(root, upstream))))
    elif options.reverse:
        restored, left = patching.reverse(root, upstream, force=options.force)
        print(
            f"restored or removed: {', '.join(restored)}"
            if restored
            else "there was nothing to take out"
        )
        if left:
            print(f"left where they are, since they were edited: {', '.join(left)}")
    else:
        written = patching.apply(root, upstream, force=options.force, dry=options.check)
        verb = "would write" if options.check else "wrote"
        print(f"{verb} {', '.join(written)}" if written else "patched already, nothing to do")
        if not options.check:
            print(
                "LOPS=1 in the environment switches the selection on; see docs/vendoring.md for LOPS_TAU, LOPS_RULE and the others"
            )
    return 0


def _columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {state}" for name, state in rows]
