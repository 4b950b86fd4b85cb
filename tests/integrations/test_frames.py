import numpy as np
import pytest

from lops_adapters import select
from lops_adapters.core import LopsError
from lops_adapters.integrations.frames import COLUMNS, select_frame
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build

from ..probes.toys import topic_texts

pandas = pytest.importorskip("pandas", reason="the tables are pandas'")

TEXTS, CODES = topic_texts(90, seed=0)
NOISY = CODES.copy()
NOISY[::7] = (CODES[::7] + 1) % 3
NAMES = [["sun", "ice", "fog"][code] for code in NOISY]
INDEX = [f"row{i % 80}" for i in range(90)]  # some twice
SELECTION = build("ranked", LinearProbe(), keep=0.6)(TEXTS, NAMES)
CHOICE = {"method": "ranked", "keep": 0.6}


def table():
    frame = pandas.DataFrame({"review": TEXTS, "made": NAMES, "note": range(90)}, index=INDEX)
    frame["made"] = frame["made"].astype("category")
    return frame


def data_set(**columns):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["sun", "ice", "fog"]),
        }
    )
    return datasets.Dataset.from_dict(
        {"text": TEXTS, "label": NOISY.tolist(), **columns}, features=features
    )


def test_a_data_frame_is_marked():
    frame = table()
    marked = select_frame(frame, "review", "made", **CHOICE)
    assert marked.columns.tolist() == ["review", "made", "note", *COLUMNS]
    assert marked.index.tolist() == INDEX
    assert marked.dtypes.tolist()[:3] == frame.dtypes.tolist()
    assert marked.lops_selected.dtype == bool
    assert np.flatnonzero(marked.lops_selected).tolist() == SELECTION.kept.tolist()
    np.testing.assert_array_equal(marked.lops_confidence, SELECTION.confidence)
    never = np.isinf(SELECTION.learnt_at)
    assert never.any()
    np.testing.assert_array_equal(marked.lops_learnt_at.isna(), never)
    np.testing.assert_array_equal(marked.lops_learnt_at[~never], SELECTION.learnt_at[~never])
    pandas.testing.assert_frame_equal(frame, table())


def test_kept_rows_of_a_data_frame():
    kept = select_frame(table(), "review", "made", kept_only=True, **CHOICE)
    assert kept.note.tolist() == SELECTION.kept.tolist()
    assert kept.index.tolist() == [INDEX[i] for i in SELECTION.kept]
    assert kept.lops_selected.all()


@pytest.mark.parametrize("kept_only", [False, True])
def test_a_polars_frame_is_marked(kept_only):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"review": TEXTS, "made": [*NAMES[:-1], None]})
    marked = select_frame(frame, "review", "made", kept_only=kept_only)
    expected = select(TEXTS, [*NAMES[:-1], None])
    rows = expected.kept.tolist() if kept_only else list(range(90))
    assert type(marked) is type(frame)
    assert marked.columns == ["review", "made", *COLUMNS[1:]]
    assert marked["review"].to_list() == [TEXTS[i] for i in rows]
    assert marked["lops_selected"].to_list() == expected.mask[rows].tolist()
    assert marked["lops_suggested"].to_list() == expected.suggested[rows].tolist()
    if not kept_only:
        assert marked["lops_confidence"].to_list()[-1] is None
    assert frame.columns == ["review", "made"]


def test_a_data_set_is_marked():
    data = data_set()
    marked = select_frame(data, **CHOICE)
    by_codes = build(probe=LinearProbe(), **CHOICE)(TEXTS, NOISY.tolist())
    assert type(marked) is type(data)
    assert marked.column_names == ["text", "label", *COLUMNS]
    assert marked.features["label"] == data.features["label"]
    assert [marked.features[name].dtype for name in COLUMNS] == [
        "float64",
        "float64",
        "bool",
        "int64",
    ]
    assert np.flatnonzero(marked["lops_selected"]).tolist() == by_codes.kept.tolist()
    assert [value is None for value in marked["lops_learnt_at"]] == np.isinf(
        by_codes.learnt_at
    ).tolist()
    assert data.column_names == ["text", "label"]
    assert marked.features["lops_suggested"] == data.features["label"]


@pytest.mark.parametrize("columns", [None, ["label"]])
def test_a_data_set_keeps_its_format_and_its_own_selection_of_rows(columns):
    data = data_set().select(range(89, -1, -1)).with_format("numpy", columns=columns)
    kept = select_frame(data, kept_only=True, **CHOICE)
    by_codes = build(probe=LinearProbe(), **CHOICE)(TEXTS[::-1], NOISY[::-1].tolist()).kept
    assert kept.format["type"] == "numpy"
    assert isinstance(kept[:]["label"], np.ndarray)
    assert kept[:]["label"].tolist() == NOISY[::-1][by_codes].tolist()
    assert list(kept[0]) == (["label"] if columns else ["text", "label", *COLUMNS])


def with_hole(column, value):
    frame = table().astype(object)
    frame.loc["row5", column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            lambda: {"review": TEXTS, "made": NAMES},
            "frame is a dict; wanted a pandas or polars DataFrame or a datasets.Dataset",
        ),
        (lambda: table().drop(columns="made"), "column 'made' is not among review, note"),
        (lambda: pandas.concat([table(), table()["made"]], axis=1), "column 'made' is twice"),
        (lambda: table().assign(lops_selected=True), "column 'lops_selected' already"),
        (lambda: with_hole("review", 7), "at positions 5, 85 .the first is 7"),
        (lambda: table().iloc[:0], "the table has no rows"),
    ],
)
def test_unsuitable_tables_are_refused(frame, message):
    with pytest.raises(LopsError, match=message):
        select_frame(frame(), "review", "made")


def test_unsuitable_data_sets_are_refused():
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    with pytest.raises(LopsError, match=r"is a DatasetDict; wanted .* pass one split"):
        select_frame(datasets.DatasetDict(train=data_set()))


@pytest.mark.parametrize("missing", [None, np.nan, pandas.NA])
@pytest.mark.parametrize("choice", [CHOICE, {"encoder": None}])
def test_rows_without_a_label_are_neither_kept_nor_measured(missing, choice):
    marked = select_frame(with_hole("made", missing), "review", "made", **choice)
    holes = np.flatnonzero([name == "row5" for name in INDEX])
    assert len(holes) == 2
    assert marked.lops_confidence.isna().to_numpy().nonzero()[0].tolist() == holes.tolist()
    assert not marked.lops_selected.to_numpy()[holes].any()
    missing_too = holes.tolist() if choice is CHOICE else []  # the committee labels these rows
    assert marked.lops_suggested.isna().to_numpy().nonzero()[0].tolist() == missing_too
    codes = NOISY.tolist()
    codes[5] = codes[85] = -1  # none, as a ClassLabel
    data = select_frame(data_set(label=codes), **choice).to_pandas()
    assert data.lops_selected.tolist() == marked.lops_selected.tolist()
    assert data.lops_suggested.isna().sum() == len(missing_too)


def test_lists_of_one_class_id():
    """They are read by name, as in files; the suggestion is a class."""
    data = data_set()
    datasets = pytest.importorskip("datasets")
    lists = [[code] for code in NOISY.tolist()]
    features = {**data.features, "label": datasets.List(data.features["label"])}
    listed = datasets.Dataset.from_dict(
        {"text": TEXTS, "label": [[], *lists[1:]]}, features=datasets.Features(features)
    )
    marked = select_frame(listed, **CHOICE)
    assert marked["label"][:] == [[], *lists[1:]]
    assert marked.features["lops_suggested"] == data.features["label"]
    plain = select_frame(data_set(label=[-1, *NOISY.tolist()[1:]]), **CHOICE)
    assert marked["lops_suggested"][:] == plain["lops_suggested"][:]


@pytest.mark.parametrize("kind", ["category", "string", "Int64", "int64", "float64"])
def test_suggestions_are_of_the_type_of_the_labels(kind):
    labels = NAMES if kind in ("category", "string") else NOISY
    frame = pandas.DataFrame({"text": TEXTS, "label": pandas.Series(labels, dtype=kind)})
    marked = select_frame(frame, **CHOICE)
    assert marked.lops_suggested.dtype == frame.label.dtype
    if kind in ("category", "string", "Int64"):
        frame.loc[3, "label"] = pandas.NA
        marked = select_frame(frame, **CHOICE)
        assert marked.lops_suggested.dtype == frame.label.dtype
        assert marked.lops_suggested.isna().sum() == 1


def test_suggestions_of_polars_are_of_the_type_of_the_labels():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    kind = polars.Enum(sorted(set(NAMES)))
    frame = polars.DataFrame({"text": TEXTS, "label": polars.Series(NAMES, dtype=kind)})
    assert select_frame(frame, **CHOICE).schema["lops_suggested"] == kind


def test_columns_named_by_tuples():
    frame = pandas.DataFrame({("a", "text"): TEXTS, ("a", "label"): NAMES})
    marked = select_frame(frame, ("a", "text"), ("a", "label"), **CHOICE)  # without a warning
    assert marked.columns.tolist() == [*frame.columns, *((name, "") for name in COLUMNS)]
    assert frame.columns.nlevels == 2
    with pytest.raises(LopsError, match="a column 'lops_learnt_at' already"):
        select_frame(marked, ("a", "text"), ("a", "label"), **CHOICE)


def test_the_default_is_a_committee():
    marked = select_frame(table(), "review", "made", encoder=None, sure=0.9)
    found = select(TEXTS, NAMES, encoder=None, sure=0.9)
    np.testing.assert_array_equal(marked.lops_selected, found.mask)
    np.testing.assert_array_equal(marked.lops_confidence, found.confidence)
    assert marked.lops_suggested.tolist() == found.suggested.tolist()
    assert "lops_learnt_at" not in marked.columns  # the committee has no learning times
    automatic = select_frame(table(), "review", "made", method="automatic")
    expected = build("automatic", LinearProbe())(TEXTS, NAMES)
    np.testing.assert_array_equal(automatic.lops_selected, expected.mask)
