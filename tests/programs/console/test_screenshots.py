"""The list of pictures.

Every screen has one, and those of the guide are there and small.
"""

from __future__ import annotations

import re

from PIL import Image

from tests.screenshots import ASSETS, ROOT, SHOTS

SIZE_MAX = 120_000
WIDTH = 1440


def test_every_screen_has_a_picture() -> None:
    routes = (ROOT / "service/console/app.js").read_text(encoding="utf-8")
    files = set(re.findall(r'file: "(\w+)"', routes))
    assert len(files) > 15
    assert {shot.file for shot in SHOTS} == files
    assert len({shot.name for shot in SHOTS}) == len(SHOTS)


def test_pictures_of_the_guide_are_those_of_the_list() -> None:
    shown = {shot.asset for shot in SHOTS if shot.asset}
    assert {path.stem for path in ASSETS.glob("console*.png")} == shown
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    for name in shown:
        path = ASSETS / f"{name}.png"
        with Image.open(path) as picture:
            assert picture.width == WIDTH, name
        assert path.stat().st_size < SIZE_MAX, name
        assert f"../assets/{name}.png" in pages, name
