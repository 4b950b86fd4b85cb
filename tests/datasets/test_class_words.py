"""Class names: where they come from, which are used, what is refused."""

import pickle

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset, names, published, registry
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets.class_words import load_names

TABLE = "text,label\nA goal,rec\nA cell,sci\n"
COARSE = {
    "comp": ("computer",),
    "rec": ("sports",),
    "religion": ("religion",),
    "sci": ("science",),
    "talk": ("politics",),
}


def make(**more):
    return Corpus("two", ["a", "b"], ["x", "y"], ["sci", "rec"], **more)


def test_a_class_without_a_name_is_named_by_its_label():
    assert make().names == {"rec": ("rec",), "sci": ("sci",)}
    corpus = make(names={"sci": ["science", "research"]})
    assert list(corpus.names.items()) == [("rec", ("rec",)), ("sci", ("science", "research"))]
    with pytest.raises(TypeError):
        corpus.names["rec"] = ("x",)


def test_names_survive_a_sample_and_a_pickle_and_are_no_part_of_the_checksum():
    corpus = make(names={"sci": ["science"]})
    assert Dataset(corpus).sample(1, seed=0).corpus.names == corpus.names
    assert pickle.loads(pickle.dumps(corpus)).names == corpus.names
    assert corpus.checksum == make().checksum
    assert corpus != make()


def test_names_beside_the_data_and_in_their_place(put):
    folder = put("mine", {"a.csv": TABLE, "names.json": '{"rec": "sports", "sci": ["science"]}'})
    beside = {"rec": ("sports",), "sci": ("science",)}
    assert load(folder).corpus.names == beside
    assert load(folder / "a.csv").corpus.names == beside
    assert load(folder, names={"rec": "games"}).corpus.names == {**beside, "rec": ("games",)}
    assert load(folder, names="labels").corpus.names == {"rec": ("rec",), "sci": ("sci",)}
    other = put("other", {"names.json": '\ufeff{"sci": ["research", "study"]}'}) / "names.json"
    assert load(folder, names=other).corpus.names == {**beside, "sci": ("research", "study")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read as class names"),
        (b"\xff\xfe{", "cannot be read as class names"),
        ("[]", r'these are no class names; wanted \{"class": "name", ...\}'),
        ('{"rec": []}', "these are no class names"),
        ('{"rec": 1}', "these are no class names"),
        ('{"rec": ["a", null]}', "these are no class names"),
        ('{"rec": "a", "rec": "b"}', "appear twice"),
        ('{"rac": "a"}', "names for rac, which the classes do not contain"),
    ],
)
def test_bad_files_of_names(put, content, message):
    folder = put("mine", {"a.csv": TABLE, "names.json": content})
    with pytest.raises(LopsError, match=message):
        load(folder)


def test_a_file_of_names_that_is_not_there(put):
    with pytest.raises(LopsError, match=r"no\.json: no such file of class names; wanted"):
        load(put("mine", {"a.csv": TABLE}), names="no.json")


def test_two_classes_of_nyt_are_named_as_in_x_class(put):
    files = {"dataset.txt": "a\nb\n", "classes.txt": "real_estate\nunited_states\n"}
    folder = put("nyt-topics", files)
    assert load(folder).corpus.names == {"real_estate": ("estate",), "united_states": ("america",)}
    assert load(folder, names="labels").corpus.names["real_estate"] == ("real_estate",)


def test_published_names_hold_in_every_layout(put):
    files = {
        "dataset.txt": "a\nb\n",
        "classes.txt": "rec\nsci\n",
        "names.json": '{"rec": "recreation"}',
    }
    data = put("data", {f"20news-coarse/{name}": content for name, content in files.items()})
    assert load("20news-coarse", data_dir=data).corpus.names == COARSE
    labels = load("20news-coarse", data_dir=data, names="labels").corpus.names
    assert labels == {label: (label,) for label in COARSE}


def test_the_demo_is_named_by_its_labels():
    corpus = load("demo").corpus
    assert corpus.names == {label: (label,) for label in corpus.classes}
    assert load("demo", names={"sports": ["games"]}).corpus.names["sports"] == ("games",)


def test_every_registered_name_is_of_a_class_and_of_one_class_only():
    assert set(published.NAMES) <= set(names())
    for task, own in published.NAMES.items():
        classes = registry.TASKS[task].seeds
        assert set(own) <= set(classes)
        spoken = [own.get(label, (label,)) for label in classes]
        assert len(set(spoken)) == len(spoken)
        assert all(name == name.lower() and "_" not in name for one in spoken for name in one)


@pytest.mark.parametrize("names", [["arts", "sports", "arts"], "arts, sports,arts"])
def test_names_in_a_list_differ(names):
    with pytest.raises(LopsError, match="class names must differ; found 'arts', 'sports', 'arts'"):
        load_names(names)
