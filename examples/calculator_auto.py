"""A calculator: the tools run by themselves, and each answer comes when everything is calculated.

pip install . python examples/calculator_auto.py http://localhost:11434/v1 qwen3:8b
"""

import asyncio
import sys

import aiohttp
from chatterbox_agent import (
    Limits,
    OpenAIChatProvider,
    Session,
    TextDelta,
    Toolbox,
    ToolFinished,
    ToolStarted,
    tool,
)


@tool(read_only=True)
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@tool(read_only=True)
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


@tool(read_only=True)
def divide(a: float, b: float) -> float:
    """Divide a number by another one."""
    return a / b  # what this raises for 0 is told to the model


async def main(server: str, model: str) -> None:
    """Ask three questions in one conversation."""
    async with aiohttp.ClientSession() as http:
        provider = OpenAIChatProvider(http, server, model)
        tools = Toolbox([add, multiply, divide])
        async with Session(
            provider, tools, instructions="Calculate with the tools.", limits=Limits(5)
        ) as session:
            for question in (
                "What is 25 plus 17?",
                "What is 7 times 8, plus 5?",
                "What is 1 divided by 0?",
            ):
                print(f"> {question}")
                async for event in session.say(question):
                    match event:
                        case ToolStarted(call):
                            print(f"[{call.name} {call.arguments}]")
                        case ToolFinished(result):
                            print(f"[= {result.content}]")
                        case TextDelta(text):
                            print(text, end="", flush=True)
                print()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
