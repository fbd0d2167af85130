"""Writes a small random model with the vocabulary of another one: it says nothing sensible, but reads the same tokens.

Source of the format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import random
import struct
from array import array
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
CONTEXT: Final = 32_768
"""Tokens that the model can read."""


def write_model(source: Path, target: Path) -> None:
    """Write a model of one narrow layer, with the vocabulary of the model in `source`."""
    vocabulary, tokens = _vocabulary(source.read_bytes())
    numbers = {
        "context_length": CONTEXT,
        "embedding_length": _WIDTH,
        "block_count": 1,
        "feed_forward_length": _WIDTH,
        "attention.head_count": 1,
        "attention.head_count_kv": 1,
    }
    entries = [
        _text("general.architecture") + struct.pack("<I", _STRING) + _text("llama"),
        *(_text(f"llama.{name}") + struct.pack("<II", _UINT32, number) for name, number in numbers.items()),
        _text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _FLOAT32, 1e-5),
        *vocabulary,
    ]
    square, layer = (_WIDTH, _WIDTH), "blk.0."
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (_WIDTH, tokens),
        "output_norm.weight": (_WIDTH,),
        f"{layer}attn_norm.weight": (_WIDTH,),
        f"{layer}ffn_norm.weight": (_WIDTH,),
        **{f"{layer}{part}.weight": square for part in ("attn_q", "attn_k", "attn_v", "attn_output")},
        **{f"{layer}{part}.weight": square for part in ("ffn_gate", "ffn_up", "ffn_down")},
    }
    described, weights, generator = b"", b"", random.Random(0)  # noqa: S311  # no secret
    for name, shape in shapes.items():
        described += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(weights))
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        weights += array("f", ((byte - 127.5) / 512 for byte in generator.randbytes(count))).tobytes()
        weights += bytes(-len(weights) % _ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(entries)) + b"".join(entries) + described
    target.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + weights)


def _vocabulary(model: bytes) -> tuple[list[bytes], int]:
    """Return the entries on the tokenizer of a model, as they are written there, and the number of its tokens."""
    (count,) = struct.unpack_from("<Q", model, 16)
    place, entries, tokens = 24, list[bytes](), 0
    for _ in range(count):
        begin, (length,) = place, struct.unpack_from("<Q", model, place)
        name = model[place + 8 : place + 8 + length]
        (kind,) = struct.unpack_from("<I", model, place + 8 + length)
        value = place + 12 + length
        place = _end(model, value, kind)
        if name.startswith(b"tokenizer.ggml."):
            entries.append(model[begin:place])
        if name == b"tokenizer.ggml.tokens":
            (tokens,) = struct.unpack_from("<Q", model, value + 4)
    return entries, tokens


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
    return struct.pack("<Q", len(text)) + text.encode()
