"""`python -m bench.report RUN ...`: tables and pictures of runs of the suite.

RUN is a file of `--benchmark-json`, or a folder of such as pytest-benchmark's storage. The tables are those of the last
run, the trend goes over all. They go into a folder of their own (`--out`). With `--publish` the files are parts of one
run, which is kept beside the code (`bench/runs`: medians, no samples), and README and guide are written anew.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from bench.report.pages import apart, published
from bench.report.runs import KEPT, NoRunError, keep, read, together


def main() -> int:
    """Write what was asked for; 0, or 2 where a file is no run of the suite."""
    parser = ArgumentParser(prog="python -m bench.report", description="Tables and pictures of runs of the suite.")
    parser.add_argument(
        "runs", nargs="*", type=Path, metavar="RUN", help="files of --benchmark-json, or folders of them"
    )
    parser.add_argument("--out", type=Path, default=Path("build") / "speed", help="the folder to write into")
    parser.add_argument("--publish", action="store_true", help="keep them as one run and rewrite README and guide")
    args = parser.parse_args()
    try:
        if args.publish and args.runs:
            keep(together(read(args.runs)))
        files = published(read([KEPT])) if args.publish else apart(read(args.runs))
    except NoRunError as error:
        print(f"bench.report: {error}", file=sys.stderr)
        return 2
    for path, text in files.items():
        target = path if args.publish else args.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
