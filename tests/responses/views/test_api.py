"""The Responses API of a home: there as soon as an owner wants it, gone as soon as nobody does."""

from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.chatterbox.const import CONF_RESPONSES_API
from tests.support.api_clients import HttpClient
from tests.support.servers.script import Script, ScriptedAnswer
from tests.support.talk import AGENT, LIGHT_ON, Serve, messages_of


async def test_clients_are_served_while_an_owner_lets_them_in(
    hass: HomeAssistant, serve: Serve, client: HttpClient
) -> None:
    await serve(Script(answers=(ScriptedAnswer(content="Hello!"),)))
    assert (await client.get("/api/chatterbox/v1/models")).status == 404

    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    hass.config_entries.async_update_entry(entry, options={CONF_RESPONSES_API: True})
    meanwhile = await client.get("/api/chatterbox/v1/models")
    assert meanwhile.status in {200, 404, 503}  # it may be quick
    assert await meanwhile.json()
    await hass.async_block_till_done(wait_background_tasks=True)

    models = await (await client.get("/api/chatterbox/v1/models")).json()
    assert [model["id"] for model in models["data"]] == [AGENT]
    answer = await client.post(
        "/api/chatterbox/v1/responses", json={"model": AGENT, "input": "Hi"}
    )
    response = await answer.json()
    assert (answer.status, response["status"]) == (200, "completed")
    assert response["output"][0]["content"][0]["text"] == "Hello!"

    hass.config_entries.async_update_entry(entry, options={CONF_RESPONSES_API: False})
    await hass.async_block_till_done(wait_background_tasks=True)

    gone = await client.get("/api/chatterbox/v1/models")
    assert (gone.status, (await gone.json())["error"]["type"]) == (404, "not_found")


async def test_a_conversation_is_kept_for_the_token_that_made_it(
    hass: HomeAssistant,
    serve_api: Serve,
    client: HttpClient,
    http_client_of: ClientSessionGenerator,
    hass_admin_user: User,
) -> None:
    """It is where responses are, so it is there after the service was loaded anew."""
    server = await serve_api(Script(answers=(ScriptedAnswer(content="Ada."),)))
    token = await hass.auth.async_create_refresh_token(
        hass_admin_user, "https://other.example"
    )
    other = await http_client_of(hass.auth.async_create_access_token(token))
    conversations, hello = (
        "/api/chatterbox/v1/conversations",
        {"role": "user", "content": "I am Ada."},
    )

    made = await (
        await client.post(conversations, json={"metadata": {"a": "b"}})
    ).json()
    address = f"{conversations}/{made['id']}"
    [item] = (
        await (await client.post(f"{address}/items", json={"items": [hello]})).json()
    )["data"]
    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    assert await (await client.get(address)).json() == made
    assert (await (await client.get(f"{address}/items?order=asc")).json())["data"] == [
        item
    ]
    body = {"model": AGENT, "input": "Who am I?", "conversation": made["id"]}
    for method, path in (
        ("GET", ""),
        ("GET", "/items"),
        ("DELETE", f"/items/{item['id']}"),
        ("DELETE", ""),
    ):
        assert (await other.request(method, address + path)).status == 404
    assert (await other.post("/api/chatterbox/v1/responses", json=body)).status == 404
    assert (await client.post("/api/chatterbox/v1/responses", json=body)).status == 200
    contents = [
        str(message["content"]) for message in messages_of(server.requests[0])[1:]
    ]
    assert contents[0] == "I am Ada."
    assert contents[1].endswith("Who am I?")
    assert (await client.delete(f"{address}/items/{item['id']}")).status == 200
    stored_items = (await (await client.get(f"{address}/items?order=asc")).json())[
        "data"
    ]
    assert [part["text"] for one in stored_items for part in one["content"]] == [
        "Who am I?",
        "Ada.",
    ]
    assert (await (await client.delete(address)).json())["deleted"] is True
    assert (await client.get(address)).status == 404


async def test_another_user_has_no_access_to_a_response_and_no_more_rights(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient, guest: HttpClient
) -> None:
    """The response of the owner is stored in the first round, and still runs in the second."""
    light_on = ScriptedAnswer(tool_calls=(LIGHT_ON,))
    slow = ScriptedAnswer(content="Never.", delay_seconds=60)
    server = await serve_api(
        Script(
            answers=(
                ScriptedAnswer(content="Hi!"),
                light_on,
                ScriptedAnswer(content="No."),
                slow,
            )
        )
    )
    responses = "/api/chatterbox/v1/responses"
    body = {"model": AGENT, "input": "Hi"}
    stored = await (await client.post(responses, json=body)).json()

    assert (
        await guest.post(responses, json={"model": AGENT, "input": "Light!"})
    ).status == 200
    assert hass.states.is_state("light.kitchen_ceiling", "off")
    assert "no right" in str(messages_of(server.requests[2])[-1])

    running = await (
        await client.post(responses, json={**body, "background": True})
    ).json()
    for response, status in ((stored, "completed"), (running, "in_progress")):
        address = f"{responses}/{response['id']}"
        for method, path in (
            ("GET", ""),
            ("GET", "/input_items"),
            ("POST", "/cancel"),
            ("DELETE", ""),
        ):
            assert (await guest.request(method, address + path)).status == 404
        assert (await (await client.get(address)).json())["status"] == status
    cancelled = await client.post(f"{responses}/{running['id']}/cancel")
    assert (await cancelled.json())["status"] == "cancelled"


async def test_a_response_in_the_background_ends_with_its_agent(
    hass: HomeAssistant, serve_api: Serve, client: HttpClient
) -> None:
    """Invariant 56: it is polled while it is created, and afterwards."""
    await serve_api(
        Script(answers=(ScriptedAnswer(content="Never.", delay_seconds=60),))
    )
    body = {"model": AGENT, "input": "Hi", "background": True}
    begun = await (await client.post("/api/chatterbox/v1/responses", json=body)).json()
    running = await (
        await client.get(f"/api/chatterbox/v1/responses/{begun['id']}")
    ).json()

    (entry,) = hass.config_entries.async_loaded_entries("chatterbox")
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)

    ended = await (
        await client.get(f"/api/chatterbox/v1/responses/{begun['id']}")
    ).json()
    assert (begun["status"], running["status"]) == ("queued", "in_progress")
    assert (ended["status"], ended["error"]["code"]) == ("failed", "interrupted")
