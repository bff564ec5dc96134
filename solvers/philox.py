"""Random words in compiled code: Philox4x64-10, whose streams are told apart by a key.

The generator maps a 256-bit counter to four 64-bit words by ten rounds of multiplication and exclusive or, under a 128-bit key
(J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC '11 (2011)); each key
is a stream of its own.  The words are those of :class:`numpy.random.Philox` with the same seed.

Whole numbers.  For a word w, the high half of the 128-bit product w * n is below n, and the low half is again nearly uniform
and can serve another factor.  The k digits found in this way for factors with the product N are exactly uniform if words whose
last low half is below 2^64 mod N are thrown away (D. Lemire, ACM TOMACS 29 (2019) 3; batches: N. Brackett-Rozinsky and
D. Lemire, Software: Practice and Experience 55 (2025) 155).

A stream is one array of eleven words: the key (2), the counter (4), the last words made (4) and how many of them are used.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from solvers.compiled import compiled

Stream: TypeAlias = NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_FIRST_KEY, _SECOND_KEY = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS = 10
_KEY, _COUNTER, _WORDS, _USED = 0, 2, 6, 10
_NONE, _ONE, _FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


def stream(seed: np.random.SeedSequence) -> Stream:
    """Return the stream of a seed, at its beginning."""
    state = np.zeros(11, np.uint64)
    state[_KEY:_COUNTER] = seed.generate_state(2, np.uint64)
    state[_USED] = _FOUR
    return state


def _high_half(typing: Any, left: Any, right: Any) -> Any:
    def multiply(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), multiply


high_half: Any = intrinsic(_high_half)
"""The upper 64 bits of the product of two 64-bit words, in compiled code."""


@compiled
def _refill(state: Stream) -> None:
    """Make the four words of the next counter."""
    for place in range(_COUNTER, _WORDS):
        state[place] += _ONE
        if state[place] != _NONE:
            break
    a, b, c, d = state[2], state[3], state[4], state[5]
    key, other = state[0], state[1]
    for _ in range(_ROUNDS):
        a, b, c, d = high_half(_SECOND, c) ^ b ^ key, _SECOND * c, high_half(_FIRST, a) ^ d ^ other, _FIRST * a
        key += _FIRST_KEY
        other += _SECOND_KEY
    state[6], state[7], state[8], state[9] = a, b, c, d
    state[_USED] = _NONE


@compiled
def next_word(state: Stream) -> np.uint64:
    """Return the next word of a stream."""
    if state[_USED] == _FOUR:
        _refill(state)
    word: np.uint64 = state[np.uint64(_WORDS) + state[_USED]]
    state[_USED] += _ONE
    return word


@compiled
def below(state: Stream, n: np.uint64) -> np.uint64:
    """Return a whole number from 0 to n - 1, each exactly as likely."""
    while True:
        word = next_word(state)
        low = word * n
        # The remainder costs a division, and is less than n: it is only looked at when it can matter.
        if low >= n or low >= (_NONE - n) % n:
            chosen: np.uint64 = high_half(word, n)
            return chosen
