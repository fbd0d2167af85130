"""What is logged of a bug: where it is, and nothing of what somebody has said.

Knows exceptions, and that their texts may quote a request.
"""

from traceback import format_tb


def traceback_without_words(error: BaseException) -> str:
    """Return where a bug is, and in what it has shown itself, without texts that may hold what somebody has sent."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
        chain.append(cause)
    return "\n".join(f"{type(one).__qualname__}\n{''.join(format_tb(one.__traceback__))}" for one in chain)
