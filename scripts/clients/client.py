"""Tests ut serve with OpenAI's own Python client, as clients/main.go does. The argument is the address of a server of models/reverse."""

import asyncio
import sys

import openai

client = openai.OpenAI(base_url=f"http://{sys.argv[1]}/v1", api_key="unused")
assert [m.id for m in client.models.list()] == ["reverse"]
assert client.models.list().data[0].object == "model"

answer = client.completions.create(model="reverse", prompt=["31415", "27"])
assert [c.text for c in answer.choices] == ["51413", "72"] and answer.choices[1].finish_reason == "stop" and answer.usage.prompt_tokens == 7, answer

sampled = client.completions.create(model="reverse", prompt=["31415", "27"], temperature=1, top_p=0.9, n=3, seed=7, max_tokens=4)
assert len(sampled.choices) == 6 and sampled.choices[0].finish_reason == "length", sampled

events = list(client.completions.create(model="reverse", prompt="31415", stream=True, stream_options={"include_usage": True}))
assert "".join(c.text for e in events for c in e.choices) == "51413" and len(events) >= 6 and events[-1].usage.completion_tokens == 5, events

try:
    client.completions.create(model="reverse", prompt="x")
    raise SystemExit("a mistake is not an error")
except openai.BadRequestError as error:
    assert error.param == "prompt" and "unknown token" in error.message, error


async def together():
    """32 requests at a time."""
    many = openai.AsyncOpenAI(base_url=f"http://{sys.argv[1]}/v1", api_key="unused")
    answers = await asyncio.gather(*(many.completions.create(model="reverse", prompt=str(n)) for n in range(320, 352)))
    assert [a.choices[0].text for a in answers] == [str(n)[::-1] for n in range(320, 352)]


asyncio.run(together())
print("Python: models listed, completed, sampled, streamed, 32 at a time; a mistake is an error with its field")
