"""The names or terms of an index file: one after another in the order of their bytes, found by bisection."""

from __future__ import annotations

from bisect import bisect_right

# From so many look-ups on, every 64th text is kept in memory: half of the steps are then done without reading the file.
_FEW_LOOKUPS = 100
_KEPT_EVERY = 64


class SortedTexts:
    """Texts by ordinal; `offsets` start at 0 and lead into `blob`, one more of them than there are texts."""

    def __init__(self, offsets: memoryview[int], blob: memoryview[int]) -> None:
        self._offsets = offsets
        self._blob = blob
        self._count = len(offsets) - 1
        self._kept: list[bytes] = []
        self._lookups = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, ordinal: int) -> bytes:
        return self._blob[self._offsets[ordinal] : self._offsets[ordinal + 1]].tobytes()

    def find(self, text: bytes) -> int | None:
        """The ordinal of a text, or None where it is not there."""
        place = self.place(text)
        return place if place < self._count and self[place] == text else None

    def place(self, text: bytes) -> int:
        """The ordinal of a text where it is there; else of the text before which it belongs."""
        blob, offsets = self._blob, self._offsets
        low, high = self._surroundings(text)
        while low < high:
            middle = (low + high) // 2
            if blob[offsets[middle] : offsets[middle + 1]].tobytes() < text:
                low = middle + 1
            else:
                high = middle
        return low

    def _surroundings(self, text: bytes) -> tuple[int, int]:
        """Between which ordinals a text must be."""
        self._lookups += 1
        if self._lookups < _FEW_LOOKUPS:
            return 0, self._count
        if not self._kept:
            self._kept = [self[ordinal] for ordinal in range(0, self._count, _KEPT_EVERY)]
        after = _KEPT_EVERY * bisect_right(self._kept, text)
        return max(0, after - _KEPT_EVERY), min(after, self._count)
