"""What another policy, with or without SchedMate beside it, would have done to a trace of jobs.

`read_trace` or `synthetic`, then `columns_of`, a `Setting`, and `compare`.
"""

from schedmate.simulator.engine.outcome import PolicyComparison, SimulationOutcome, Summary
from schedmate.simulator.experiments.compare import assumptions, compare, comparison
from schedmate.simulator.experiments.plan import Plan, plan, plans
from schedmate.simulator.experiments.run import PolicyRun, average_completion_s
from schedmate.simulator.experiments.setting import Setting, fitting, gpus_for_load
from schedmate.simulator.traces import BadRow, Trace, TraceJob, from_job, read_trace, synthetic
from schedmate.simulator.traces.columns import TraceColumns, columns_of

__all__ = [
    "BadRow",
    "Plan",
    "PolicyComparison",
    "PolicyRun",
    "Setting",
    "SimulationOutcome",
    "Summary",
    "Trace",
    "TraceColumns",
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
