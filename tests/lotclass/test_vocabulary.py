"""Category vocabularies and category-indicative positions, from hand-made predictions and from a
tiny language model's.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.lotclass.documents import Occurrences, token_rows
from lops_adapters.lotclass.masked_lm import load_network
from lops_adapters.lotclass.vocabulary import (
    Indicative,
    Predictor,
    category_vocabulary,
    check_named,
    check_rows,
    indicative_positions,
    lower_thresholds,
    words_of,
)

from .toys import documents

NAMES = {"law": ["law"], "sport": ["sport"]}


@pytest.fixture
def vocabulary(tokenizer):
    """vocabulary(predictions, names, size=...) -> each class's words; predictions are (class code,
    words) an occurrence.
    """

    def make(predictions, names=NAMES, size=100, ids=None):
        found = [
            np.array(tokenizer.convert_tokens_to_ids(words.split()))[None]
            for _, words in predictions
        ]
        assert all((row != tokenizer.unk_token_id).all() for row in found)
        width = max(map(len, (row[0] for row in found)))
        assert {row.shape[1] for row in found} == {width}, "as many predictions at each occurrence"
        m = len(predictions)
        rows = [np.array([2, 5, 3], dtype=np.int32)] * m
        codes = np.array([code for code, _ in predictions])
        occurrences = Occurrences({}, rows, np.arange(m), np.ones(m, dtype=np.int64), codes)

        def best(asked, places):
            assert [place.tolist() for place in places] == [[1]] * m
            assert asked is rows
            return found if ids is None else ids

        predictor = SimpleNamespace(tokenizer=tokenizer, best=best)
        vocabularies = category_vocabulary(occurrences, names, predictor, size=size)
        return [tokenizer.convert_ids_to_tokens(tokens.tolist()) for tokens in vocabularies]

    return make


def test_the_most_frequent_first_and_ties_by_token_id(vocabulary, tokenizer):
    found = vocabulary(
        [
            (0, "judge jury trial"),
            (0, "jury trial clerk"),
            (0, "jury appeal judge"),
            (1, "match coach umpire"),
        ]
    )
    tied = sorted(["judge", "trial"], key=tokenizer.convert_tokens_to_ids)
    once = sorted(["clerk", "appeal"], key=tokenizer.convert_tokens_to_ids)
    assert found == [
        ["jury", *tied, *once],
        sorted(["match", "coach", "umpire"], key=tokenizer.convert_tokens_to_ids),
    ]


def test_what_tells_nothing_is_taken_out(vocabulary):
    """Pieces, marks, single letters, stop words, words of another class."""
    found = vocabulary(
        [
            (0, "judge . x the ##a week"),
            (0, "judge again ##b then jury jury"),
            (1, "match week coach then clerk the"),
        ]
    )
    assert sorted(found[0]) == ["judge", "jury"]
    assert sorted(found[1]) == ["clerk", "coach", "match"]


def test_the_cut_comes_first(vocabulary):
    """What is taken out leaves no room for the less frequent; and what the cut took is shared with
    nobody.
    """
    predictions = [
        (0, "the judge . jury"),
        (0, "the judge . clerk"),
        (0, "the judge . match"),
        (1, "match coach umpire score"),
    ]
    assert vocabulary(predictions, size=3)[0] == ["judge"]
    assert (
        "match" in vocabulary(predictions, size=2)[1]
        or "match" in vocabulary(predictions, size=3)[1]
    )
    assert set(vocabulary(predictions)[0]) == {"judge", "jury", "clerk"}
    assert "match" not in vocabulary(predictions)[1]


def test_own_names_are_protected(vocabulary):
    predictions = [(0, "law judge the x"), (1, "law the x match")]
    assert set(vocabulary(predictions)[0]) == {"law", "judge"}
    assert set(vocabulary(predictions)[1]) == {"match"}
    assert set(vocabulary(predictions, {"the": ["the"], "x": ["x", "match"]})[0]) == {
        "the",
        "judge",
    }
    assert set(vocabulary(predictions, {"the": ["the"], "x": ["X", "match"]})[1]) == {"x", "match"}


def test_of_names_of_several_words_those_that_tell(vocabulary):
    predictions = [(0, "law judge the x"), (1, "law the x match")]
    assert set(vocabulary(predictions, {"a": ["the-law of x"], "b": ["sport"]})[0]) == {
        "law",
        "judge",
    }


def test_a_part_of_two_names_is_in_neither_vocabulary(vocabulary):
    found = vocabulary(
        [(0, "law week judge"), (1, "sport week match")],
        {"law week": ["law week"], "sport week": ["sport_week"]},
    )
    assert [set(words) for words in found] == [{"law", "judge"}, {"sport", "match"}]


def test_a_class_of_which_nothing_is_left(vocabulary):
    found = vocabulary([(0, "judge jury"), (1, "the week"), (0, "week clerk")])
    assert found[1] == []
    with pytest.raises(LopsError, match=r"sport: 0 \(vocabulary: empty\)"):
        check_rows(rows_of(np.zeros(20, dtype=np.int64)), tuple(NAMES), found, 11, 20, "names")


def test_a_class_that_does_not_occur(vocabulary):
    assert vocabulary([(0, "judge jury")])[1] == []


def test_spare_rows_of_a_model_are_no_tokens(vocabulary, tokenizer):
    spare = np.array([[len(tokenizer) + 3, tokenizer.convert_tokens_to_ids("judge")]])
    other = np.array([[len(tokenizer) + 1, tokenizer.convert_tokens_to_ids("match")]])
    assert vocabulary([(0, "judge jury"), (1, "match coach")], ids=[spare, other]) == [
        ["judge"],
        ["match"],
    ]


def test_words_of_word_pieces(tokenizer):
    tokens = tokenizer.convert_tokens_to_ids(["law", "##a", ".", "a", "[MASK]"])
    assert words_of(np.array(tokens), tokenizer) == ["law", "##a", ".", "a", "[mask]"]
    assert words_of(np.array([], dtype=np.int64), tokenizer) == []


def test_words_of_bytes(byte_level):
    """What begins a word is the word; what goes on, and what is no text, is no word of letters."""
    pieces = ["\u0120law", "a", "\u0120b\u00c3\u00bccher", "\u0120", "\u00c3", "<mask>", "."]
    tokens = byte_level.convert_tokens_to_ids(pieces)
    assert byte_level.unk_token_id not in tokens[:3]
    found = words_of(np.array(tokens), byte_level)
    assert [found[0], found[2]] == ["law", "b\u00fccher"]
    assert not any(word.isalpha() for word in [found[1], *found[3:]])


class Table:
    """A stand-in for a predictor: what stands at a position decides what is predicted there."""

    def __init__(self, tokenizer, predictions, engine):
        self.tokenizer, self.engine = tokenizer, engine
        self.model = SimpleNamespace(config=SimpleNamespace(vocab_size=len(tokenizer)))
        self.predictions = {
            tokenizer.convert_tokens_to_ids(word): tokenizer.convert_tokens_to_ids(best.split())
            for word, best in predictions
        }

    def best(self, rows, places, lookup, classes):
        codes = lookup.tolist()
        assert set(codes) <= set(range(classes + 1))

        def count(token, code):
            return sum(codes[best] == code for best in self.predictions.get(token, []))

        return [
            np.array(
                [[count(int(row[place]), code) for code in range(classes)] for place in where],
                dtype=np.uint8,
            ).reshape(-1, classes)
            for row, where in zip(rows, places, strict=True)
        ]


@pytest.fixture
def indicative(tokenizer, engine):
    """indicative(texts, predictions, threshold, special) -> rows as (document, class, places),
    classes law and sport.
    """

    def find(texts, predictions, threshold=1, special=False):
        vocabularies = [
            np.array(tokenizer.convert_tokens_to_ids(words.split()))
            for words in ("judge jury clerk", "match coach league")
        ]
        rows = token_rows(texts, tokenizer, 40)
        found = indicative_positions(
            rows,
            vocabularies,
            Table(tokenizer, predictions, engine),
            thresholds=np.full(len(vocabularies), threshold),
            special=special,
        )
        assert len(found) == len(found.codes) == len(found.starts) - 1
        assert {
            array.dtype for array in (found.documents, found.codes, found.starts, found.places)
        } == {np.dtype(np.int64)}
        return [
            (int(found.documents[i]), int(found.codes[i]), found.of(i).tolist())
            for i in range(len(found))
        ]

    return find


PREDICTIONS = [
    ("law", "judge jury week"),
    ("trial", "judge week people"),
    ("sport", "match coach league"),
    ("week", "judge jury match coach"),
]


def test_more_than_the_threshold(indicative):
    texts = ["law trial", "sport people law law", "people", "", "trial"]
    assert indicative(texts, PREDICTIONS, 0) == [
        (0, 0, [1, 2]),
        (1, 0, [3, 4]),
        (1, 1, [1]),
        (4, 0, [1]),
    ]
    assert indicative(texts, PREDICTIONS, 1) == [(0, 0, [1]), (1, 0, [3, 4]), (1, 1, [1])]
    assert indicative(texts, PREDICTIONS, 2) == [(1, 1, [1])]
    assert indicative(texts, PREDICTIONS, 3) == []


def test_a_position_that_speaks_of_two_classes(indicative):
    assert indicative(["people week"], PREDICTIONS) == [(0, 0, [2]), (0, 1, [2])]


def test_special_tokens_never_unless_asked_for(indicative):
    predictions = [
        *PREDICTIONS,
        ("[CLS]", "judge jury week"),
        ("[SEP]", "match coach week"),
        ("[MASK]", "judge jury week"),
        ("[UNK]", "judge jury"),
    ]
    texts = ["law people", "", "people! people"]
    assert indicative(texts, predictions) == [(0, 0, [1])]
    special = [(0, 0, [0, 1]), (0, 1, [3]), (1, 0, [0]), (1, 1, [1]), (2, 0, [0, 2]), (2, 1, [4])]
    assert indicative(texts, predictions, special=True) == special


def test_no_documents(indicative):
    assert indicative([], PREDICTIONS) == []


@pytest.fixture(scope="module", params=["masked_bert", "masked_roberta"])
def predictor(request, engine):
    """predictor(tokens=..., top=...) over a tiny masked language model."""
    source = request.getfixturevalue(request.param)
    tokenizer = request.getfixturevalue(
        {"masked_bert": "tokenizer", "masked_roberta": "byte_level"}[request.param]
    )
    model, _ = load_network(source, engine)
    return lambda tokens=400, top=7: Predictor(
        model, tokenizer, engine, top=top, tokens=tokens, quiet=True
    )


def full_logits(made, row):
    import torch

    with torch.inference_mode():
        ids = torch.tensor(np.array(row)[None], dtype=torch.int64)
        return made.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0].numpy()


def asked(made, n=20):
    rows = token_rows([*documents(n)[0], "", "law"], made.tokenizer, 30)
    rng = np.random.default_rng(0)
    return rows, [np.sort(rng.permutation(len(row))[: rng.integers(0, 6)]) for row in rows]


def test_best_is_the_top_of_the_full_logits(predictor):
    made = predictor()
    rows, places = asked(made)
    found = made.best(rows, places)
    assert any(not len(where) for where in places)
    for row, where, best in zip(rows, places, found, strict=True):
        assert best.shape == (len(where), 7)
        assert best.dtype == np.int32
        wanted = np.argsort(-full_logits(made, row)[where], axis=1)[:, :7]
        assert best.tolist() == wanted.tolist()


def test_counts_are_those_of_plain_python(predictor):
    import torch

    made = predictor(top=30)
    rows, places = asked(made)
    size = made.model.config.vocab_size
    lookup = np.random.default_rng(1).integers(0, 4, size)
    found = made.best(rows, places, torch.as_tensor(lookup), 3)
    total = 0
    for row, where, counts in zip(rows, places, found, strict=True):
        assert counts.shape == (len(where), 3)
        assert counts.dtype == np.uint8
        for place, count in zip(where, counts, strict=True):
            logits = full_logits(made, row)[place].tolist()
            best = [
                token
                for _, token in sorted(zip([-logit for logit in logits], range(size), strict=True))
            ][:30]
            assert [
                sum(lookup[token] == code for token in best) for code in range(3)
            ] == count.tolist()
            total += 1
    assert total > 30


@pytest.mark.parametrize(
    ("tokens", "block", "logits"), [(1, 4096, 2048), (64, 5, 3), (10_000, 4096, 1)]
)
def test_batches_change_nothing(predictor, monkeypatch, tokens, block, logits):
    rows, places = asked(predictor())
    wanted = predictor().best(rows, places)
    monkeypatch.setattr("lops_adapters.lotclass.vocabulary._BLOCK", block)
    monkeypatch.setattr("lops_adapters.lotclass.vocabulary._LOGITS", logits)
    made = predictor(tokens)
    for found in (made.best(rows, places), made.best(rows[::-1], places[::-1])[::-1]):
        assert [best.tolist() for best in found] == [best.tolist() for best in wanted]


def test_nothing_to_predict(predictor):
    made = predictor()
    assert made.best([], []) == []
    (found,) = made.best([np.array([0, 1, 2], dtype=np.int32)], [np.zeros(0, dtype=np.int64)])
    assert found.shape == (0, 7)


def test_rare_names():
    """Documents count, not occurrences: law is twice in each of 3 documents, sport in 5."""
    where, codes = np.array([0, 0, 1, 1, 2, 2, *range(3, 8)]), np.array([0] * 6 + [1] * 5)
    occurrences = Occurrences({}, [], where, np.zeros(11, dtype=np.int64), codes)
    check_named(occurrences, NAMES, 3, "names")
    with pytest.raises(LopsError) as error:
        check_named(occurrences, {**NAMES, "fine arts": ["opera", "fine arts"]}, 5, "names")
    assert str(error.value) == (
        "too few documents hold a name of 2 of 3 classes, wanted at least 5 each; found law: 3 "
        "(law); fine arts: 0 (opera, fine arts). Give more documents, names that occur more often "
        "(--names) or seed words (seeds.json next to the data, --supervision keywords)"
    )
    with pytest.raises(LopsError, match=r"Give more documents or names that occur more often"):
        check_named(occurrences, NAMES, 5, "keywords")


def rows_of(codes, most=None):
    """Rows of one position each."""
    return Indicative(np.arange(len(codes)), codes, np.arange(len(codes) + 1), codes * 0, most)


def test_too_few_rows():
    codes = np.array([0] * 12 + [1] * 10)
    vocabularies = [["judge"], [f"w{i}" for i in range(12)], []]
    check_rows(rows_of(codes), ("law", "sport"), vocabularies[:2], 10, 20, "names")
    with pytest.raises(LopsError) as error:
        check_rows(rows_of(codes), ("law", "sport", "arts"), vocabularies, 11, 20, "names")
    assert str(error.value) == (
        "too few documents speak of 2 of 3 classes, wanted at least 11 each; found sport: 10 "
        "(vocabulary: w0, w1, w2, w3, w4, w5, w6, w7); "
        "arts: 0 (vocabulary: empty). Give more documents, names that "
        "occur more often (--names) or seed words (seeds.json next to the data, "
        "--supervision keywords)"
    )


def test_too_few_rows_name_the_option_that_works():
    """Auto lowers the threshold of sport alone, to the largest that gives it enough documents."""
    most = np.array([[30, 2], [25, 1], [3, 9], [2, 15], [22, 0], [1, 12]])
    assert lower_thresholds(most, 20, 3).tolist() == [20, 8]
    found = rows_of(np.array([0, 0, 0]), most)
    way_out = r"\. Give --supervision auto \(lowers their threshold\), more documents, names"
    with pytest.raises(LopsError, match=way_out):
        check_rows(found, ("law", "sport"), [["judge"], ["ball"]], 3, 20, "names")
    none = rows_of(np.array([0, 0, 0]), most * [1, 0])
    with pytest.raises(LopsError, match=r"\. Give more documents, names"):
        check_rows(none, ("law", "sport"), [["judge"], ["ball"]], 3, 20, "names")


def test_a_threshold_with_several_rows_per_document_is_not_named():
    most = np.array([[30, 2], [25, 12], [3, 9], [22, 15]])
    found = rows_of(np.array([0, 0, 0]), most)
    with pytest.raises(LopsError, match=r"vocabulary: ball\)\. Give more documents, names"):
        check_rows(found, ["law", "sport"], [["judge"], ["ball"]], 3, 20, "names")
