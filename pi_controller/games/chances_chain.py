"""A Markov chain as linear equations: who wins from each state, given what the ways out of the chain are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse as scipy_sparse  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse import csgraph as scipy_csgraph  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse import linalg as scipy_linalg  # pyright: ignore[reportMissingTypeStubs]

from pi_controller.games.chances import ChancesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

sparse: Any = scipy_sparse  # these have no types
csgraph: Any = scipy_csgraph
linalg: Any = scipy_linalg

EXACT = 1e-12
"""A solution that misses its equations by more is refused."""


class Chain:
    """States 0 to `size` - 1 and the steps between them; a step to `size` leaves the chain.

    `source`, `target` and `chance` are arrays of one length, a step each; the chances out of a state sum to 1. Raises
    `ChancesError` where some state can never leave, for then nothing settles who wins. `ordered` says that nearly all
    steps lead to states numbered lower or close by: then elimination in that order is far the fastest.
    """

    def __init__(
        self,
        size: int,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        chance: NDArray[np.float64],
        *,
        ordered: bool = False,
    ) -> None:
        self.size = size
        self.residual = 0.0
        steps = sparse.csr_matrix((chance, (source, target)), shape=(size + 1, size + 1))
        steps.eliminate_zeros()
        out = np.asarray(steps.sum(axis=1)).ravel()[:size]
        assert abs(out - 1).max() < EXACT, "the chances out of a state do not sum to 1"
        leaving = csgraph.breadth_first_order(steps.T.tocsr(), size, return_predecessors=False)
        if len(leaving) != size + 1:
            raise ChancesError("with these chances a game may never end", "choose chances between 0 and 1")
        self._equations = (sparse.identity(size, format="csc") - steps[:size, :size]).tocsc()
        self._factors = linalg.splu(self._equations, permc_spec="NATURAL" if ordered else "COLAMD")

    def solve(self, worth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance of winning from each state.

        `worth` (size, or size x cases) is what leaving at once gives: the sum over the steps that leave of their
        chance times the chance of winning after them. Raises `ChancesError` where the solution is not exact.
        """
        found = self._factors.solve(worth)
        found += self._factors.solve(worth - self._equations @ found)
        residual = float(abs(worth - self._equations @ found).max(initial=0.0))
        self.residual = max(self.residual, residual)
        if not residual <= EXACT:
            raise ChancesError(f"the chances miss their own equations by {residual:.1e}", "choose a smaller game")
        return np.clip(found, 0.0, 1.0)
