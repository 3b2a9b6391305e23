"""The texts for the model, kept in `prompts/` and filled with `string.Template`."""

from __future__ import annotations

from pathlib import Path
from string import Template

from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile

FOLDER = Path(__file__).resolve().parents[1] / "prompts"


def prompt(name: str, **values: str) -> str:
    """Return the prompt *name* filled with *values*.

    Raises `KeyError` for a value that is missing and `ValueError` for one the text does not use.
    """
    template = Template((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    if unknown := values.keys() - set(template.get_identifiers()):
        raise ValueError(f"the prompt {name!r} does not use {', '.join(sorted(unknown))}")
    return template.substitute(values).strip()


def system_prompt(own_file: Path) -> str:
    """Return the instructions of every session: those in *own_file* where the person has some.

    Raises `UserError` for a file that is no text.
    """
    data = SharedFile(own_file).read()
    try:
        own_text = data.decode().strip()
    except UnicodeDecodeError:
        raise UserError(
            phrase("{path} is not UTF-8 text. Fix it or move it away.", path=str(own_file))
        ) from None
    return own_text or prompt("system")
