"""Writes small models with the vocabulary of another one, which read the same tokens: one of noise, one of given texts.

Source of the format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import itertools
import math
import random
import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

_UINT32: Final = 4
_FLOAT32: Final = 6
_STRING: Final = 8
_ARRAY: Final = 9
_SIZES: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value by its type."""
_WIDTH: Final = 32
_ALIGNMENT: Final = 32
_CONTEXT: Final = 32_768
"""Most tokens that the model can read."""
_CERTAIN: Final = 100.0
"""Weight that leaves all other tokens without a chance."""
_TOKENS: Final = "tokenizer.ggml.tokens"
_END: Final = "tokenizer.ggml.eos_token_id"
_KINDS: Final = "tokenizer.ggml.token_type"
_NORMAL: Final = struct.pack("<i", 1)
_CHARACTERS: Final = 4
"""Least characters of a piece of a given text."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens of a model."""

    entries: Mapping[str, bytes]
    """The entries of its file on the tokenizer by name, as they are written there."""
    tokens: Mapping[str, int]
    """The numbers of all tokens; each is spelled with a character for each byte."""
    end: int
    """The token that ends an answer."""

    @classmethod
    def of(cls, model: bytes) -> Vocabulary:
        """Read the file of a model."""
        entries, tokens, end = dict[str, bytes](), list[str](), 0
        for name, value, begin, place in _entries(model):
            if name.startswith("tokenizer.ggml."):
                entries[name] = model[begin:place]
            if name == _TOKENS:
                tokens = list(_strings(model, value + 4))
            if name == _END:
                (end,) = struct.unpack_from("<I", model, value)
        return cls(entries, {token: number for number, token in enumerate(tokens)}, end)

    def extended(self, pieces: Iterable[str]) -> Vocabulary:
        """Add those that are missing. A tokenizer never reads them, as it has no way to merge others into them."""
        added = [piece for piece in dict.fromkeys(pieces) if piece not in self.tokens]
        longer = {
            _TOKENS: _longer(
                self.entries[_TOKENS], _TOKENS, [_text(piece) for piece in added]
            ),
            _KINDS: _longer(self.entries[_KINDS], _KINDS, [_NORMAL] * len(added)),
        }
        numbers = {piece: len(self.tokens) + place for place, piece in enumerate(added)}
        return Vocabulary(
            {**self.entries, **longer}, {**self.tokens, **numbers}, self.end
        )


def _longer(entry: bytes, name: str, added: Sequence[bytes]) -> bytes:
    """Return the entry of an array with more elements."""
    place = 8 + len(name) + 8
    (count,) = struct.unpack_from("<Q", entry, place)
    return (
        entry[:place]
        + struct.pack("<Q", count + len(added))
        + entry[place + 8 :]
        + b"".join(added)
    )


def write_noise(source: Path, target: Path) -> None:
    """Write a model of one narrow layer that says nothing sensible, with the vocabulary of the model in `source`."""
    vocabulary, generator = Vocabulary.of(source.read_bytes()), random.Random(0)  # noqa: S311  # no secret

    def noise(name: str) -> bytes:
        count = math.prod(_shape(vocabulary, name, _WIDTH))
        return array(
            "f", ((byte - 127.5) / 512 for byte in generator.randbytes(count))
        ).tobytes()

    _write(
        target,
        vocabulary,
        _WIDTH,
        {name: noise(name) for name in ("token_embd.weight", *_NORMS, *_LAYER)},
    )


def write_texts(
    source: Path, target: Path, texts: Mapping[str, str], *, repeats: bool = False
) -> None:
    """Write a model that says the text whose key is the last token of its prompt, else the first one.

    It looks at nothing but the latest token, whose successor is certain, and writes
    each text in pieces that differ. With `repeats`, a text begins anew after its end.
    The longer the texts, the wider and slower the model.
    """
    used = {_spelled(key) for key in texts}
    written = {_spelled(key): [*_pieces(text, used)] for key, text in texts.items()}
    vocabulary = Vocabulary.of(source.read_bytes()).extended(
        piece for pieces in written.values() for piece in pieces
    )
    numbers, successors = vocabulary.tokens, dict[int, int]()
    for key, pieces in written.items():
        chain = [numbers[piece] for piece in (key, *pieces)]
        successors |= dict(pairwise([*chain, chain[1] if repeats else vocabulary.end]))
    places = {token: place for place, token in enumerate(successors)}
    width = (len(places) // _WIDTH + 1) * _WIDTH
    other = len(places)
    """The place of all tokens without a successor of their own."""
    embedded = array("f", bytes(4 * width * len(numbers)))
    chosen = array("f", bytes(4 * width * len(numbers)))
    for token in range(len(numbers)):
        embedded[token * width + places.get(token, other)] = 1.0
    for place, successor in enumerate(
        (*successors.values(), next(iter(successors.values())))
    ):
        chosen[successor * width + place] = _CERTAIN
    ones, zeros = array("f", [1.0] * width).tobytes(), bytes(4 * width * width)
    weights = {
        "token_embd.weight": embedded.tobytes(),
        "output.weight": chosen.tobytes(),
    }
    _write(
        target,
        vocabulary,
        width,
        weights | dict.fromkeys(_NORMS, ones) | dict.fromkeys(_LAYER, zeros),
    )


def _pieces(text: str, used: set[str]) -> Iterator[str]:
    """Split a text into pieces that are not used yet, a few characters each. Raises ValueError if the last one is."""
    begin = 0
    while begin < len(text):
        end = begin + _CHARACTERS
        while (piece := _spelled(text[begin:end])) in used or len(text) - end in range(
            1, _CHARACTERS
        ):
            end += 1
            if end > len(text):
                raise ValueError(f"the end of {text!r} occurs before")
        yield piece
        used.add(piece)
        begin = end


def _spelled(text: str) -> str:
    """Return a text as vocabularies spell it: a character for each byte, others for those that cannot be printed."""
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = itertools.count(0x100)
    characters = [
        chr(byte if byte in printed else next(others)) for byte in range(0x100)
    ]
    return "".join(characters[byte] for byte in text.encode())


_NORMS: Final = (
    "output_norm.weight",
    "blk.0.attn_norm.weight",
    "blk.0.ffn_norm.weight",
)
_LAYER: Final = tuple(
    f"blk.0.{part}.weight"
    for part in (
        "attn_q",
        "attn_k",
        "attn_v",
        "attn_output",
        "ffn_gate",
        "ffn_up",
        "ffn_down",
    )
)


def _shape(vocabulary: Vocabulary, name: str, width: int) -> tuple[int, ...]:
    if name in _NORMS:
        return (width,)
    return (width, width if name in _LAYER else len(vocabulary.tokens))


def _write(
    target: Path, vocabulary: Vocabulary, width: int, weights: Mapping[str, bytes]
) -> None:
    numbers = {
        "context_length": _CONTEXT,
        "embedding_length": width,
        "block_count": 1,
        "feed_forward_length": width,
        "attention.head_count": 1,
        "attention.head_count_kv": 1,
    }
    entries = [
        _text("general.architecture") + struct.pack("<I", _STRING) + _text("llama"),
        *(
            _text(f"llama.{name}") + struct.pack("<II", _UINT32, number)
            for name, number in numbers.items()
        ),
        _text("llama.attention.layer_norm_rms_epsilon")
        + struct.pack("<If", _FLOAT32, 1e-5),
        *vocabulary.entries.values(),
    ]
    described, place = b"", 0
    for name, data in weights.items():
        shape = _shape(vocabulary, name, width)
        described += _text(name) + struct.pack(
            f"<I{len(shape)}QIQ", len(shape), *shape, 0, place
        )
        place += len(data) + -len(data) % _ALIGNMENT
    head = (
        b"GGUF"
        + struct.pack("<IQQ", 3, len(weights), len(entries))
        + b"".join(entries)
        + described
    )
    with target.open("wb") as file:
        for data in (head, *weights.values()):
            file.write(data + bytes(-len(data) % _ALIGNMENT))


def _entries(model: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield the name of each entry of a model, where its value begins, where it begins itself, and where it ends."""
    (count,) = struct.unpack_from("<Q", model, 16)
    place = 24
    for _ in range(count):
        begin, (length,) = place, struct.unpack_from("<Q", model, place)
        name = model[place + 8 : place + 8 + length].decode()
        (kind,) = struct.unpack_from("<I", model, place + 8 + length)
        value = place + 12 + length
        place = _end(model, value, kind)
        yield name, value, begin, place


def _strings(model: bytes, place: int) -> Iterator[str]:
    """Yield the elements of an array of texts, whose number is at `place`."""
    (count,) = struct.unpack_from("<Q", model, place)
    place += 8
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", model, place)
        yield model[place + 8 : place + 8 + length].decode()
        place += 8 + length


def _end(model: bytes, place: int, kind: int) -> int:
    """Return where the value ends that begins at `place`."""
    if kind == _STRING:
        return place + 8 + int(struct.unpack_from("<Q", model, place)[0])
    if kind != _ARRAY:
        return place + _SIZES[kind]
    inner, count = struct.unpack_from("<IQ", model, place)
    place += 12
    if inner != _STRING:
        return place + int(count) * _SIZES[inner]
    for _ in range(count):
        place = _end(model, place, inner)
    return place


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
