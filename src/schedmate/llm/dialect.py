"""OpenAI-compatible chat completions: the request's body and the reply's reading."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, NonNegativeInt, ValidationError

from schedmate.llm.messages import Message, Question, Reply, Unusable, tokens_in


@dataclass(frozen=True, slots=True)
class Dialect:
    """What this endpoint takes; found out when it refuses a parameter."""

    limit_name: str = "max_tokens"
    takes_temperature: bool = True
    takes_schema: bool = True

    def body(self, model: str, question: Question, turns: list[Message]) -> dict[str, Any]:
        system = question.system
        if not self.takes_schema:
            system = (
                f"{system}\nAnswer with JSON only, by this JSON schema:\n{question.schema_text}"
            )
        first = [{"role": "system", "content": system.strip()}] if system.strip() else []
        messages = [*first, {"role": "user", "content": question.prompt}, *turns]
        body = {"model": model, "messages": messages, self.limit_name: question.max_tokens}
        if self.takes_temperature:
            body["temperature"] = 0
        if self.takes_schema:
            named = {"name": question.schema_name, "schema": json.loads(question.schema_text)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return body

    def after_refusal(self, complaint: str) -> Dialect | None:
        """The dialect to try next, or None where the complaint is about something else."""
        if "max_completion_tokens" in complaint and self.limit_name == "max_tokens":
            return replace(self, limit_name="max_completion_tokens")
        if "temperature" in complaint and self.takes_temperature:
            return replace(self, takes_temperature=False)
        if ("response_format" in complaint or "json_schema" in complaint) and self.takes_schema:
            return replace(self, takes_schema=False)
        return None


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: Any = None


class _Usage(BaseModel):
    prompt_tokens: NonNegativeInt
    completion_tokens: NonNegativeInt


def read_reply(data: bytes, *, sent: int) -> Reply:
    """The first choice's text; `sent` is how many characters the question had."""
    if data.lstrip()[:1] == b"<":
        raise Unusable("it answered with a web page; is llm.base_url right (…/v1)?")
    try:
        completion = _Completion.model_validate_json(data)
    except ValidationError as error:
        raise Unusable("its answer is no chat completion; is llm.base_url right?") from error
    if not completion.choices or not completion.choices[0].message.content:
        raise Unusable("it answered without any text")
    choice = completion.choices[0]
    text = choice.message.content or ""
    usage = _usage(completion.usage) or (tokens_in(sent), tokens_in(len(text)))
    return Reply(text, choice.finish_reason == "length", *usage)


def complaint(data: bytes) -> str:
    """What an error's body says, in one line."""
    try:
        error = json.loads(data)["error"]
        text = error["message"] if isinstance(error, dict) else error
    except (ValueError, LookupError, TypeError):
        text = "" if data.lstrip()[:1] == b"<" else data.decode(errors="replace")
    return " ".join(str(text).split())[:300]


def _usage(usage: Any) -> tuple[int, int] | None:
    try:
        counted = _Usage.model_validate(usage)
    except ValidationError:
        return None
    return counted.prompt_tokens, counted.completion_tokens
