"""The parts of an .xlsx file and how they name one another, held against a list.

The list has what our writer, Excel and LibreOffice put into a file.

What belongs to a sheet that is free to change (a Workspace) may be anything; every other part has to be of a listed
kind, named once, by a relationship whose identifier is there once, under a name of one spelling.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.files.archive import Archive
from core.files.errors import ParseFailed
from core.files.parts import Attributes, parse_part, relationships_name
from core.provenance.finding import Findings
from core.provenance.grammar import LINKS, OPEN, STRICT, WORKBOOK, check_part, is_true, markup_fault

_TYPES_PART: Final = "[Content_Types].xml"
_PACKAGE: Final = f"{OPEN}/package/2006"
_SHEETS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_RICH: Final = "http://schemas.microsoft.com/office/2017/06/relationships"

_KINDS: Final[Mapping[str, str]] = {
    **{f"{home}/{kind}": kind for home in LINKS for kind in (
        "officeDocument", "extended-properties", "custom-properties", "worksheet", "styles", "sharedStrings", "theme",
        "calcChain", "sheetMetadata", "customXml", "customXmlProps", "table", "printerSettings",
    )},
    f"{STRICT}/officeDocument/relationships/extendedProperties": "extended-properties",
    f"{STRICT}/officeDocument/relationships/customProperties": "custom-properties",
    f"{_PACKAGE}/relationships/metadata/core-properties": "core-properties",
    f"{_PACKAGE}/relationships/metadata/thumbnail": "thumbnail",
    "http://schemas.microsoft.com/office/2020/02/relationships/classificationlabels": "labels",
    f"{_RICH}/rdRichValue": "rdRichValue",
    f"{_RICH}/rdRichValueStructure": "rdRichValueStructure",
    f"{_RICH}/rdRichValueTypes": "rdRichValueTypes",
}  # fmt: skip
"""Kinds of relationships by their types."""

_MAY_NAME: Final[Mapping[str, frozenset[str]]] = {
    "package": frozenset(
        {"officeDocument", "core-properties", "extended-properties", "custom-properties", "customXml", "thumbnail",
         "labels"}
    ),
    "officeDocument": frozenset(
        {"worksheet", "styles", "sharedStrings", "theme", "calcChain", "sheetMetadata", "customXml", "rdRichValue",
         "rdRichValueStructure", "rdRichValueTypes"}
    ),
    "worksheet": frozenset({"table", "printerSettings"}),
    "customXml": frozenset({"customXmlProps"}),
}  # fmt: skip
"""What a part of one kind may name."""

_OFTEN: Final = frozenset({"worksheet", "table", "printerSettings", "customXml", "customXmlProps"})
"""Kinds of which there may be several."""

_CONTENT: Final[Mapping[str, str]] = {
    "officeDocument": f"{_SHEETS}.sheet.main+xml",
    "worksheet": f"{_SHEETS}.worksheet+xml",
    "styles": f"{_SHEETS}.styles+xml",
    "sharedStrings": f"{_SHEETS}.sharedStrings+xml",
    "sheetMetadata": f"{_SHEETS}.sheetMetadata+xml",
    "table": f"{_SHEETS}.table+xml",
}
"""What the list of content types has to say of a part of each kind."""

_TARGET: Final = re.compile(r"/?(?:\.\./)*[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
_TRASH: Final = "[trash]/"
"""Where Excel leaves what it wrote over, at times."""


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship to another part of the file."""

    identifier: str
    kind: str
    """Empty for a type that is not listed."""
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A sheet as the workbook part lists it."""

    name: str
    part: str
    is_own: bool
    """Whether its export says that it may be changed."""


@dataclass(slots=True)
class Package:
    """The parts that say what cells there are."""

    workbook: str = ""
    sheets: list[SheetPart] = field(default_factory=list)
    by_kind: dict[str, str] = field(default_factory=dict)
    """The parts of which there is one."""
    tables: list[tuple[str, str]] = field(default_factory=list)
    """(sheet, part)."""


def check_package(archive: Archive, own: Collection[str], covered: Collection[str], findings: Findings) -> Package:
    """Return the parts of a file, with a finding for each that does not belong to one.

    Args:
        own: the sheets that the export says may be changed.
        covered: those whose cells its manifest has.

    Raises:
        ParseFailed: a part is damaged.
    """
    return _Check(archive, own, covered, findings).package()


class _Check:
    def __init__(self, archive: Archive, own: Collection[str], covered: Collection[str], findings: Findings) -> None:
        self.archive = archive
        self.names = {entry.name for entry in archive.entries}
        self.own, self.covered, self.findings = own, covered, findings
        self.types = self._content_types()
        self.reached: set[str] = {_TYPES_PART}
        self.known = Package()

    def package(self) -> Package:
        fault = self.archive.layout_fault()
        if fault is not None:
            self.findings.differs(fault[0], f"another layout than the archive's directory says: {fault[1]}")
        for link in self._known_links("", "package"):
            self._reach(link, "")
            if link.kind == "officeDocument":
                self.known.workbook = link.target
        if not self.known.workbook:
            self.findings.differs("_rels/.rels", "no workbook")
            return self.known
        self._workbook()
        for name in sorted(self.names - self.reached):
            if not name.startswith(_TRASH) and not self._is_links_of_reached(name):
                self.findings.changed(name, "no other part that names it: it was not exported")
        return self.known

    def _is_links_of_reached(self, name: str) -> bool:
        folder, _, last = name.rpartition("/")
        owner = posixpath.join(posixpath.dirname(folder), last.removesuffix(".rels"))
        return folder.endswith("_rels") and last.endswith(".rels") and (owner in self.reached or last == ".rels")

    # ------------------------------------------------------------------------------------------ types and links

    def _content_types(self) -> dict[str, str]:
        """Return what the parts are, by their names, and by their endings with an asterisk before."""
        types: dict[str, str] = {}

        def start(name: str, attributes: Attributes) -> None:
            home, _, local = name.rpartition("}")
            if local == "Types" and home == f"{_PACKAGE}/content-types":
                return
            key = {"Default": "*." + attributes.get("Extension", ""), "Override": attributes.get("PartName", "")}.get(
                local
            )
            if key is None or home != f"{_PACKAGE}/content-types" or len(attributes) != 2:
                self.findings.differs(_TYPES_PART, f"an element {local!r} that no program writes there")
            elif key.lower() in types:
                self.findings.differs(_TYPES_PART, f"two types of content for {key!r}")
            else:
                types[key.lower()] = attributes.get("ContentType", "")

        self._walk(_TYPES_PART, start)
        return types

    def _walk(self, name: str, start: object) -> None:
        if name not in self.names:
            self.findings.differs(name, "no such part under its own name")
            return
        data = self.archive.read(name)
        if (fault := markup_fault(data)) is not None:
            self.findings.differs(name, fault)
            return
        try:
            parse_part(data, f"The part {name!r}", start, qualified=True)  # type: ignore[arg-type]
        except ParseFailed as error:
            self.findings.differs(name, f"XML that is not well-formed ({error.hint.rstrip('.')})")

    def _links(self, owner: str) -> list[Link]:
        """Return the relationships of a part, those with faults left out."""
        name = relationships_name(owner)
        result: list[Link] = []
        if name not in self.archive:
            return result
        met: set[str] = set()

        def start(element: str, attributes: Attributes) -> None:
            home, _, local = element.rpartition("}")
            if local == "Relationships" and home == f"{_PACKAGE}/relationships":
                return
            if local != "Relationship" or home != f"{_PACKAGE}/relationships":
                self.findings.differs(name, f"an element {local!r} that no program writes there")
                return
            link = self._link(name, owner, attributes, met)
            if link is not None:
                result.append(link)

        self._walk(name, start)
        return result

    def _link(self, name: str, owner: str, attributes: Attributes, met: set[str]) -> Link | None:
        identifier, address, target = (attributes.get(key, "") for key in ("Id", "Type", "Target"))
        if not attributes.keys() <= {"Id", "Type", "Target", "TargetMode"}:
            self.findings.differs(name, f"a relationship {identifier!r} with further attributes")
        if not identifier or identifier in met:
            self.findings.differs(name, f"two relationships with the identifier {identifier!r}")
        met.add(identifier)
        kind = _KINDS.get(address, "")
        if attributes.get("TargetMode", "Internal") != "Internal":
            note = self.findings.differs if kind else self.findings.changed
            note(name, f"a relationship {identifier!r} to something outside of the file")
            return None
        path = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(owner), target)
        part = posixpath.normpath(path).lstrip("/")
        if not _TARGET.fullmatch(target) or part not in self.names:
            self.findings.differs(name, f"a relationship {identifier!r} to {target!r}, which is not the name of a part")
            return None
        return Link(identifier, kind, address, part)

    def _known_links(self, owner: str, kind: str, sheet: str | None = None) -> Iterator[Link]:
        """Yield the relationships of a part that may be changed by nobody.

        Those of listed kinds, each kind once.
        """
        met: set[str] = set()
        for link in self._links(owner):
            what = link.kind or link.type.rpartition("/")[2]
            if link.kind not in _MAY_NAME.get(kind, frozenset()):
                self.findings.changed(link.target, f"a part of the kind {what!r} that was not exported", sheet=sheet)
                self._reach_all(link)
                continue
            if link.kind in met and link.kind not in _OFTEN:
                self.findings.differs(relationships_name(owner), f"two relationships of the kind {link.kind!r}")
                continue
            met.add(link.kind)
            yield link

    def _reach(self, link: Link, owner: str) -> None:
        """Count a part of a listed kind; two of one name mean two things."""
        if link.target in self.reached and link.kind not in ("customXml", "printerSettings"):
            self.findings.differs(relationships_name(owner), f"two relationships to {link.target!r}")
        self.reached.add(link.target)
        content_type = self.types.get(f"/{link.target}".lower()) or self.types.get(
            "*." + link.target.rpartition(".")[2].lower()
        )
        if content_type is None or content_type != _CONTENT.get(link.kind, content_type):
            self.findings.differs(
                _TYPES_PART, f"another type of content for {link.target!r}: {content_type or 'none'!r}"
            )
        if link.kind not in ("officeDocument", "worksheet"):
            for below in self._known_links(link.target, link.kind):
                self._reach(below, link.target)

    def _reach_all(self, link: Link) -> None:
        """Count a part and whatever it names, of any kind."""
        waiting = [link.target]
        while waiting:
            name = waiting.pop()
            if name not in self.reached:
                self.reached.add(name)
                waiting += self._free_targets(name)

    # ------------------------------------------------------------------------------------------- the workbook

    def _workbook(self) -> None:
        result, part = self.known, self.known.workbook
        listed: list[Mapping[str, str]] = []
        names: set[tuple[str, str]] = set()

        def watch(name: str, attributes: Mapping[str, str]) -> None:
            if name == "sheet":
                listed.append(attributes)
            elif name == "definedName":
                self._defined(attributes, names)
            elif name == "calcPr":
                self._calculation(attributes)

        check_part(self.archive.read(part), WORKBOOK, self.findings, part, watch=watch)
        links = {link.identifier: link for link in self._known_links(part, "officeDocument")}
        for link in links.values():
            if link.kind != "worksheet":
                self._reach(link, part)
                if link.kind not in _OFTEN:
                    result.by_kind[link.kind] = link.target
        self._check_identifiers(listed)
        self._sheets(listed, links)

    def _sheets(self, listed: Sequence[Mapping[str, str]], links: dict[str, Link]) -> None:
        for attributes in listed:
            self._sheet(attributes.get("name", ""), links.pop(attributes.get("r:id", ""), None))
        for link in links.values():
            if link.kind == "worksheet":
                self.findings.differs(self.known.workbook, f"no sheet for the part {link.target!r}")

    def _check_identifiers(self, sheets: Sequence[Mapping[str, str]]) -> None:
        for key in ("name", "sheetId", "r:id"):
            values = [attributes.get(key, "").casefold() for attributes in sheets]
            if len(set(values)) < len(values) or "" in values:
                message = f"two sheets of the same {key.removeprefix('r:')!r}, or one without"
                self.findings.differs(self.known.workbook, message)

    def _sheet(self, name: str, link: Link | None) -> None:
        is_own = name in self.own and name not in self.covered
        if link is None or link.kind != "worksheet":
            if name not in self.covered and not is_own:
                self.findings.changed(
                    self.known.workbook, "cells, figures or a picture that were not exported", sheet=name
                )
            else:
                self.findings.differs(self.known.workbook, "no cells", sheet=name)
            return
        self._reach(link, self.known.workbook)
        self.known.sheets.append(SheetPart(name, link.target, is_own))
        if is_own:
            for target in self._free_targets(link.target):
                self._reach_all(Link("", "", "", target))
            return
        for below in self._known_links(link.target, "worksheet", name):
            self._reach(below, link.target)
            if below.kind == "table":
                self.known.tables.append((name, below.target))

    def _free_targets(self, owner: str) -> list[str]:
        """Return the parts that one names which may be anything."""
        name = relationships_name(owner)
        if name not in self.archive:
            return []
        result: list[str] = []

        def start(_: str, attributes: Attributes) -> None:
            target = attributes.get("Target", "")
            if attributes.get("TargetMode", "Internal") == "Internal":
                path = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(owner), target)
                result.append(posixpath.normpath(path).lstrip("/"))

        self._walk(name, start)
        return result

    def _defined(self, attributes: Mapping[str, str], names: set[tuple[str, str]]) -> None:
        key = attributes.get("localSheetId", ""), attributes.get("name", "").casefold()
        if key in names:
            self.findings.differs(self.known.workbook, f"two names {attributes.get('name')!r} with one meaning each")
        names.add(key)
        if any(is_true(attributes, kind) for kind in ("function", "vbProcedure", "xlm")):
            self.findings.differs(self.known.workbook, f"a macro behind the name {attributes.get('name')!r}")

    def _calculation(self, attributes: Mapping[str, str]) -> None:
        if not is_true(attributes, "fullPrecision", default=True):
            self.findings.changed(
                self.known.workbook,
                "precision as displayed, by which programs round the figures to what they show",
                change="changed",
            )
        if is_true(attributes, "iterate"):
            self.findings.changed(
                self.known.workbook, "iterative calculation, which was not exported", change="changed"
            )
