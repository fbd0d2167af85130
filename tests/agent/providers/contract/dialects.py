"""The wire formats that the contract is tested over."""

from .dialect import Dialect
from .openai_chat import OpenAIChatDialect

DIALECTS: tuple[Dialect, ...] = (OpenAIChatDialect(),)
