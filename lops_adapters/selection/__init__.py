"""Selection: a probe, watched by a confidence, cut by a rule. What comes back are positions."""

from lops_adapters.selection.building import build
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import MEMBERS, MemberFactory, register_member
from lops_adapters.selection.method_table import METHODS, Method, register_method
from lops_adapters.selection.methods.baselines import keep_all
from lops_adapters.selection.methods.confidences import CONFIDENCES, Confidence, score
from lops_adapters.selection.methods.function import FunctionSelector
from lops_adapters.selection.methods.lops import Lops
from lops_adapters.selection.selectors import Corrected, Selector, corrected, trusted_positions
from lops_adapters.selection.suggestions import Suggestions

__all__ = [
    "CONFIDENCES",
    "MEMBERS",
    "METHODS",
    "Confidence",
    "Corrected",
    "FunctionSelector",
    "Lops",
    "Member",
    "MemberFactory",
    "Method",
    "Selector",
    "Suggestions",
    "build",
    "corrected",
    "keep_all",
    "register_member",
    "register_method",
    "score",
    "trusted_positions",
]
