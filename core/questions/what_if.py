"""Questions that suppose something, and those on how much more there may be of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from core.questions.parts import FLAG_TESTS, GROUP_TESTS, Parts, Ranking, Unread
from core.questions.query import Action, Having, Query
from core.questions.reading import Letter, Reader
from core.questions.tokens import Token
from core.questions.vocabulary import QUANTITIES


class Suppositions(Parts):
    """The parts of a supposition: verbs, what is done to which loans, and the tests that are asked after it."""

    def _room(self) -> Query | Unread:
        r = self.r
        for at in list(r.unused("room")):
            r.use(at)
        for at, lexeme in enumerate(r.lexemes):
            if not lexeme.used and lexeme.has("aspect") and not lexeme.has("quantity"):
                r.use(at)
            if not lexeme.used and (
                lexeme.has("status") or lexeme.has("action", "buy", "sell") or lexeme.text in ("before", "until")
            ):
                r.use(at)
        r.read_conditions()
        placed = r.joined()
        ids = self._test_ids(placed, flags=True)
        for at in list(r.unused("group", "loan", "test")) + list(r.unused("quantity", "par", "share", "count")):
            r.use(at)
        own = tuple(one for one in r.having if one.quantity == "share")
        for at in list(r.unused("number")):
            number: Token = r.lexemes[at].get("number")
            if number.unit == "percent" and not own:
                own = (Having(quantity="share", op="<=", value=number.value, unit="percent"),)
                r.use(at, *r.unused("comparison", "<="))
        if own and not ids and len(placed) == 1:
            return Query(kind="room", where=(placed[0].condition,), having=own[:1])
        if own:
            return Unread((f"{own[0].value:g}%",), "the limit is the test's own")
        if (
            not ids
            and len(placed) == 1
            and placed[0].condition.field in ("industry", "obligor")
            and len(placed[0].condition.values) == 1
        ):
            for at in list(r.unused("group", "industry", "obligor")):
                r.use(at)
            return Query(kind="room", tests=(GROUP_TESTS[placed[0].condition.field],), where=(placed[0].condition,))
        if len(ids) != 1 or placed:
            return Unread((), "room is known for what one test limits")
        return Query(kind="room", tests=ids)

    def _what_if(self) -> Query | Unread:
        """Split at the verbs: what stands about each is done, what is a test is asked."""
        r = self.r
        if_at = next(at for at, one in enumerate(r.lexemes) if one.has("if"))
        hard = [
            at
            for at, one in enumerate(r.lexemes)
            if one.has("if")
            and one.text
            in (
                "if",
                "suppose",
                "supposing",
                "assume",
                "assuming",
                "what if",
                "what happens if",
                "what would happen if",
                "if we were to",
                "in case",
                "say we",
                "if i",
                "assuming that",
                "suppose that",
            )
        ]
        start = hard[0] if hard else if_at
        end = next(
            (
                at
                for at in range(start + 1, len(r.lexemes))
                if ("," in r.lexemes[at].tokens[0].before and not self._continues(at))
                or r.lexemes[at].tokens[0].text in ("what", "how", "which", "where", "would", "does")
            ),
            len(r.lexemes),
        )
        verbs = [at for at in range(start, end) if r.lexemes[at].has("action") and not self._is_noun(at, start)]
        verbs = self._one_verb_each(verbs)
        if not verbs:
            return Unread((r.lexemes[if_at].said,), "it supposes nothing that can be worked out")
        clauses: list[tuple[int, int, int]] = []
        bounds = [start]
        for at, following in pairwise(verbs):  # sell A and B defaults: the last "and" parts them
            bounds.append(max((one for one in range(at, following) if r.lexemes[one].has("and")), default=following))
        clauses.extend(zip(verbs, bounds, [*bounds[1:], end], strict=True))
        for at in range(len(r.lexemes)):
            if r.lexemes[at].has("if"):
                r.use(at)
        r.use(*verbs)
        actions: list[Action] = []
        # Consequences stand outside of the clauses, or are tests inside.
        consequences: dict[str, None] = {}
        inside = range(start, end)
        for at, lexeme in enumerate(r.lexemes):
            if lexeme.used or not lexeme.has("test"):
                continue
            consequences[lexeme.get("test")] = None
            r.use(at)
        for at, lexeme in enumerate(r.lexemes):
            if (
                lexeme.used
                or not lexeme.has("quantity")
                or (test_id := QUANTITIES[lexeme.get("quantity")].test_id) is None
            ):
                continue
            if (
                at not in inside
                or lexeme.get("quantity") in ("warf", "diversity", "was", "wal")
                or (lexeme.get("quantity") == "recovery" and at > verbs[-1])
            ):
                if lexeme.get("quantity") == "price" and at in inside:
                    continue
                consequences[test_id] = None
                r.use(at)
        for at, lexeme in enumerate(r.lexemes):
            if at not in inside and not lexeme.used and lexeme.has("flag", *FLAG_TESTS) and not lexeme.has("action"):
                consequences[FLAG_TESTS[lexeme.get("flag")]] = None
                r.use(at)
        numbers = {at for at in range(len(r.lexemes)) if r.lexemes[at].has("number") and not r.lexemes[at].used}
        for verb, first, last in clauses:
            action = self._action(verb, first, last, numbers)
            if isinstance(action, Unread):
                return action
            actions.append(action)
        category = r.first("category")
        categories = None
        if category is not None:
            categories = r.lexemes[category].get("category")
            r.use(category)
        r.use(*r.unused("group", "test"), *r.unused("change"))
        if consequences:
            r.use(*r.unused("quantity", "share", "par"))
        aspect = None
        for at in list(r.unused("aspect")):
            aspect = r.lexemes[at].get("aspect")
            r.use(at)
        status = None
        for at in list(r.unused("status")):
            status = r.lexemes[at].get("status")
            r.use(at)
        for at in list(r.unused("per")):
            if r.lexemes[at].text in ("each", "every"):
                r.use(at)
        return Query(
            kind="what_if",
            actions=tuple(actions),
            tests=tuple(consequences),
            category=categories,
            aspect=aspect,
            status=status,
            is_yes_no=self._is_yes_no(),
        )

    def _continues(self, at: int) -> bool:
        """Whether a comma goes on with a list."""
        lexeme = self.r.lexemes[at]
        return lexeme.has("name") or lexeme.has("letter") or lexeme.has("number")

    def _is_noun(self, at: int, start: int) -> bool:
        """Whether an action's word stands for loans: the defaulted loans."""
        r = self.r
        lexeme = r.lexemes[at]
        after = r.next(at)
        if lexeme.has("flag", "defaulted") and after is not None and r.lexemes[after].has("group") and at > start:
            before = r.previous(at)
            return before is not None and r.lexemes[before].has("action")
        if lexeme.has("quantity", "price") and after is not None:
            return r.lexemes[after].has("comparison") or r.lexemes[after].has("action")
        return False

    def _one_verb_each(self, verbs: list[int]) -> list[int]:
        """Of verbs that say one thing together (is downgraded ... to, marked down ... by) the first."""
        r = self.r
        kept: list[int] = []
        for at in verbs:
            kind = r.lexemes[at].get("action")
            if kept and not any(r.lexemes[one].has("and") for one in range(kept[-1], at)):
                last = r.lexemes[kept[-1]]
                if last.has("action", kind) or (
                    kind in ("price_to", "price_down") and last.has("action", "price_down", "price_to")
                ):
                    r.use(at)
                    continue
            kept.append(at)
        return kept

    def _action(self, verb: int, first: int, last: int, numbers: set[int]) -> Action | Unread:
        r = self.r
        lexeme = r.lexemes[verb]
        kinds = [str(one.value) for one in lexeme.meanings if one.kind == "action"]
        said = [r.lexemes[at] for at in range(first, last)]
        values = [(at, r.lexemes[at].get("number")) for at in sorted(numbers) if first <= at < last]
        by = {unit: (at, number) for at, number in values for unit in (number.unit,)}
        notched = "notches" in by
        kind: str = kinds[0]
        about_price = any(one.has("quantity", "price") for one in said)
        if notched or (
            len(kinds) > 1
            and any(one.has("letter") or one.has("flag", "ccc") for one in said)
            and "downgrade" in kinds
            and not about_price
            and "points" not in by
        ):
            kind = (
                "upgrade" if "upgrade" in kinds or ("price_up" in kinds and "downgrade" not in kinds) else "downgrade"
            )
        elif ("points" in by or "percent" in by or about_price) and any(one.startswith("price") for one in kinds):
            kind = next(one for one in kinds if one.startswith("price"))
        elif (
            kind == "downgrade"
            and any(one.startswith("price") for one in kinds)
            and not any(one.has("letter") for one in said)
        ):
            return Unread((lexeme.said,), "by how much is not said")
        if kind == "price_down" and "downgrade" in kinds and any(one.has("letter") for one in said):
            kind = "downgrade"
        action: dict[str, Any] = {}

        def take(unit: str, name: str, scale: float = 1.0) -> bool:
            if unit not in by:
                return False
            at, number = by[unit]
            action[name] = number.value * scale
            r.use(at)
            return True

        if kind.startswith("price"):
            sign = -1.0 if kind == "price_down" else 1.0
            for at in range(first, last):
                if r.lexemes[at].has("quantity", "price") and not r.lexemes[at].used:
                    after = r.next(at)
                    if after is None or not r.lexemes[after].has("comparison"):
                        r.use(at)
            if kind == "price_to":
                if not (take("", "price") or take("points", "price") or take("percent", "price")):
                    return Unread((lexeme.said,), "at what price is not said")
            elif not (take("points", "points", sign) or take("percent", "percent", sign) or take("", "points", sign)):
                return Unread((lexeme.said,), "by how much is not said")
            kind = "price"
        elif kind in ("downgrade", "upgrade"):
            if notched:
                at, number = by["notches"]
                action["notches"] = int(number.value)
                r.use(at)
            else:
                target = next(
                    (
                        at
                        for at in range(verb, last)
                        if r.lexemes[at].has("letter") and not r.lexemes[at].used and self._after_to(at)
                    ),
                    None,
                )
                if target is None:
                    ccc = next(
                        (
                            at
                            for at in range(verb, last)
                            if r.lexemes[at].has("flag", "ccc") and not r.lexemes[at].used and self._after_to(at)
                        ),
                        None,
                    )
                    if ccc is not None:
                        action["rank"] = 17
                        r.use(ccc)
                    else:
                        action["notches"] = 1
                else:
                    letter: Letter = r.lexemes[target].get("letter")
                    if letter.best != letter.worst:
                        return Unread((r.lexemes[target].said,), "it stands for several ratings")
                    action["rank"] = letter.best
                    r.use(target)
                    if (after := r.next(target)) is not None and r.lexemes[after].has("agency") and after < last:
                        r.use(after)
        elif kind in ("sell", "buy"):
            take("amount", "par")
            at_price = next(
                (
                    at
                    for at, number in values
                    if number.unit in ("", "points", "percent")
                    and at > 0
                    and r.lexemes[at - 1].text in ("at", "at a price of", "price", "for", "priced at", "at price", "of")
                    and number.days is None
                    and number.value <= 200
                ),
                None,
            )
            if (at_price is not None and not r.lexemes[at_price].used and r.lexemes[at_price - 1].text != "of") or (
                at_price is not None and any(one.has("quantity", "price") for one in said)
            ):
                action["price"] = r.lexemes[at_price].get("number").value
                r.use(at_price)
            else:
                at_par = next(
                    (
                        at
                        for at in range(verb, last - 1)
                        if r.lexemes[at].text == "at" and r.lexemes[at + 1].has("quantity", "par")
                    ),
                    None,
                )
                if at_par is not None:
                    action["price"] = 100.0
                    r.use(at_par + 1)
            for at in range(first, last):
                after = r.next(at)
                if (
                    r.lexemes[at].has("quantity", "price", "par")
                    and (after is None or not r.lexemes[after].has("comparison"))
                    and (action.get("price") is not None or r.lexemes[at].has("quantity", "par"))
                ):
                    r.use(at)
        if kind == "buy":
            return self._bought(first, last, by, action)
        scope = Reader(r.lexemes[first:last], r.as_of, groups_are_sets=False)
        ranking = self._ranking_in(first, last)
        scope.read_conditions()
        placed = scope.joined()
        where = tuple(one.condition for one in placed)
        group = "loan"
        for at in range(first, last):
            one = r.lexemes[at]
            if one.has("group", "loan", "obligor", "industry") and not one.used:
                group = one.get("group")
                r.use(at)
            if one.has("whole") or one.has("per"):
                r.use(at)
        if ranking is not None:
            action.update(order=ranking.order, order_by=ranking.by or "par", limit=ranking.limit, place=ranking.place)
            action["group"] = group
        if not where and ranking is None and kind in ("default", "sell", "repay"):
            return Unread((lexeme.said,), "which loans are meant is not said")
        return Action(kind=kind, where=where, **action)  # type: ignore[arg-type]

    def _after_to(self, at: int) -> bool:
        before = self.r.lexemes[at - 1]
        verbs = (
            "to",
            "cut to",
            "fall to",
            "drop to",
            "downgraded to",
            "downgrade to",
            "move to",
            "moved to",
            "lowered to",
            "slip to",
            "migrate to",
            "goes to",
            "go to",
            "becomes",
            "become",
            "falls to",
            "drops to",
            "slips to",
            "upgraded to",
            "a",
            "an",
        )
        raw = before.said.lower()
        return before.text in verbs or raw in verbs or raw.endswith(" to") or raw.startswith("become")

    def _ranking_in(self, first: int, last: int) -> Ranking | None:
        at = next(
            (
                one
                for one in range(first, last)
                if self.r.lexemes[one].has("superlative") and not self.r.lexemes[one].used
            ),
            None,
        )
        return None if at is None else self._take_ranking(at)

    def _bought(
        self, first: int, last: int, by: dict[str, tuple[int, Token]], action: dict[str, Any]
    ) -> Action | Unread:
        r = self.r
        if "par" not in action:
            return Unread((r.lexemes[first].said,), "how much is bought is not said")
        if "bps" in by:
            at, number = by["bps"]
            action["spread"] = number.value
            r.use(at)
            for place in range(first, last):
                if r.lexemes[place].has("quantity", "spread", "was"):
                    r.use(place)
        for place in range(first, last):  # a coupon of 8 %
            if r.lexemes[place].has("quantity", "coupon") and "percent" in by:
                action["coupon"] = by["percent"][1].value
                r.use(place, by["percent"][0])
        if "years" in by:
            return Unread((r.lexemes[by["years"][0]].said,), "a loan to buy has a maturity by its date")
        scope = Reader(r.lexemes[first:last], r.as_of, groups_are_sets=False)
        scope.read_conditions()
        for place in range(first, last):
            one = r.lexemes[place]
            if (
                one.has("group", "loan", "obligor", "industry")
                or one.has("move", "added")
                or one.has("quantity", "rating")
            ):
                r.use(place)
        return Action(kind="buy", where=tuple(one.condition for one in scope.joined()), **action)
