"""Selection: a method and a choice, from labelled samples to an outcome."""

from lops_adapters.selection.building import build, decide
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import MEMBERS, MemberFactory, register_member
from lops_adapters.selection.method import Assessor, Method, option
from lops_adapters.selection.method_table import METHODS, register_method
from lops_adapters.selection.methods.baselines import keep_all
from lops_adapters.selection.methods.confidences import CONFIDENCES, Confidence, score
from lops_adapters.selection.methods.function import FunctionMethod, FunctionSelector
from lops_adapters.selection.methods.lops import Lops
from lops_adapters.selection.methods.ranked import keep_best
from lops_adapters.selection.outcome import Outcome
from lops_adapters.selection.selectors import Corrected, Selector, corrected, trusted_positions

__all__ = [
    "CONFIDENCES",
    "MEMBERS",
    "METHODS",
    "Assessor",
    "Choice",
    "Confidence",
    "Corrected",
    "FunctionMethod",
    "FunctionSelector",
    "Lops",
    "Member",
    "MemberFactory",
    "Method",
    "Outcome",
    "Selector",
    "build",
    "corrected",
    "decide",
    "keep_all",
    "keep_best",
    "option",
    "register_member",
    "register_method",
    "score",
    "trusted_positions",
]
