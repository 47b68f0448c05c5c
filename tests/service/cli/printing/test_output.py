"""Control characters in texts of others do not reach the terminal."""

import io

import pytest

from service.cli import main
from service.cli.printing.output import CONSOLE, print_line, text_table

TITLE, CLEAR, REVERSED, C1 = "\x1b]0;owned\x07", "\x1b[2J", "\u202e", "\x9b2J"


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What commands print."""
    output = io.StringIO()
    monkeypatch.setattr(CONSOLE, "_file", output)
    return output


def test_names_in_tables_and_lines_keep_no_escape_sequences(printed: io.StringIO) -> None:
    table = text_table("device", title=f"t{CLEAR}")
    table.add_row(f"gpu {TITLE}{CLEAR}{REVERSED}{C1} end")
    CONSOLE.print(table)
    print_line(f"label {TITLE}\r and more")
    text = printed.getvalue()
    assert not set("\x1b\x07\r\x9b\u202e") & set(text)
    assert "\N{REPLACEMENT CHARACTER}]0;owned" in text
    assert "end" in text


def test_a_spaced_table_has_empty_lines_between_its_rows_alone(printed: io.StringIO) -> None:
    table = text_table("a", "b", spaced=True)
    table.add_row("1", "2\n3")
    table.add_row("4", "5")
    CONSOLE.print(table)
    lines = printed.getvalue().splitlines()
    assert [line.split() for line in lines] == [[], ["a", "b"], ["─" * 5], ["1", "2"], ["3"], [], ["4", "5"], []]


def test_colours_of_our_own_stay(printed: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CONSOLE, "_force_terminal", True)
    monkeypatch.setattr(CONSOLE, "_color_system", 1)
    CONSOLE.print("some", style="bold red")
    assert printed.getvalue().startswith("\x1b[1;31msome")


def test_errors_keep_no_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main._end(f"line 2: kernel {CLEAR} is not known\nand more")
    assert capsys.readouterr().err == "error: line 2: kernel \N{REPLACEMENT CHARACTER}[2J is not known\nand more\n"


def test_a_title_is_one_line_above_a_narrower_table(printed: io.StringIO) -> None:
    table = text_table("a", title="longer than all rows")
    table.add_row("1")
    CONSOLE.print(table)
    assert printed.getvalue().splitlines()[0] == "longer than all rows"
