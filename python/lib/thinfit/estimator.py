"""The bases that the estimators inherit from scikit-learn, with types.

scikit-learn has no types, and mypy accepts any argument of a class whose base is unknown, even a misspelt one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    class Estimator:
        """The part of scikit-learn's bases that is used."""

        n_features_in_: int
        feature_names_in_: Any

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **metadata: bool | str | None) -> Self: ...
        def set_score_request(self, **metadata: bool | str | None) -> Self: ...
        def set_predict_request(self, **metadata: bool | str | None) -> Self: ...
        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def _repr_html_inner(self) -> str: ...
        def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]: ...

else:
    from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

    class Estimator(MultiOutputMixin, RegressorMixin, BaseEstimator):
        """scikit-learn's bases."""
