"""Work in child processes with limits of memory and time.

In: the name of a work and its arguments, as a pickle that only our own code writes. Out: plain MessagePack, decoded
by the type that the work states. Nothing that a child says is run. Whatever goes wrong there cannot take the caller
down.

`table` has a row for each kind of work, and `run` starts a child and asks it. `kept` forks children from one that is
loaded. `child` is the program that they run, behind the walls of `sandbox`. `wire` is what is said to them.

Landlock lets a child read its program and its input, and write one folder. A seccomp filter refuses sockets,
programs, signals and tracing. On a kernel without these a child has its limits alone. A child that SIGKILL ends from
outside raises `ChildKilled`, an `OSError`: the work is tried again, and no file is called damaged for it.
"""
