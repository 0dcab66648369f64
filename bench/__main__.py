"""`python -m bench load`: load on a running service (`bench/service/load/command.py`); the suite is `pytest bench`."""

from __future__ import annotations

import sys

from bench.service.load import command as load

if __name__ == "__main__":
    if sys.argv[1:2] != ["load"]:
        sys.exit("python -m bench load [...]; the suite is run by `make bench` or `pytest bench`")
    sys.exit(load.main(sys.argv[2:]))
