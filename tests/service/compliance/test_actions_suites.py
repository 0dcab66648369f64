"""GET /compliance/suites: the two suites, with their tests on request."""

from __future__ import annotations

from typing import Any

import httpx

PATH = "/api/v1/compliance/suites"


def test_the_suites_without_their_tests(stack: Any, shared_owner: Any) -> None:
    assert httpx.get(stack.url + PATH).status_code == 401
    for query in ({}, {"include_tests": "false"}):
        answer = shared_owner.get(PATH, params=query)
        assert answer.status_code == 200
        body = answer.json()
        assert set(body) == {"items", "total"}
        assert body["total"] == 2
        standard, enhanced = body["items"]
        assert (standard["id"], standard["test_count"]) == ("standard", 15)
        assert (enhanced["id"], enhanced["test_count"]) == ("enhanced", 25)
        assert standard["categories"] == ["concentration", "rating", "coverage", "portfolio"]
        assert enhanced["categories"] == ["concentration", "rating", "coverage", "portfolio", "liquidity"]
        assert all(suite["name"] and suite["description"] and suite["tests"] is None for suite in body["items"])


def test_the_suites_with_their_tests(shared_owner: Any) -> None:
    standard, enhanced = shared_owner.get(PATH, params={"include_tests": "true"}).json()["items"]
    assert enhanced["tests"][:15] == standard["tests"]
    assert len({test["test_id"] for test in enhanced["tests"]}) == 25
    stated = {"test_id", "name", "category", "description", "default_threshold", "threshold_type"}
    assert all(stated <= set(test) for test in enhanced["tests"])
    tests = {test["test_id"]: test for test in enhanced["tests"]}
    for test_id, category, limit, direction in (
        ("single_obligor_concentration", "concentration", 2.5, "max"),
        ("average_rating_factor", "rating", 3000, "max"),
        ("oc_ratio", "coverage", 104.2, "min"),
        ("diversity_score", "portfolio", 55, "min"),
        ("quoted_depth_pct", "liquidity", 80, "min"),
    ):
        test = tests[test_id]
        assert (test["category"], test["default_threshold"], test["threshold_type"]) == (category, limit, direction)


def test_a_flag_that_is_none(shared_owner: Any) -> None:
    assert shared_owner.get(PATH, params={"include_tests": "perhaps"}).status_code == 422


def test_who_may(owner: Any) -> None:
    assert owner.invite("viewer").get(PATH).status_code == 200
    assert owner.key("workbooks:read").get(PATH).status_code == 403
