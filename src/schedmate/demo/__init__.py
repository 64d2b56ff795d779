"""The whole system on this machine in a minute or two, on real training jobs.

plan.py       which jobs, in which order, and what should become of them
stage.py      a place of its own: directories, settings, examples
keeper.py     keeps the daemon running, and leaves nothing behind
alone.py      a verb without the site's settings
show.py       submits, watches, and notes what was known when
summary.py    predicted against real, ETA, diagnoses, FIFO against SchedMate
page.py       the same as a page to look at
"""
