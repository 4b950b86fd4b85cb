"""The conformance suite's table: one row per framework, and the toy that nobody ships."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import pytest

from lops_adapters.runs.framework import FRAMEWORKS, named

from ..conwea import toys as conwea
from ..framework_tools import save_topic_bert, short_training, write_folder
from ..lotclass import toys as lotclass
from ..self_training import toys as self_training
from ..westclass import toys as westclass
from ..xclass import toys as xclass

TOY = {"toy": EntryPoint("toy", f"{__package__}.toy:TOY", "lops_adapters.frameworks")}
NO_MODEL = "no/such/model"
ENCODER = "lops_adapters.encoders.context_encoder:ContextEncoder"
BLOCK = "lops_adapters.encoders.context_encoder._BLOCK"
HAN = "lops_adapters.probes.han:HanProbe"
LINEAR = "lops_adapters.probes.linear:LinearProbe"
KERAS = "lops_adapters.probes.keras_probe:KerasProbe"
LOTCLASS = "lops_adapters.lotclass.probe:LotclassProbe"
TRANSFORMER = "lops_adapters.probes.transformer:TransformerProbe"
MODELS = ("accelerate", "torch._dynamo", "transformers.models.bert.modeling_bert")


class Kill(NamedTuple):
    """A death: in a stage ("": before the first), at the n-th call of a function.

    Of a function that returns a generator or another function, what is counted are its items or
    the calls of the other. ``fresh``: with an empty user's cache.
    """

    stage: str
    function: str
    calls: int
    fresh: bool = False


@dataclass(frozen=True)
class Case:
    """What the suite has to be told of a framework.

    Attributes:
        name: of the framework.
        toys: module with ``documents(n)``, ``CLASSES`` and the quick preset ``SMALL``.
        write: writes texts and labels (or None) into a folder.
        kills: where the process dies; each resumed run goes on to the next.
        work: functions called neither by a refused command nor by a finished run that is resumed.
        other: options whose settings are found in the data, of another run -> what the refusal
            names.
        unknown_encoders: options that name an encoder that does not exist.
        sizes: the quick preset of the suite; default: ``toys.SMALL``.
        arms: of the whole run.
        added: arms per call, where arms are added one call after the other.
        tables: files at the top of the run folder besides those that all frameworks write.
        arm_tables: files in an arm's folder besides those that all write; "*" is the iteration.
        iterations: of an arm.
        probe_epochs: of the arm ``lops``.
        alike: arms whose network labels the toy as the Standard arm's does; so the classifier that
            is trained on these labels may be the same.
        options: of every command.
        encoder: writes a tiny encoder into a folder and returns the path for ``--encoder``.
        documents: of the corpus, and of a sample that is just enough.
        atol: between stored probabilities and those of the loaded model.
        patches: sizes inside the package that are too large for a toy.
        files: the source; default: all files of the package.
        keep_all: functions of the source that keep everything without a selector.
        selects: uses of a selector per function of the source.
        libraries: what the command imports on its way, in seconds; see ``load_libraries``.

    """

    name: str
    toys: ModuleType
    write: Callable[..., Path]
    kills: tuple[Kill, ...]
    work: tuple[str, ...]
    other: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    unknown_encoders: tuple[str, ...] = (f"--encoder {NO_MODEL}",)
    sizes: Mapping[str, Any] | None = None
    arms: tuple[str, ...] = ("standard", "lops")
    added: tuple[str, ...] = ("lops", "standard")
    tables: tuple[str, ...] = ()
    arm_tables: tuple[str, ...] = ()
    iterations: int = 1
    probe_epochs: int = 4
    alike: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    encoder: Callable[[Path], str] | None = None
    documents: tuple[int, int] = (90, 30)
    atol: float = 1e-5
    patches: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    keep_all: Mapping[str, int] = field(default_factory=dict)
    selects: Mapping[str, int] = field(default_factory=lambda: {"run_arm": 1})
    libraries: tuple[str, ...] = ()

    @property
    def blind(self) -> list[str]:
        """The arms that get no gold labels."""
        return [arm for arm in self.arms if arm != "optimal"]

    def load_libraries(self):
        """Import what the command would, so that forks of this process need not."""
        for name in self.libraries:
            import_module(name)

    @contextmanager
    def small(self):
        """The quick preset is small, and the framework registered, while this context lasts."""
        with ExitStack() as stack:
            stack.enter_context(mock.patch.dict(FRAMEWORKS, TOY))
            presets = named(self.name).settings.PRESETS
            stack.enter_context(mock.patch.dict(presets, quick=self.sizes or self.toys.SMALL))
            stack.enter_context(short_training())
            for place, value in self.patches.items():
                stack.enter_context(mock.patch(place, value))
            yield

    def forbid_work(self, monkeypatch, allowed: str = ""):
        """Fail the test where a function of long work is called, except one."""
        for function in set(self.work) - {allowed}:
            path = function.replace(":", ".")
            monkeypatch.setattr(path, lambda *_, **__: pytest.fail("long work before the error"))


def _seeded(toys: ModuleType) -> Callable[..., Path]:
    return partial(write_folder, seeds=toys.SEEDS)


CASES = {
    row.name: row
    for row in (
        Case(
            "conwea",
            conwea,
            _seeded(conwea),
            kills=(
                Kill("senses", f"{ENCODER}.encode", 3),
                Kill("standard-1-classifier", f"{HAN}.updates", 3),
                Kill("lops-0-selection", f"{HAN}.updates", 3),
            ),
            work=(f"{ENCODER}.encode", f"{HAN}.updates", f"{HAN}.predict_prepared"),
            arm_tables=("pseudo_labels-*.csv", "seeds.json"),
            iterations=2,
            probe_epochs=5,
            options=("--iterations", "2"),
            encoder=conwea.save_word_piece_bert,
            documents=(72, 30),
            atol=1e-3,
            patches={BLOCK: 40},
            libraries=(*MODELS, "gensim.models", "nltk", "sklearn.cluster"),
        ),
        Case(
            "lotclass",
            lotclass,
            _seeded(lotclass),
            kills=(
                Kill("", "lops_adapters.lotclass.masked_lm:Masker.mask", 41),
                Kill("rows", "lops_adapters.lotclass.vocabulary:Predictor._batch", 2),
                Kill("standard-category", f"{LOTCLASS}.updates", 3),
                Kill("lops-selection", f"{LOTCLASS}.updates", 3),
                Kill("lops-refresh-self-training", f"{LOTCLASS}.tuner", 2),
                Kill("lops-documents-selection-documents", f"{LINEAR}.updates", 2),
                Kill("lops-documents-round-1", f"{LINEAR}.updates", 3),
            ),
            work=(
                "lops_adapters.lotclass.masked_lm:_train",
                "lops_adapters.lotclass.vocabulary:Predictor.best",
                f"{LOTCLASS}.updates",
                f"{LOTCLASS}.predict_prepared",
                f"{LINEAR}.updates",
            ),
            sizes={**lotclass.SMALL, "classifier": "linear"},
            arms=("standard", "lops", "lops-refresh", "lops-documents"),
            added=("lops-documents", "lops-refresh", "standard", "lops"),
            tables=("category_vocabulary.json",),
            arm_tables=("selection-documents.csv",),
            alike=("lops", "lops-refresh"),
            probe_epochs=3,
            encoder=lotclass.save_encoder,
            documents=(90, 90),
            selects={"run_arm": 2, "select": 1, "self_train": 1},
            libraries=MODELS,
        ),
        Case(
            "self_training",
            self_training,
            _seeded(self_training),
            kills=(
                Kill("standard-0-classifier", f"{LINEAR}.updates", 3),
                Kill("lops-1-selection", f"{LINEAR}.updates", 3),
                Kill("lops-2-classifier", f"{LINEAR}.updates", 3),
                Kill("random-1-classifier", f"{LINEAR}.updates", 3),
            ),
            work=(
                "lops_adapters.self_training.pipeline:string_match",
                f"{LINEAR}.updates",
                f"{LINEAR}.predict_prepared",
            ),
            other={("--arms", "random"): "settings.n_from = 'lops', not 'keep'"},
            unknown_encoders=(f"--classifier {NO_MODEL}",),
            arms=("standard", "lops", "random", "optimal"),
            added=("optimal", "lops", "lops,random", "standard"),
            arm_tables=("bootstrapped-*.csv",),
            iterations=3,
            keep_all={"_keep_all_of_too_few": 1},
            selects={"_iterate": 1},
        ),
        Case(
            "westclass",
            westclass,
            _seeded(westclass),
            kills=(
                Kill("lops-selection", f"{KERAS}.updates", 3),
                Kill("lops-pretraining", f"{KERAS}.updates", 3),
                Kill("lops-self-training", f"{KERAS}.tuner", 3),
                Kill("lops-documents-selection-documents", f"{LINEAR}.updates", 2),
                Kill("lops-documents-round-1", f"{LINEAR}.updates", 3),
            ),
            work=(
                "lops_adapters.westclass.pipeline:train_word_vectors",
                "lops_adapters.westclass.pipeline:generate",
                f"{KERAS}.updates",
                f"{KERAS}.predict_prepared",
                f"{KERAS}.tuner",
                f"{LINEAR}.updates",
            ),
            other={
                ("--supervision", "names"): "settings.supervision = 'keywords', not 'names'",
                ("--labelled-per-class", "2"): "supervision = 'keywords', not 'documents'",
            },
            unknown_encoders=(
                f"--probe transformer --encoder {NO_MODEL}",
                f"--classifier hybrid --encoder {NO_MODEL}",
            ),
            sizes={**westclass.SMALL, "classifier": "linear"},
            arms=("standard", "lops", "lops-documents"),
            added=("lops-documents", "standard", "lops"),
            tables=("pseudo_documents.csv", "topics.json"),
            arm_tables=("selection-documents.csv",),
            probe_epochs=8,
            documents=(72, 60),
            libraries=("gensim.models", "lops_adapters.integrations.keras"),  # with its backend
        ),
        Case(
            "xclass",
            xclass,
            xclass.write_folder,
            kills=(
                Kill("representation", f"{ENCODER}.encode", 3, fresh=True),
                Kill("standard-classifier", f"{TRANSFORMER}.updates", 3, fresh=True),
                Kill("lops-all-classifier", f"{TRANSFORMER}.updates", 3),
            ),
            work=(
                f"{ENCODER}.encode",
                "lops_adapters.xclass.pipeline:align",
                f"{TRANSFORMER}.updates",
                f"{TRANSFORMER}.predict_prepared",
            ),
            unknown_encoders=(
                f"--encoder {NO_MODEL}",
                f"--classifier {NO_MODEL}",
                f"--classifier {NO_MODEL} --probe linear",
            ),
            arms=("standard", "lops", "lops-all"),
            added=("lops-all", "standard", "lops"),
            arm_tables=("pseudo_labels-*.csv",),
            encoder=partial(save_topic_bert, topics=xclass.TOPICS),
            patches={BLOCK: 30},
            libraries=MODELS,
        ),
        Case(
            "toy",
            self_training,
            _seeded(self_training),
            kills=(
                Kill("standard-classifier", f"{LINEAR}.updates", 3),
                Kill("lops-selection", f"{LINEAR}.updates", 3),
            ),
            work=(f"{LINEAR}.updates", f"{LINEAR}.predict_prepared"),
            unknown_encoders=(),
            sizes={"epochs": 3},
            probe_epochs=3,
            files=("toy.py",),
        ),
    )
}
