"""The whole system on this machine in a few minutes, on real training jobs.

plan.py       which jobs, in which order, and what should become of them
stage.py      a place of its own: directories, settings, examples, the daemon
show.py       submits, watches, and notes what was known when
summary.py    predicted against real, ETA, diagnoses, FIFO against SchedMate
page.py       the same as a page to look at
"""
