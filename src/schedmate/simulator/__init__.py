"""What another policy, with or without SchedMate beside it, would have done to a trace of jobs.

`read_trace` or `synthetic`, then `columns_of`, a `Setting`, and `compare`.
"""

from schedmate.simulator.columns import Columns, columns_of
from schedmate.simulator.compare import assumptions, compare, comparison
from schedmate.simulator.outcome import Outcome
from schedmate.simulator.plan import Plan, plan, plans
from schedmate.simulator.replay import average_completion_s
from schedmate.simulator.result import Comparison, Summary
from schedmate.simulator.run import PolicyRun
from schedmate.simulator.setting import Setting, fitting, gpus_for_load
from schedmate.simulator.traces import BadRow, Trace, TraceJob, from_job, read_trace, synthetic

__all__ = [
    "BadRow",
    "Columns",
    "Comparison",
    "Outcome",
    "Plan",
    "PolicyRun",
    "Setting",
    "Summary",
    "Trace",
    "TraceJob",
    "assumptions",
    "average_completion_s",
    "columns_of",
    "compare",
    "comparison",
    "fitting",
    "from_job",
    "gpus_for_load",
    "plan",
    "plans",
    "read_trace",
    "synthetic",
]
