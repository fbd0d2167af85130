"""A calculator that asks before it calculates, and runs each tool itself.

pip install .
python examples/calculator_manual.py http://localhost:11434/v1 qwen3:8b
"""

import asyncio
import sys

import aiohttp
from chatterbox_agent import OpenAIChatProvider, Session, TextDelta, Toolbox, tool


@tool(read_only=True)
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


async def main(server: str, model: str) -> None:
    """Ask one question, and run each call after a yes."""
    async with aiohttp.ClientSession() as http:
        tools = Toolbox([add])
        async with Session(
            OpenAIChatProvider(http, server, model), tools, run_tools=False
        ) as session:
            events = session.say("What is 25 plus 17?")
            while True:
                async for event in events:
                    if isinstance(event, TextDelta):
                        print(event.text, end="", flush=True)
                if not session.open_calls:
                    break
                for call in session.open_calls:
                    print(f"Run {call.name} {call.arguments}? (y/n)", flush=True)
                    is_yes = (
                        await asyncio.to_thread(sys.stdin.readline)
                    ).strip() == "y"
                    result = (
                        await tools.run(call)
                        if is_yes
                        else "The person did not want that."
                    )
                    await session.add_result(call.id, result, is_error=not is_yes)
                events = session.resume()
        print()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
