"""What the words of a search mean: other words for them, words that say nothing, and words that name targets."""

from __future__ import annotations

from collections.abc import Iterator

from antiphase import arch

SYNONYMS: dict[str, tuple[str, ...]] = {
    "spacing": ("separat", "nop", "wait state", "between"),
    "separation": ("separat", "nop", "wait state"),
    "hazard": ("separat", "wait state"),
    "width": ("bits",),
    "size": ("bytes",),
    "capacity": ("bytes",),
    "wait": ("counter", "cnt"),
    "race": ("order", "visib"),
    "sync": ("barrier", "synchron"),
    "range": ("reach", "most"),
    "limit": ("most", "max_"),
    "occupancy": ("wave slots", "waves_per_simd", "granule"),
    "latency": ("passes", "cycles", "stall"),
    "dma": ("global to lds", "into lds", "asynchronous"),
    "ds_bpermute": ("lds_permute", "permute"),
    "ds_permute": ("lds_permute", "permute"),
    "sparse": ("swmmac", "smfmac"),
    "swmmac": ("sparse",),
    "smfmac": ("sparse",),
    "fp8": ("8-bit float", "8bit_float"),
    "bf8": ("8-bit float", "8bit_float"),
    "vmcnt": ("vm_cnt",),
    "lgkmcnt": ("lgkm_cnt",),
    "vscnt": ("vs_cnt",),
    "register": ("vgpr",),
    "warp": ("wave",),
    "thread": ("lane",),
    "block": ("workgroup",),
    "tensorcore": ("matrix",),
    "ldmatrix": ("transpos",),
    "shuffle": ("permute", "permlane"),
}
"""A word of a search, and beginnings that the reference has in its place."""

SKIPPED = ("a", "an", "and", "are", "do", "does", "for", "how", "in", "is", "many", "of", "on", "the", "to", "what")
"""Said in a question, and no part of what is sought."""

LAYOUT = ("layout", "lane", "lanes", "element", "elements", "fragment", "register", "registers", "operand", "map")
"""Words that ask for the layout explorer where a matrix instruction stands beside them."""

FAMILIES = ("mfma", "wmma", "smfmac", "swmmac")
"""What makes a word the mnemonic of a matrix instruction."""


def filters() -> dict[str, tuple[int, str]]:
    """Words that name targets: a bit a target in the order of the targets, and how to spell the word."""
    found: dict[str, tuple[int, str]] = {}
    for word, spelled, bit in _named():
        found[word] = (found.get(word, (0, ""))[0] | bit, spelled)
    return found


def _named() -> Iterator[tuple[str, str, int]]:
    for number, target in enumerate(arch.targets()):
        bit = 1 << number
        yield target.name, target.name, bit
        family = target.generation.split()[0]
        for spelled in (target.generation, family):
            yield spelled.lower().replace(" ", ""), spelled, bit
        for product in target.products:
            # "Radeon RX 7900 XTX" is named by its number; words without one are shared by many.
            for word in product.split():
                if any(letter.isdigit() for letter in word):
                    yield word.lower(), product, bit
