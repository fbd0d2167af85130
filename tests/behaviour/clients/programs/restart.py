"""Goes on from a response after Home Assistant was started again."""

import json
import os
import time

import httpx2
import openai
from openai import OpenAI

MODEL, URL, TOKEN = (os.environ[name] for name in ("MODEL", "URL", "OPENAI_API_KEY"))
SLOW = "slowly\nrepeat 2000\nsay And so on. "
PATIENCE_SECONDS = 90
HEADERS = {"Authorization": f"Bearer {TOKEN}"}

client = OpenAI(max_retries=0)


def start_again() -> None:
    """Have Home Assistant start again, as its owner would, and wait until the agent is there."""
    before = httpx2.get(f"{URL}/api/process_census", headers=HEADERS).json()["process"]
    httpx2.post(f"{URL}/api/services/homeassistant/restart", headers=HEADERS, timeout=60)
    give_up = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up:
        time.sleep(0.1)
        try:
            census = httpx2.get(f"{URL}/api/process_census", headers=HEADERS)
            if census.status_code == 200 and census.json()["process"] != before and client.models.list().data:
                return
        except httpx2.HTTPError, openai.OpenAIError:
            continue
    raise TimeoutError("Home Assistant did not come back")


first = client.responses.create(model=MODEL, input="I am Ada.")
begun = client.responses.create(model=MODEL, input=SLOW, background=True)
start_again()
second = client.responses.create(model=MODEL, input="recall", previous_response_id=first.id)
interrupted = client.responses.retrieve(begun.id)
print(
    json.dumps(
        {
            "second": second.output_text,
            "read": client.responses.retrieve(first.id).to_dict() == first.to_dict(),
            "interrupted": [interrupted.status, interrupted.error and interrupted.error.code],
        }
    )
)
