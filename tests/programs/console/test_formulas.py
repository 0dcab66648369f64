"""A formula that is typed, tried and applied as a column.

A stored one's graph, versions and runs.
"""

from __future__ import annotations

from playwright.sync_api import expect

from tests.conftest import Member
from tests.programs.console.conftest import NARROW, Visits, checked
from tests.programs.console.seeds import deal_with_months


def test_a_formula_becomes_a_column(visits: Visits, owner: Member) -> None:
    deal_with_months(owner, months=1)
    desk = visits()
    page = desk.page
    desk.expect("422")  # a formula that is wrong
    desk.sign_in(owner, "/formulas")
    expect(page.get_by_role("heading", name="None yet")).to_be_visible()
    page.get_by_label("Formula", exact=True).fill("=NOSUCH(1)")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("alert")).to_contain_text("NOSUCH")
    page.get_by_label("Formula", exact=True).fill("")
    page.get_by_role("button", name="Par Amount", exact=True).click()
    expect(page.get_by_label("Formula", exact=True)).to_have_value("[@[Par Amount]]")
    page.get_by_label("Formula", exact=True).press("End")
    page.get_by_label("Formula", exact=True).type(" * 0.7")
    page.get_by_role("button", name="Try it").click()
    row = page.locator("table", has_text="Result").locator("tbody tr").first
    expect(row).to_be_visible()
    before, after = (float(text.replace(",", "")) for text in row.locator("td").all_inner_texts()[1:3])
    assert after == 0.7 * before
    desk.check_accessible("a preview")
    page.get_by_label("Column").fill("Recovery")
    page.get_by_role("button", name="Apply as a column").click()
    expect(page.locator(".notice.good")).to_contain_text("Recovery: 200 rows")
    page.get_by_role("link", name="Recovery").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.locator("svg.graph")).to_contain_text("Par Amount")
    expect(page.locator("tbody", has_text="Completed")).to_contain_text("200")
    page.get_by_label("Formula", exact=True).fill("[@[Par Amount]] * 0.6")
    page.get_by_label("Column").fill("Recovery")
    page.get_by_role("button", name="Apply as a column").click()
    expect(page.locator("tbody tr", has_text="v2")).to_have_count(2)
    desk.check_accessible("a stored formula")
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="Activate")).to_be_visible()
    expect(page.get_by_role("button", name="Apply as a column")).to_have_count(0)


def test_a_graph_is_drawn_for_a_reader(visits: Visits, owner: Member) -> None:
    template = next(
        item for item in checked(owner.get("/api/v1/formulas/templates"))["items"] if item["id"] == "weighted_average"
    )
    body = {"name": "Average", "template_id": "weighted_average", "graph": template["graph"], "status": "active"}
    formula = checked(owner.post("/api/v1/formulas", json=body))["id"]
    desk = visits(NARROW)
    desk.sign_in(owner.invite("viewer"), f"/formulas?formula={formula}")
    graph = desk.page.locator("svg.graph")
    expect(graph.locator("g")).to_have_count(len(template["graph"]["nodes"]))
    expect(graph.locator("path")).to_have_count(len(template["graph"]["edges"]))
    expect(graph).to_contain_text("Weight")
    main = desk.page.locator("main")
    expect(main.get_by_role("button", name="Archive")).to_have_count(0)
    expect(main.get_by_role("button", name="Try it")).to_have_count(0)
    desk.check_accessible("a graph")
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
