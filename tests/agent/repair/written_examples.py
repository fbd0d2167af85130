"""Messages as models write them, in every format that the recogniser knows, with what is meant by them.

The offered tools are those of `OFFERED`. Knows formats; must not know how they are
recognised.
"""

from dataclasses import dataclass
from typing import Final

from custom_components.chatterbox.agent.messages import ToolDefinition
from tests.support.doubles import tool

TURN_ON: Final = "intent__HassTurnOn"
CONTEXT: Final = "homeassistant__GetLiveContext"
OFFERED: Final[tuple[ToolDefinition, ...]] = (
    tool(CONTEXT, read_only=True),
    tool("light"),
    tool(TURN_ON),
)

_ON: Final = '{"name": "Kitchen Light"}'
_CALL: Final = f'{{"name": "HassTurnOn", "arguments": {_ON}}}'
_TURN_ON_KITCHEN: Final = ("HassTurnOn", '{"name":"Kitchen Light"}')
_LIVE_CONTEXT: Final = ("GetLiveContext", "{}")
_BAR: Final = "\uff5c"
"""DeepSeek's own vertical line."""


@dataclass(frozen=True, slots=True)
class Written:
    """A message, and what it comes to."""

    format: str
    text: str
    spoken: str = ""
    thought: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Names and arguments."""


REASONING: Final = (
    Written(
        "think",
        "<think>The user wants light. </think>The light is on.",
        "The light is on.",
        "The user wants light. ",
    ),
    Written("thinking", "<thinking>Hm.</thinking>\n\nOn.", "On.", "Hm."),
    Written("reasoning", "<reasoning>Hm.</reasoning>On.", "On.", "Hm."),
    Written("thought", "<thought>Hm.</thought>On.", "On.", "Hm."),
    Written("capitals", "<THINK>Hm.</Think>On.", "On.", "Hm."),
    Written("Seed", "<seed:think>Hm.</seed:think>On.", "On.", "Hm."),
    Written("Magistral", "[THINK]Hm.[/THINK]On.", "On.", "Hm."),
    Written("Cohere", "<|START_THINKING|>Hm.<|END_THINKING|>On.", "On.", "Hm."),
    Written("Kimi-VL", "◁think▷Hm.◁/think▷On.", "On.", "Hm."),
    Written("Gemma 4", "<|channel>thought\nHm.<channel|>On.", "On.", "\nHm."),
    Written("unclosed", "<think>Hm, 3 < 5", "", "Hm, 3 < 5"),
    Written(
        "opened twice", "<think>One.</think><think>Two.</think>On.", "On.", "One.Two."
    ),
    Written("in the middle", "One <think>hm</think> two.", "One two.", "hm"),
    Written("closed only", "</think>\n\nThe light is on.", "The light is on."),
    Written("empty", "<think>\n\n</think>\n\nOn.", "On.", "\n\n"),
    Written(
        "harmony",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>On.<|return|>",
        "On.",
        "Hm.",
    ),
    Written(
        "a token of its own",
        "On. <|thought|>\nThe task is done.",
        "On. ",
        "\nThe task is done.",
    ),
    Written("harmony, unfinished", "<|channel|>analysis<|message|>Hm.", "", "Hm."),
    Written(
        "harmony without a final channel",
        "<|start|>assistant<|message|>On.<|end|>",
        "On.",
    ),
    Written(
        "harmony, said before calls",
        "<|channel|>commentary<|message|>One moment.<|end|>",
        "One moment.",
    ),
    Written("harmony, header only", "<|channel|>final", ""),
    Written(
        "harmony, a header too long",
        "<|start|>assistant" + " x" * 130,
        "x" + " x" * 129,
    ),
    Written(
        "harmony, stripped",
        "analysisWe need light.assistantfinalThe light is on.",
        "The light is on.",
        "We need light.",
    ),
    Written(
        "harmony, stripped with roles",
        "assistantanalysisHm.assistantfinal21 °C.",
        "21 °C.",
        "Hm.",
    ),
    Written(
        "harmony, stripped, as recorded",
        "acommentaryThe light is on.",
        "The light is on.",
    ),
    Written(
        "harmony, stripped, glued",
        "On.assistantWe are done.assistantfinalIt is on.",
        "On. It is on.",
        "We are done.",
    ),
    Written(
        "harmony, stripped, no answer",
        "assistantWe got it.assistantThe light is on.",
        "The light is on.",
        "We got it.The light is on.",
    ),
)

CALLS: Final = (
    Written("Hermes", f"<tool_call>\n{_CALL}\n</tool_call>", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "Hermes, after words",
        f"Sure.\n\n<tool_call>{_CALL}</tool_call>\nDone.",
        "Sure.\n\nDone.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "Hermes, two",
        f'<tool_call>{_CALL}</tool_call>\n<tool_call>{{"name": "GetLiveContext"}}</tool_call>',
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Hermes, two in one",
        f'<tool_call>\n{_CALL}\n{{"name": "GetLiveContext", "arguments": null}}</tool_call>',
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Hermes, a list",
        f'<tool_calls>[{_CALL}, {{"name": "GetLiveContext", "arguments": {{}}}}]</tool_calls>',
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Hermes, nested",
        f"<tool_calls>\n<tool_call>{_CALL}</tool_call>\n</tool_calls>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written("Hermes, unclosed", f"<tool_call>\n{_CALL}", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "Hermes, unclosed, then words",
        f"<tool_call>\n{_CALL}\nIt is on.",
        "It is on.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "Hermes, opened instead of closed",
        f"<tool_call>{_CALL}<tool_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Hermes, closed otherwise",
        f"<tool_call>{_CALL}</function_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Hermes, a brace too many",
        f"<tool_call>{_CALL}}}</tool_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Hermes, arguments as text",
        '<tool_call>{"name": "HassTurnOn", "arguments": "{}"}</tool_call>',
        calls=(("HassTurnOn", "{}"),),
    ),
    Written(
        "Hermes, Python's quotes",
        "<tool_call>{'name': 'HassTurnOn', 'arguments': {'on': True}}</tool_call>",
        calls=(("HassTurnOn", '{"on":true}'),),
    ),
    Written(
        "Hermes, unknown tool",
        '<tool_call>{"name": "Dance", "arguments": {}}</tool_call>',
        calls=(("Dance", "{}"),),
    ),
    Written(
        "Hermes, unreadable",
        "<tool_call>kitchen!</tool_call>",
        calls=(("", "kitchen!"),),
    ),
    Written("Hermes, nothing in it", "<tool_call>\n</tool_call>On.", "On."),
    Written("a tag in prose", "Use the <tool> for it.", "Use the for it."),
    Written("tool tag", f"<tool>\n{_CALL}\n</tool>", calls=(_TURN_ON_KITCHEN,)),
    Written("Nemotron", f"<TOOLCALL>[{_CALL}]</TOOLCALL>", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "OpenAI's envelope",
        f'<tool_call>{{"type": "function", "function": {_CALL}}}</tool_call>',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "OpenAI's list",
        f'{{"tool_calls": [{{"id": "1", "type": "function", "function": {_CALL}}}]}}',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Qwen-coder",
        "<tool_call>\n<function=HassTurnOn>\n<parameter=name>\nKitchen Light\n</parameter>\n</function>\n</tool_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Qwen-coder, bare",
        "<function=HassTurnOn>\n<parameter=name>\nKitchen Light\n</parameter>\n</function>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Qwen-coder, half closed",
        "<function=HassTurnOn>\n<parameter=name>Kitchen Light</parameter>\n</function>\n</tool_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Qwen-coder, no parameters",
        "<function=GetLiveContext>\n</function>",
        calls=(_LIVE_CONTEXT,),
    ),
    Written(
        "Qwen-coder, two",
        "<function=GetLiveContext></function>\n<function=HassTurnOn>\n<parameter=name>\nKitchen Light\n</parameter>",
        calls=(_LIVE_CONTEXT, _TURN_ON_KITCHEN),
    ),
    Written(
        "Llama 3.1", f"<function=HassTurnOn>{_ON}</function>", calls=(_TURN_ON_KITCHEN,)
    ),
    Written(
        "Llama 3.3 at Groq",
        f"<function=HassTurnOn {_ON} </function>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3.3 at Groq, no space",
        f"<function=HassTurnOn{_ON}</function>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3.3 at Groq, brackets",
        f"<function=HassTurnOn[]{_ON}</function>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "arguments beside the function",
        f'{{"tool_calls": [{{"type": "function", "function": {{"name": "HassTurnOn"}}, "parameters": {_ON}}}]}}',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3.1, broken",
        "<function=HassTurnOn>{kitchen</function>",
        calls=(("HassTurnOn", "{kitchen…"),),
    ),
    *(
        Written(
            f"DeepSeek V4, {bars}",
            f'Sure.\n<{bars}tool_calls>\n<{bars}invoke name="HassTurnOn">\n'
            f'<{bars}parameter name="name" string="true">Kitchen Light</{bars}parameter>\n</{bars}invoke>\n'
            f'<{bars}invoke name="GetLiveContext">\n</{bars}invoke>\n</{bars}tool_calls>',
            "Sure.\n",
            calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
        )
        for bars in (
            f"{_BAR}DSML{_BAR}",
            f"{_BAR}{_BAR}DSML{_BAR}{_BAR}",
            "||DSML||",
            "\u2016DSML\u2016",
            " | DSML | ",
        )
    ),
    Written(
        "DeepSeek V4, unclosed",
        f'<{_BAR}DSML{_BAR}invoke name="HassTurnOn"><{_BAR}DSML{_BAR}parameter name="name">Kitchen Light',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "GPT-5, a recipient and noise",
        f"to=functions.HassTurnOn  (json \u6052\u4e00\n{_ON}\u0a82",
        calls=(("intent__HassTurnOn", f"json \u6052\u4e00\n{_ON}\u0a82\u2026"),),
    ),
    Written("Mistral", f"[TOOL_CALLS][{_CALL}]", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "Mistral, spaced",
        f'[TOOL_CALLS] [{_CALL}, {{"name": "GetLiveContext", "arguments": {{}}}}]</s>',
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Mistral, named",
        f"[TOOL_CALLS]HassTurnOn[ARGS]{_ON}",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Mistral, named, two",
        f"[TOOL_CALLS]HassTurnOn[ARGS]{_ON}[TOOL_CALLS]GetLiveContext[ARGS]{{}}",
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Mistral, with ids",
        f"[TOOL_CALLS]HassTurnOn[CALL_ID]a1b2c3d4e[ARGS]{_ON}",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written("Mistral, stripped", f"HassTurnOn[ARGS]{_ON}", calls=(_TURN_ON_KITCHEN,)),
    Written("Mistral, all stripped", f"HassTurnOn{_ON}", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "Llama 3, bare",
        f'{{"name": "HassTurnOn", "parameters": {_ON}}}',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3, several",
        f'{{"name": "HassTurnOn", "parameters": {_ON}}}; {{"name": "GetLiveContext", "parameters": {{}}}}',
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Llama 3, typed",
        f'{{"type": "function", "name": "HassTurnOn", "parameters": {_ON}}}',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3, among words",
        f"I call {_CALL} now.",
        "I call now.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3, python tag",
        f'<|python_tag|>{{"name": "HassTurnOn", "parameters": {_ON}}}<|eom_id|>',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3, method",
        '<|python_tag|>HassTurnOn.call(name="Kitchen Light")<|eom_id|>',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 3, function",
        '<|python_tag|>HassTurnOn(name="Kitchen Light")',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Llama 4",
        '[HassTurnOn(name="Kitchen Light"), GetLiveContext()]',
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "Python, alone",
        "On it.\nHassTurnOn(name='Kitchen Light')",
        "On it.\n",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "Python, as code",
        "`HassTurnOn(name='Kitchen Light')`",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Python, bold",
        "On it.\n**HassTurnOn(name='Kitchen Light')**",
        "On it.\n",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "name and object, as code",
        f"``HassTurnOn{_ON}``\nDone.",
        "Done.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written("Python, an object", f"HassTurnOn({_ON})", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "Python, by position",
        '<|python_tag|>HassTurnOn("Kitchen Light")',
        calls=(("HassTurnOn", '"Kitchen Light")…'),),
    ),
    Written(
        "Python, both ways",
        '<|python_tag|>HassTurnOn(a=1, {"b": 2})',
        calls=(("HassTurnOn", 'a=1, {"b": 2})…'),),
    ),
    Written(
        "Python, nonsense",
        "<|python_tag|>HassTurnOn(a=1 b=2)",
        calls=(("HassTurnOn", "a=1 b=2)…"),),
    ),
    Written(
        "Gemma",
        '```tool_code\nprint(HassTurnOn(name="Kitchen Light"))\n```',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Gemma, assigned",
        '```tool_code\nresult = HassTurnOn(name="Kitchen Light",)\n```\nDone.',
        "Done.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "Gemma, in its module",
        "```tool_code\ndefault_api.GetLiveContext()\n```",
        calls=((CONTEXT, "{}"),),
    ),
    Written(
        "Gemma, with an output",
        '```tool_code\nGetLiveContext()\n```\n```tool_output\n{"on": 1}\n```\nOn.',
        "On.",
        "",
        (_LIVE_CONTEXT,),
    ),
    Written(
        "fenced JSON",
        f"Here:\n```json\n{_CALL}\n```\nDone.",
        "Here:\nDone.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "fenced without a language", f"```\n[{_CALL}]\n```", calls=(_TURN_ON_KITCHEN,)
    ),
    Written(
        "fenced Python",
        "```python\nHassTurnOn(name='Kitchen Light')\n```",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "fenced tag",
        f"```xml\n<tool_call>{_CALL}</tool_call>\n```",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "FunctionGemma",
        "<start_function_call>call:HassTurnOn{name:<escape>Kitchen Light<escape>}<end_function_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Gemma 4, call",
        '<|tool_call>call:HassTurnOn{name:<|"|>Kitchen Light<|"|>}<tool_call|>',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "Glaive",
        f'<functioncall> {{"name": "HassTurnOn", "arguments": \'{_ON}\'}} <|endoftext|>',
        calls=(("HassTurnOn", _ON),),
    ),
    Written(
        "functioncall, never closed",
        f"<functioncall {_CALL}",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "GLM",
        "<tool_call>HassTurnOn\n<arg_key>name</arg_key>\n<arg_value>Kitchen Light</arg_value>\n</tool_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "GLM, no arguments",
        "<tool_call>GetLiveContext\n</tool_call>",
        calls=(_LIVE_CONTEXT,),
    ),
    Written(
        "GLM, no arguments, unclosed",
        "<tool_call>GetLiveContext",
        calls=(_LIVE_CONTEXT,),
    ),
    Written(
        "GLM, no arguments, unknown tool",
        "<tool_call>Dance</tool_call>",
        calls=(("", "Dance"),),
    ),
    Written(
        "GLM, no name",
        "<tool_call><arg_key>a</arg_key><arg_value>b</arg_value></tool_call>",
        calls=(("", "<arg_key>a</arg_key><arg_value>b</arg_value>"),),
    ),
    Written(
        "MiniMax",
        '<minimax:tool_call>\n<invoke name="HassTurnOn">\n<parameter name="name">Kitchen Light</parameter>\n</invoke>\n'
        "</minimax:tool_call>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "invoke, bare",
        '<invoke name="GetLiveContext"></invoke>',
        calls=(_LIVE_CONTEXT,),
    ),
    Written(
        "Kimi K2",
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.light:0<|tool_call_argument_begin|>{_ON}<|tool_call_end|><|tool_calls_section_end|>",
        calls=(("light", '{"name":"Kitchen Light"}'),),
    ),
    Written(
        "DeepSeek",
        f"<{_BAR}tool▁calls▁begin{_BAR}><{_BAR}tool▁call▁begin{_BAR}>function<{_BAR}tool▁sep{_BAR}>HassTurnOn\n```json\n{_ON}\n```<{_BAR}tool▁call▁end{_BAR}><{_BAR}tool▁calls▁end{_BAR}>",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "DeepSeek 3.1",
        f"<{_BAR}tool▁calls▁begin{_BAR}><{_BAR}tool▁call▁begin{_BAR}>HassTurnOn<{_BAR}tool▁sep{_BAR}>{_ON}<{_BAR}tool▁call▁end{_BAR}><{_BAR}tool▁call▁begin{_BAR}>GetLiveContext<{_BAR}tool▁sep{_BAR}>{{}}<{_BAR}tool▁call▁end{_BAR}><{_BAR}tool▁calls▁end{_BAR}>",
        calls=(_TURN_ON_KITCHEN, _LIVE_CONTEXT),
    ),
    Written(
        "LFM",
        '<|tool_call_start|>[HassTurnOn(name="Kitchen Light")]<|tool_call_end|>On.',
        "On.",
        "",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "LM Studio",
        f"[TOOL_REQUEST]{_CALL}[END_TOOL_REQUEST]",
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written("Phi", f"<|tool_call|>[{_CALL}]<|/tool_call|>", calls=(_TURN_ON_KITCHEN,)),
    Written(
        "Command",
        f'<|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "HassTurnOn", "parameters": {_ON}}}]<|END_ACTION|>',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "harmony, call",
        "<|channel|>analysis<|message|>Hm.<|end|>"
        f"<|start|>assistant<|channel|>commentary to=functions.light <|constrain|>json<|message|>{_ON}<|call|>",
        "",
        "Hm.",
        (("light", '{"name":"Kitchen Light"}'),),
    ),
    Written(
        "harmony, addressed first",
        f"<|start|>assistant to=functions.light<|channel|>commentary json<|message|>{_ON}<|call|>",
        calls=(("light", '{"name":"Kitchen Light"}'),),
    ),
    Written(
        "harmony, stripped call",
        f"analysisHm.assistantcommentary to=functions.light json{_ON}",
        "",
        "Hm.",
        (("light", '{"name":"Kitchen Light"}'),),
    ),
    Written(
        "flat",
        '{"tool": "HassTurnOn", "name": "Kitchen Light"}',
        calls=(_TURN_ON_KITCHEN,),
    ),
    Written(
        "bare, unknown tool",
        '{"name": "HassGetState", "arguments": {"area": "Kitchen"}}',
        calls=(("HassGetState", '{"area":"Kitchen"}'),),
    ),
    Written(
        "bare, broken",
        '{"name": "HassTurnOn", "arguments": {"name": Kitchen}}',
        calls=(("HassTurnOn", ', "arguments": {"name": Kitchen}}…'),),
    ),
    Written(
        "brackets in texts",
        r"""{"name": "light", "arguments": {"a": "}\" ] '", 'b': '{\'"', "c": "\\"}} yes \ no""",
        r"yes \ no",
        "",
        (("light", r"""{"a":"}\" ] '","b":"{'\"","c":"\\"}"""),),
    ),
    Written(
        "one quote in the other",
        """{"name": "light", "arguments": {"a": " '"}} {Done}.""",
        "{Done}.",
        "",
        (("light", """{"a":" '"}"""),),
    ),
    Written(
        "a list of something else",
        '<tool_call>["light"]</tool_call>',
        calls=(("", '["light"]'),),
    ),
    Written(
        "not closed before the end",
        '{"name": "light", "arguments": {"a": "\\',
        calls=(("light", ', "arguments": {"a": "\\…'),),
    ),
    Written(
        "made-up result",
        'On.<tool_response>{"ok": true}</tool_response> Really.',
        "On. Really.",
    ),
    Written("instructions that end", "On.[/INST]", "On."),
    Written(
        "Llama 3, the next question",
        "On.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThanks",
        "On.",
    ),
    Written(
        "GLM, the next question",
        "On.<|user|>\nThanks<|assistant|>\nWelcome.",
        "On.\nWelcome.",
    ),
    Written("other tokens", "<|im_start|>assistant\nOn.<|im_end|>", "On."),
    Written(
        "Llama's header",
        "<|start_header_id|>assistant<|end_header_id|>\n\nOn.<|eot_id|>",
        "On.",
    ),
    Written("Gemma's turns", "<start_of_turn>model\nOn.<end_of_turn>", "On."),
    Written("cut inside a marker", "It is on.\n<tool_c", "It is on.\n"),
    Written(
        "thought unfinished before a call",
        f"<think>So: <tool_call>{_CALL}</tool_call>",
        "",
        f"So: <tool_call>{_CALL}</tool_call>",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "called in thought, then answered",
        f"<think>I could {_CALL}</think>No.",
        "No.",
        f"I could {_CALL}",
    ),
    Written(
        "called in thought, then called",
        f"<think>{_CALL}</think>[GetLiveContext()]",
        "",
        _CALL,
        (_LIVE_CONTEXT,),
    ),
    Written(
        "called twice in thought",
        f"<think>{_CALL} or {_CALL}</think>",
        "",
        f"{_CALL} or {_CALL}",
        (_TURN_ON_KITCHEN,),
    ),
    Written(
        "unknown tool in thought",
        '<think><tool_call>{"name": "Dance"}</tool_call></think>',
        "",
        '<tool_call>{"name": "Dance"}</tool_call>',
    ),
)

PROSE: Final = (
    "3 < 5 and 5 > 3, so a<b>c.",
    "I <3 you :-) ;) <o/ ^_^ >:(",
    'Use {curly}, [square] and (round) brackets, {}, [] and {"x": 1}.',
    '{"name": "Kitchen", "state": "on"} is what it says.',
    '{"name": "Kitchen Light"}',
    "[1, 2, 3] [light] [link](http://x.example/[a]) {name}",
    "`code`, ``more``, ```inline``` and\n```python\nprint('hello')\n```\ndone",
    '```json\n{"name": "Kitchen"}\n```\nThat is all.',
    "light(s) are on\nlight (kitchen): on\nlights{",
    "The light(s)",
    "`light(s)` are on, *light* and `HassTurnOn`",
    "**HassTurnOn** is what turns it on.",
    "[dance(now)]",
    "A common analysis. Final answer: assistant lights are on.",
    "Das Licht ist an.\n\n- Küche: 21,5 °C\n- Bad: 19 °C\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "灯已经打开了。温度是21度。",
    'Is it on? Yes! 100 % sure… "Really." And then.',
    '<b>bold</b> <br/> <a href="x">link</a> <i>',
    "{'a': 'it's'} and name{x",
    "{name: it's} and {name: \\LaTeX}, of course.",
    "analysis of data",
    "An assistantX, an assistantfinal one",
    '{"name": "Kitchen", "arguments": {}, "state": "on"}',
    "Assistants help. assistant",
    "<",
    "[",
    '{"na',
    "a",
    " \n\t ",
    "",
)
"""Text that is neither markup nor a call, and has to come through untouched."""
