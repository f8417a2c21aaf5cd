"""What decides an index besides the notes themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vault_eval.errors import UsageError
from vault_eval.index.prefix import PrefixKind
from vault_eval.limits import CHUNK_MAX_CHARACTERS, CHUNK_OVERLAP_CHARACTERS, CHUNK_TARGET_CHARACTERS
from vault_eval.vault.excluded import glob_problem
from vault_eval.vault.note_text import LABEL_PROPERTY
from vault_eval.vault.paths import quoted

# Changes when the same notes and options would give other terms or chunks: an older index is then rebuilt.
ANALYSIS = 1


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """Sizes in code points: the target, the hard limit, and what a chunk repeats of the one before it in its section."""

    target: int = CHUNK_TARGET_CHARACTERS
    maximum: int = CHUNK_MAX_CHARACTERS
    overlap: int = CHUNK_OVERLAP_CHARACTERS

    @property
    def room(self) -> int:
        """What a chunk may hold beside the overlap."""
        return max(self.maximum - self.overlap, 1)

    @property
    def aim(self) -> int:
        """The target where it leaves room for the overlap."""
        return min(self.target, self.room)


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """The settings of one index; `exclude` are globs of pages left out beside Obsidian's own excluded files."""

    sizes: ChunkSizes = field(default_factory=ChunkSizes)
    prefix: PrefixKind = "synthetic"
    stem: str | None = None
    exclude: tuple[str, ...] = ()
    pdf: bool = False  # whether PDFs are indexed too, page by page

    def as_json(self) -> dict[str, object]:
        """The form kept in the index header, compared to tell whether an index was built with these options."""
        return {
            "analysis": ANALYSIS,
            "chunk_chars": self.sizes.target,
            "chunk_max": self.sizes.maximum,
            "overlap": self.sizes.overlap,
            "prefix": self.prefix,
            "stem": self.stem,
            "exclude": list(self.exclude),
            "label_property": LABEL_PROPERTY,
            # Left out where it is off, so that an index of notes alone is what it always was.
            **({"pdf": True} if self.pdf else {}),
        }

    def unlike(self, header: Mapping[str, object]) -> dict[str, tuple[object, object]]:
        """What an index with this header was built with otherwise: name -> its value there, and the one of these options.

        The version of the PDF reader, which stands in a header too, is none of the options.
        """
        mine = self.as_json()
        names = {**mine, **header}.keys() - {"pdf_reader"}
        return {name: (header.get(name), mine.get(name)) for name in sorted(names) if header.get(name) != mine.get(name)}

    def as_arguments(self) -> list[str]:
        """The command-line options that give these settings; defaults are left out."""
        default = IndexOptions()
        arguments: list[str] = []
        if self.sizes.target != default.sizes.target:
            arguments += ["--chunk-chars", str(self.sizes.target)]
        if self.sizes.maximum != default.sizes.maximum:
            arguments += ["--chunk-max", str(self.sizes.maximum)]
        if self.sizes.overlap != default.sizes.overlap:
            arguments += ["--overlap", str(self.sizes.overlap)]
        if self.prefix != default.prefix:
            arguments += ["--prefix", self.prefix]
        if self.stem is not None:
            arguments += ["--stem", self.stem]
        if self.pdf:
            arguments.append("--pdf")
        for glob in self.exclude:
            # A word that starts with a hyphen would be taken for an option of its own.
            arguments += [f"--exclude={glob}"] if glob.startswith("-") else ["--exclude", glob]
        return arguments


def options_from_json(value: object) -> IndexOptions:
    """The options kept as JSON. Raises UsageError where a value is not allowed."""
    exclude = value.get("exclude", []) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(exclude, list) or not all(isinstance(glob, str) for glob in exclude):
        # Leaving a damaged exclusion out would index what its owner wants kept out.
        raise UsageError("the remembered index options are damaged; run index again and name the options")
    return checked_options(
        value.get("chunk_chars", IndexOptions().sizes.target),
        value.get("chunk_max", IndexOptions().sizes.maximum),
        value.get("overlap", IndexOptions().sizes.overlap),
        value.get("prefix", "synthetic"),
        value.get("stem"),
        tuple(exclude),
        pdf=value.get("pdf") is True,
    )


def checked_options(
    target: object,
    maximum: object,
    overlap: object,
    prefix: object,
    stem: object,
    exclude: tuple[str, ...],
    *,
    pdf: bool = False,
) -> IndexOptions:
    """Options whose sizes can be: 50 <= target <= maximum <= 100,000 and 0 <= overlap <= half of the target."""
    if not (isinstance(target, int) and isinstance(maximum, int) and isinstance(overlap, int)) or isinstance(overlap, bool):
        raise UsageError("--chunk-chars, --chunk-max and --overlap take whole numbers of characters")
    if not 50 <= target <= maximum <= 100_000:
        raise UsageError(
            f"--chunk-chars {target} and --chunk-max {maximum}: allowed is 50 <= chunk-chars <= chunk-max <= 100,000"
        )
    if not 0 <= overlap <= target // 2:
        raise UsageError(f"--overlap {overlap}: allowed is 0 to half of --chunk-chars, which is {target // 2}")
    if prefix not in ("synthetic", "none"):
        raise UsageError(f"--prefix {prefix!r}: allowed are synthetic and none")
    for glob in exclude:
        problem = glob_problem(glob)
        if problem is not None:
            raise UsageError(f"--exclude {quoted(glob)}: {problem}")
    kind: PrefixKind = "none" if prefix == "none" else "synthetic"
    language = None if stem in (None, "none") else str(stem)
    return IndexOptions(ChunkSizes(target, maximum, overlap), kind, language, exclude, pdf)
