"""What a notebook shows of a fitted model: scikit-learn's diagram, below it the curve and the features."""

from __future__ import annotations

from typing import Any


class NotebookView:
    """Adds a view of the fitted model to the HTML that scikit-learn makes of an estimator."""

    def _repr_html_inner(self) -> str:
        html: str = super()._repr_html_inner()  # type: ignore[misc]
        return html + self._view()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._view()
        return bundle

    def _view(self) -> str:
        # What draws stands on a higher floor, and is asked through the front door.
        from .. import html_view

        return html_view(self)
