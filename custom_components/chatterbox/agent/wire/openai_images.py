"""OpenAI's Images format: a prompt to JSON, and the answer to an image.

Source: OpenAI API reference, "Create image"; Google's and LocalAI's pages on the same
interface.
"""

import binascii
from base64 import b64decode
from typing import Final

from pydantic import TypeAdapter

from ..errors import ProviderReplyInvalid
from ..messages import JsonObject, Picture, picture_type
from .reply_reader import Lenient, TokenCounts, WireModel, parse_as

_SENDS_PICTURES: Final = ("gpt-image", "chatgpt-image")
"""Prefixes of models that always send the image itself and refuse to be asked for it."""


class _Item(WireModel):
    b64_json: str | None = None
    revised_prompt: Lenient[str] = None


class _Answer(WireModel):
    data: list[_Item]
    usage: Lenient[TokenCounts] = None


_ANSWER: Final = TypeAdapter(_Answer)


def request_to_payload(prompt: str, model: str) -> JsonObject:
    """Return the body of `POST /images/generations`: one image, not the address of one."""
    payload: JsonObject = {
        "model": model,
        "prompt": prompt,
        "n": 1,
    }
    if not model.startswith(_SENDS_PICTURES):
        payload["response_format"] = "b64_json"
    return payload


def parse_answer(text: str) -> Picture:
    """Parse the image of an answer. Raises `ProviderReplyInvalid` if there is none."""
    answer = parse_as(
        _ANSWER,
        text,
        "a picture",
    )
    if answer.data:
        encoded = answer.data[0].b64_json
    else:
        encoded = None
    if not encoded:
        raise ProviderReplyInvalid(
            "the service sent no picture, or only the address of one"
        )
    try:
        data = b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as err:
        raise ProviderReplyInvalid(
            "the service sent a picture that cannot be decoded"
        ) from err
    mime_type = picture_type(data)
    if mime_type is None:
        raise ProviderReplyInvalid(
            "the service sent something that is no PNG, JPEG or WebP file"
        )
    usage = (answer.usage or TokenCounts()).usage()
    return Picture(
        data,
        mime_type,
        answer.data[0].revised_prompt,
        usage,
    )
