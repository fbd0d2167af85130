"""What services say when a prompt does not fit is understood, with both numbers; what they say otherwise is not."""

import pytest
from hypothesis import given, strategies as st

from custom_components.chatterbox.agent.providers.context_overflow import ContextOverflow, find_overflow


@pytest.mark.parametrize(
    ("words", "prompt", "window"),
    [
        (
            (
                "This model's maximum context length is 4097 tokens. However, your messages resulted in 13393 tokens."
                " Please reduce the length of the messages."
            ),
            13393,
            4097,
        ),
        (
            (
                "This model's maximum context length is 4097 tokens, however you requested 4116 tokens"
                " (1044 in your prompt; 3072 for the completion). Please reduce your prompt; or completion length."
            ),
            1044,
            4097,
        ),
        ("context_length_exceeded Your input exceeds the context window of this model.", None, None),
        (
            (
                "This model's maximum context length is 65536 tokens. However, you requested 80000 tokens"
                " (75904 in the messages, 4096 in the completion). Please reduce the length of the messages or"
                " completion."
            ),
            75904,
            65536,
        ),
        (
            (
                "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens."
                " Please reduce the length of the input messages."
            ),
            5000,
            4096,
        ),
        ("this model's maximum context length is 4096 tokens, but the prompt contains 5000 input tokens", 5000, 4096),
        (
            (
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that"
                " `max_model_len` is no smaller than the number of text tokens."
            ),
            5000,
            4096,
        ),
        (
            (
                "You passed 5000 input tokens and requested 1000 output tokens. However, the model's context length"
                " is only"
                " 4096 tokens, resulting in a maximum input length of 3096 tokens."
            ),
            5000,
            4096,
        ),
        (
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 3000. This model's maximum context length is"
                " 4096"
                " tokens and your request has 1222 input tokens (3000 > 4096 - 1222)."
            ),
            1222,
            4096,
        ),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, 4096),
        (
            (
                "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a"
                " total of"
                " 6000 tokens: 5000 tokens from the input messages and 1000 tokens for the completion."
            ),
            5000,
            4096,
        ),
        (
            "request (45019 tokens) exceeds the available context size (16384 tokens), try increasing it",
            45019,
            16384,
        ),
        ("the request exceeds the available context size, try increasing it", None, None),
        (
            (
                "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with"
                " context length of only 7866 tokens, which is not enough."
            ),
            10136,
            7866,
        ),
        (
            (
                "The number of tokens to keep from the initial prompt is greater than the context length"
                " (n_keep: 13055>= n_ctx: 4096)."
            ),
            13055,
            4096,
        ),
        ("prompt is too long: 208310 tokens > 200000 maximum", 208310, 200000),
        (
            (
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or"
                " `max_tokens` and try again"
            ),
            178959,
            200000,
        ),
        (
            "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            65673,
            32768,
        ),
        (
            (
                "Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier"
                " `on_demand` on"
                " tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again."
            ),
            14137,
            12000,
        ),
        ("Request too large for gpt-4o on tokens per min (TPM): Limit 30,000, Requested 342,389.", 342389, 30000),
        ("Please reduce the length of the messages or completion.", None, None),
        (
            "Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192",
            10000,
            8192,
        ),
        (
            "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
            1200293,
            1048576,
        ),
        (
            (
                "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens"
                " (39000"
                " of text input, 2832 of tool input, 1000 in the output). Please reduce the length of either one."
            ),
            41832,
            32768,
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested about 9000 tokens.",
            9000,
            8192,
        ),
        ("prompt too long; exceeded max context length by 4096 tokens", None, None),
        ("the input length exceeds the context length", None, None),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            537812,
            131072,
        ),
        ("Your request exceeded model token limit: 262144 (requested: 300000)", 300000, 262144),
        ("Range of input length should be [1, 229376]", None, 229376),
        ("prompt token count of 200000 exceeds the limit of 128000", 200000, 128000),
        ("Request body too large for gpt-4o model. Max size: 8000 tokens. tokens_limit_reached", None, 8000),
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
            5000,
            4096,
        ),
        ("model_context_window_exceeded", None, None),
        ("Input is too long for requested model.", None, None),
    ],
)
def test_a_prompt_that_does_not_fit(words: str, prompt: int | None, window: int | None) -> None:
    assert find_overflow(words) == ContextOverflow(prompt, window)
    assert find_overflow(words.upper()) is not None


@pytest.mark.parametrize(
    "words",
    [
        "",
        "max_tokens is too large: 50000. This model supports at most 16384 completion tokens",
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
        "Too many tokens, please wait before trying again.",
        "You exceeded your current quota, please check your plan and billing details.",
        "The model does not exist. Its context length is unknown.",
        "Request exceeds the maximum size",
        "num_ctx must be a number",
        "string too long. Expected a string with maximum length 64",
        "This model does not support context windows",
    ],
)
def test_something_else(words: str) -> None:
    assert find_overflow(words) is None


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_numbers_are_read_with_and_without_commas(prompt: int, window: int) -> None:
    expected = ContextOverflow(prompt, window)
    assert find_overflow(f"prompt is too long: {prompt} tokens > {window} maximum") == expected
    assert find_overflow(f"prompt is too long: {prompt:,} tokens > {window:,} maximum") == expected


@given(st.text(max_size=300))
def test_no_words_are_too_odd(words: str) -> None:
    find_overflow(f"prompt is too long: {words}")
