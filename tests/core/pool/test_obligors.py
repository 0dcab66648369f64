"""The table of obligors beside a plain twin."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from core.pool._obligors import Obligors, TooManyObligors, appearing


def packed(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    data = [name.encode() for name in names]
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in data]))).astype(np.int64)
    return offsets, np.frombuffer(b"".join(data), np.uint8)


@pytest.mark.parametrize("seed", range(6))
def test_sums_are_those_of_a_dict(seed: int) -> None:
    chance = np.random.default_rng(seed)
    order = np.array([2, 0, 1], np.int32)
    parts = [Obligors(100_000), Obligors(100_000)]
    twin: dict[str, list[float]] = {}
    for part in parts:
        for _ in range(3):
            rows = int(chance.integers(0, 4_000))
            names = [f"{'x' * int(at % 40)}{at}" for at in chance.integers(0, 3_000, rows)]
            weights = chance.integers(-3, 9, rows).astype(np.float64)
            industries = chance.integers(-1, 3, rows).astype(np.int32)
            codes = part.meet(*packed(names))
            part.add(codes, weights, industries, order)
            for name, weight, industry in zip(names, weights.tolist(), industries.tolist(), strict=True):
                known = twin.setdefault(name, [0.0, 0.0, -1, 0])
                known[0] += weight
                known[3] += 1
                place = 9 if industry < 0 else int(order[industry])
                before = 9 if known[2] < 0 else int(order[int(known[2])])
                if weight > 0 and (weight > known[1] or (weight == known[1] and place < before)):
                    known[1], known[2] = max(weight, known[1]), industry
    whole = Obligors(100_000)
    for part in parts:
        whole.add_table(pickle.loads(pickle.dumps(part)), np.arange(3, dtype=np.int32), order)
    offsets, data = whole.names()
    names = [bytes(data[offsets[at] : offsets[at + 1]]).decode() for at in range(len(whole))]
    assert names == list(twin)
    for values, at in zip(whole.sums(), range(4), strict=True):
        assert values.tolist() == [known[at] for known in twin.values()]


def test_what_does_not_fit_is_refused() -> None:
    small = Obligors(2)
    small.meet(*packed(["a", "b", "a", ""][:3]))
    with pytest.raises(TooManyObligors):
        small.meet(*packed(["c"]))
    with pytest.raises(ValueError, match="not below"):
        small.add(np.array([5], np.int32), np.ones(1), None, None)
    with pytest.raises(ValueError, match="outside"):
        small.meet(np.array([0, 9], np.int64), np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="equally long"):
        small.add(np.array([0], np.int32), np.ones(2), None, None)


def test_codes_in_the_order_of_their_rows() -> None:
    codes = np.array([-1, 3, 1, 3, 0], np.int32)
    assert appearing(codes, 5).tolist() == [3, 1, 0]
    assert appearing(codes[:0], 0).tolist() == []
    with pytest.raises(ValueError, match="not below"):
        appearing(codes, 3)
