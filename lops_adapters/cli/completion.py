"""``lops completion``: scripts for shells, built from the parsers of the commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from lops_adapters.cli.main import COMMANDS

EXAMPLES = """examples:
  source <(lops completion bash)       # this shell; put it into ~/.bashrc for every shell
  source <(lops completion zsh)        # after compinit
  lops completion fish > ~/.config/fish/completions/lops.fish"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops completion``."""
    found = argparse.ArgumentParser(
        prog="lops completion",
        description="Print a script that completes the commands, options and choices of lops.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("shell", choices=list(SHELLS), metavar="SHELL", help=", ".join(SHELLS))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a script."""
    print(SHELLS[parser().parse_args(arguments).shell](), end="")
    return 0


def actions(command: str) -> list[argparse.Action]:
    """Return the arguments and options of a command."""
    return list(import_module(f"lops_adapters.cli.{command}").parser()._actions)


def words_of(action: argparse.Action) -> list[str]:
    """Return the possible values of an argument or option; empty if they are not listed."""
    if "--probe" in action.option_strings:
        return ["auto", "linear", "minilm"]
    if "--methods" in action.option_strings:
        from lops_adapters.cli.compare import KNOWN

        return list(KNOWN)
    return [str(choice) for choice in action.choices or ()]


def takes_file(action: argparse.Action) -> bool:
    """Return whether a value may be a file or folder, as an encoder is."""
    return action.type is Path or "--probe" in action.option_strings


_BASH = """_lops() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local words="" files=yes value="" lead=""
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "@commands@ --help --version" -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]}" in
@cases@
  esac
  [[ -n "$words" && "$word" == *,* ]] && lead="${word%,*},"
  COMPREPLY=($(compgen -P "$lead" -W "$words" -- "${word##*,}"))
  local IFS=$'\\n'
  if [[ -n "$files" && ${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _lops lops
"""  # IFS: names of files may have spaces


def bash() -> str:
    """Return a script for bash 3.2 and later.

    It completes words, then file names where files are possible; lists continue after a comma.
    """
    cases = []
    for command in COMMANDS:
        found = actions(command)
        options = [option for action in found for option in action.option_strings]
        values = [
            _value_of(action) for action in found if action.option_strings and action.nargs != 0
        ]
        first = [word for action in found if not action.option_strings for word in words_of(action)]
        cases += [
            f"  {command})",
            '    case "$before" in',
            *values,
            f"      {command}) words={_quoted(first)} {'files=' if first else ''} ;;",
            "    esac",
            f'    [[ -z "$value" && "$word" == -* ]] && words={_quoted(options)} ;;',
        ]
    return _BASH.replace("@commands@", " ".join(COMMANDS)).replace("@cases@", "\n".join(cases))


def _value_of(action: argparse.Action) -> str:
    """Return the case of bash where the word before is an option with a value."""
    names, files = "|".join(action.option_strings), "yes" if takes_file(action) else ""
    return f"      {names}) words={_quoted(words_of(action))} files={files} value=yes ;;"


def zsh() -> str:
    """Return a script for zsh, which runs bash's."""
    return "autoload -Uz bashcompinit && bashcompinit\n" + bash()


def fish() -> str:
    """Return a script for fish."""
    alone = f"not __fish_seen_subcommand_from {' '.join(COMMANDS)}"
    lines = [
        f"complete -c lops -f -n '{alone}' -a {name} -d {_single(text)}"
        for name, text in COMMANDS.items()
    ]
    for command in COMMANDS:
        start = f"complete -c lops -n '__fish_seen_subcommand_from {command}'"
        lines += filter(None, (_fish_line(start, action) for action in actions(command)))
    return "\n".join(lines) + "\n"


def _fish_line(start: str, action: argparse.Action) -> str:
    """Return fish's line about an argument or option; empty for an argument without choices."""
    words, options = words_of(action), action.option_strings
    known = (words or options) and action.nargs != 0
    choices = " -f" if known and not takes_file(action) else ""
    if words:
        listed = " ".join(words)
        if "--methods" in options:
            listed = f"(__fish_append , {listed})"
        choices += f" -a {_single(listed)}"
    if not options:
        return f"{start}{choices}" if choices else ""
    long = " ".join(f"-l {option[2:]}" for option in options if option.startswith("--"))
    takes = "" if action.nargs == 0 else " -r"
    said = _single((action.help or "").replace("%%", "%"))
    return f"{start} {long}{takes}{choices} -d {said}"


def _quoted(words: Iterable[object]) -> str:
    return '"' + " ".join(map(str, words)) + '"'


def _single(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
