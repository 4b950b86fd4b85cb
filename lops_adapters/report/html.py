"""Another name of :mod:`lops_adapters.report.framework_page`."""

from lops_adapters.report.framework_page import write_report

__all__ = ["write_report"]
