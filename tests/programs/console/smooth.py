"""Whether a page scrolls without a long task, by the browser's own measure."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from playwright.sync_api import Page

LONG_MS: Final = 50.0
RUNS: Final = 5
_CATEGORIES: Final = ["toplevel", "disabled-by-default-toplevel"]
WHOLE: Final = ((0, 0),) * RUNS
_SCROLL: Final = """async ([selector, from, to]) => {
  const box = selector ? document.querySelector(selector) : document.scrollingElement;
  const tasks = [];
  const watcher = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  watcher.observe({ type: "longtask" });
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const end = to || box.scrollHeight;
  const step = Math.max(240, (end - from) / 80);
  box.scrollTop = from;
  while (box.scrollTop + box.clientHeight < end - 1) { box.scrollTop += step; await frame(); }
  await new Promise((done) => setTimeout(done, 100));
  tasks.push(...watcher.takeRecords().map(({ duration }) => duration));
  watcher.disconnect();
  return Math.max(0, ...tasks);
}"""


def check_smooth(page: Page, what: str, selector: str = "", ways: Sequence[tuple[int, int]] = WHOLE) -> None:
    """Scroll the page, or a box of it, to its end five times.

    Half of the runs have no task over 50 ms.

    Other programs stretch the tasks of a machine that is shared. So where more wants to run than there are
    processors, the longest task is measured by the time that its thread had a processor.

    Args:
        ways: from where to where, in pixels, each run; to 0 is to the end.
    """
    browser = page.context.browser
    assert browser is not None
    taken, worked = [], []
    for way in ways:
        browser.start_tracing(page=page, categories=_CATEGORIES)
        taken.append(page.evaluate(_SCROLL, [selector, *way]))
        worked.append(_longest_work(json.loads(browser.stop_tracing())["traceEvents"]))
    wall, work = median(taken), median(worked)
    print(f"{what}: longest task of a scroll, median of {len(ways)}: {wall:.0f} ms, {work:.0f} ms of a processor")
    assert (work if is_crowded() else wall) <= LONG_MS, (taken, worked)


def is_crowded() -> bool:
    """Whether more wants to run than there are processors."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def _longest_work(events: list[dict[str, Any]]) -> float:
    """Milliseconds that the longest task of a page's main thread had a processor."""
    threads = {
        (event["pid"], event["tid"]): event["args"]["name"] for event in events if event.get("name") == "thread_name"
    }
    tasks = [
        event["tdur"] for event in events if "tdur" in event and threads.get((event["pid"], event["tid"])) == _MAIN
    ]
    assert tasks, "the browser measures threads"
    return float(max(tasks)) / 1000


_MAIN: Final = "CrRendererMain"
