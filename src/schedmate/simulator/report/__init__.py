"""A report in HTML: `digest` makes runs small, `write_report` draws them."""

from schedmate.simulator.report.digest import Digest, Ran, digest
from schedmate.simulator.report.page import report_html, write_report
from schedmate.simulator.report.sensitivity import Sensitivity, sensitivities

__all__ = [
    "Digest",
    "Ran",
    "Sensitivity",
    "digest",
    "report_html",
    "sensitivities",
    "write_report",
]
