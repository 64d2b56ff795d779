"""The event heap that drives core and policies over a trace. Start with `simulate`."""

from schedmate.simulator.compare import compare
from schedmate.simulator.oracle import oracle
from schedmate.simulator.result import Comparison, JobResult, Result, Summary
from schedmate.simulator.run import simulate
from schedmate.simulator.traces import BadRow, Trace, TraceJob, from_job, read_trace, synthetic

__all__ = [
    "BadRow",
    "Comparison",
    "JobResult",
    "Result",
    "Summary",
    "Trace",
    "TraceJob",
    "compare",
    "from_job",
    "oracle",
    "read_trace",
    "simulate",
    "synthetic",
]
