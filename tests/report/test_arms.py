"""The table that a run ends with."""

from lops_adapters.report.framework_page import arm_table

ROW = {
    "iteration": 0,
    "pseudo_labels": 10,
    "noise": 0.25,
    "selected": 5,
    "selected_noise": 0.0,
    "micro_f1": 0.987,
    "macro_f1": 1.0,
    "seconds": 1.6,
}
UNKNOWN = {
    **ROW,
    "iteration": 1,
    "noise": None,
    "selected_noise": None,
    "micro_f1": None,
    "macro_f1": None,
}


def test_the_table_of_a_run():
    text = arm_table(
        {"arms": {"standard": {"iterations": [ROW]}, "lops": {"iterations": [ROW, UNKNOWN]}}}
    )
    lines = text.split("\n")
    assert lines[0].split("  ")[0] == "arm"
    assert lines[2].split()[:2] == ["lops", "0"]
    assert " ".join(lines[1].split()) == "standard 0 10 25.0 % 5 0.0 % 98.7 % 100.0 % 2"
    assert " ".join(lines[3].split()) == "lops 1 10 - 5 - - - 2"
    assert len({len(line) for line in lines}) == 1
    assert text == "\n".join(line.rstrip() for line in lines)
