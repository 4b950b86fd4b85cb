"""The first lines of a text file, and the encoding that it probably has."""

import pytest

from lops_adapters.formats import lines


def test_the_first_lines_are_whole_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\nbc\ndef\n")
    assert lines.first_lines(path, "utf-8", 6) == (["a\n", "bc\n"], False)
    assert lines.first_lines(path, "utf-8", 9) == (["a\n", "bc\n", "def\n"], True)
    assert lines.first_lines(path, "latin-1", 6) == (["a\n", "bc\n"], False)


@pytest.mark.parametrize("most", [40, 41])
def test_the_first_bytes_may_end_within_a_character(tmp_path, monkeypatch, most):
    monkeypatch.setattr(lines, "_STEP", most)
    path = tmp_path / "a.csv"
    path.write_bytes(
        ("\u8fd9\u662f\u5173\u4e8e\u4f53\u80b2\u7684\u65b0\u95fb" * 9).encode("gb18030")
    )
    assert lines.likely(path) == "gb18030"
