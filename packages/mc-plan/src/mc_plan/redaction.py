"""Keeping private terms out of everything that is shown.

Matching folds compatibility forms and letter case on both sides, so that a full-width or accented
spelling of a topic is found too. A text that holds a term is replaced whole: what is left of it
would say where the term was.

Source: reliability specification 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mc_plan.draft import Request

REDACTED: Final = "[redacted]"


class Redactor:
    """Replaces every text that holds one of the private terms; without terms, none."""

    def __init__(self, terms: tuple[str, ...] = ()) -> None:
        self._terms = tuple(fold(term) for term in terms)

    def is_private(self, text: str) -> bool:
        """Tell whether *text* holds a private term."""
        folded = fold(text) if self._terms else ""
        return any(term in folded for term in self._terms)

    def text(self, text: str) -> str:
        """Return *text*, or ``[redacted]`` if it holds a private term."""
        return REDACTED if self.is_private(text) else text

    def value(self, value: Any) -> Any:
        """Return a copy of JSON *value* in which every text, keys too, went through `text`."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def clean_error(self, error: Any) -> None:
        """Take the private terms out of the texts of *error* (a plan or schema error), in place."""
        error.what = self.text(error.what)
        error.where = self.text(error.where)
        error.hint = self.text(error.hint)
        error.args = (f"{error.what}: {error.where}" if error.where else error.what,)
        files = getattr(error, "files", None)
        if files is not None:
            error.files = type(files)(*(tuple(map(self.text, paths)) for paths in files))


def fold(text: str) -> str:
    """Return the form in which texts are compared: NFKC and case-folded, until that is stable."""
    import unicodedata

    # NFKC can bring capitals forth (a squared "TEL") and folding can undo it, hence two rounds.
    once = unicodedata.normalize("NFKC", text.casefold())
    return unicodedata.normalize("NFKC", once.casefold())


def redactor_for(request: Request) -> Redactor:
    """Return the redactor of *request*: it hides nothing unless the request is private."""
    return Redactor(request.private_terms if request.private else ())
