from lops_adapters.conwea.seeds import MIN_DOCUMENTS
from lops_adapters.conwea.settings import ConweaSettings

from ..framework_checks import assert_has


def test_presets_are_the_published_sizes_and_smaller_ones():
    paper, quick = ConweaSettings.preset("paper"), ConweaSettings.preset("quick")
    assert (paper.encoder, paper.layers, paper.max_pieces) == ("bert-base-uncased", 4, 512)
    assert (paper.batch_size, paper.epochs, paper.patience) == (256, 100, 3)
    assert_has(paper, iterations=6, max_sentences=15, max_words=100, vector_size=100)
    assert (paper.min_epochs, quick.min_epochs) == (None, 10)
    assert (paper.min_per_sense, quick.min_per_sense) == (None, MIN_DOCUMENTS)
    assert (paper.method, paper.keep, paper.every) == ("released", 0.5, "epoch")
    assert (quick.method, quick.keep, quick.every) == ("algorithm1", 0.5, "epoch")
    assert quick.iterations == paper.iterations
    assert quick.encoder == "minilm"
    assert (quick.classifier, paper.classifier) == ("hybrid", "han")


def test_faithful_concatenates_layers_and_repeats_nothing():
    settings = ConweaSettings.preset("paper", faithful=True)
    assert (settings.combine, settings.vector_words, settings.faithful) == ("concat", 1, True)
    quick = ConweaSettings.preset("quick", faithful=True)
    assert (quick.min_epochs, quick.min_per_sense, quick.classifier) == (None, None, "han")
