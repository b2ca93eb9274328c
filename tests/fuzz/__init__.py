"""A fuzz run: bad files, bad arrays and extreme numbers against every way into the library.

`python -m tests.fuzz --minutes 60` runs it. Every call must either work, with a valid answer, or raise an
error that is documented; a child process that crashes, hangs or runs out of memory is a finding as well.

A target is a function of one `Case`, registered with `@target("name")` in a module of this folder. All that
it draws comes from `case.rng`, so that a target, a seed and a number say what a case is.
"""
