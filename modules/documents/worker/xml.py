"""XML of a document, parsed so that nothing in it is followed: no entity, no DTD, no address."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

from lxml import etree

from modules.documents.worker.problems import Problem

Element = Any
"""An element of lxml, which has no types of its own."""


def parse(data: bytes) -> Element:
    """Return the root of *data*. Raises `Problem`."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise Problem("damaged") from None


def part(archive: zipfile.ZipFile, name: str) -> Element:
    """Return the root of the part *name*. Raises `Problem`, also where it is missing."""
    try:
        return parse(archive.read(name))
    except KeyError:
        raise Problem("damaged") from None


def name_of(element: Element) -> str:
    """Return the name of *element* without its namespace; "" for a comment or an instruction."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """Return the attribute *name* of *element*, whatever its namespace; "" if it has none."""
    attributes: Mapping[str, str] = element.attrib
    found = (value for key, value in attributes.items() if key.rpartition("}")[2] == name)
    return next(found, "")
