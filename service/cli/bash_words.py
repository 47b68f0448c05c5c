"""Undo bash's word splitting, which also splits at `:` and `=`, so that a URL arrives in five pieces."""

import os

_CUTS = (":", "=")


def rejoin() -> None:
    """Rejoin the words of the command line that bash completes, if it does.

    COMP_WORDS holds them on lines, COMP_CWORD the index of the word under the cursor: the variables of the
    shell's protocol, which Typer reads as well.
    """
    if os.environ.get("_XETUNE_COMPLETE") != "complete_bash":
        return
    words, at = rejoined(os.environ.get("COMP_WORDS", "").split("\n"), int(os.environ.get("COMP_CWORD") or 0))
    os.environ.update(COMP_WORDS="\n".join(words), COMP_CWORD=str(at))


def rejoined(words: list[str], at: int) -> tuple[list[str], int]:
    """Return the words as typed, and the index of the one that contains word `at`."""
    whole: list[str] = []
    place, glue = 0, False
    for number, word in enumerate(words):
        if whole and (glue or word in _CUTS):
            whole[-1] += word
        else:
            whole.append(word)
        glue = word in _CUTS
        if number == at:
            place = len(whole) - 1
    return whole, place if at < len(words) else len(whole)
