"""The progress bar of a fit. It needs tqdm, the extra `thinfit[progress]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(verbose: bool) -> Iterator[Callable[[float, float | None], None] | None]:
    """A bar, as the function that the native module reports to; None if not verbose."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("verbose=True needs tqdm; pip install thinfit[progress]") from error
    with tqdm(total=100, desc="fit", bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed}{postfix}") as bar:

        def report(done: float, validation: float | None) -> None:
            bar.n = max(bar.n, round(100 * done))
            if validation is not None and 0 < validation < 1e300:
                bar.set_postfix_str(f"validation error {validation:.2e}", refresh=False)
            bar.refresh()

        yield report
        bar.n = 100
        bar.refresh()
