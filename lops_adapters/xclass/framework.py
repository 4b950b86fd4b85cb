"""X-Class as a framework: its name, its settings, and what it needs."""

from lops_adapters.runs.framework import Framework
from lops_adapters.xclass.settings import XclassSettings


class Xclass(Framework[XclassSettings]):
    """X-Class; ``lops-all`` selects among all documents instead of the most confident half."""

    name = "xclass"
    title = "X-Class"
    summary = "X-Class with LOPS: with and without selection, side by side, from class names alone."
    examples = (
        ("", "the embedded demo corpus"),
        ("--dataset agnews --max-docs 4000", "a sample of AG News"),
        ("--dataset my_folder --arms standard,lops,lops-all", "your data, both places to select"),
    )
    settings = XclassSettings
    pipeline = "lops_adapters.xclass.pipeline"
    modules = ("torch", "transformers")
    reads_beginning = True


XCLASS = Xclass()
