"""The one entry for everyone: schema in, validated value out, and the bill in the ledger."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from schedmate.llm.client import Refused, request
from schedmate.llm.consent import check_consent
from schedmate.llm.deadline import Deadline
from schedmate.llm.dialect import Dialect, read_reply
from schedmate.llm.messages import (
    Question,
    Reply,
    Unusable,
    read_answer,
    repair_turns,
    schema_text,
    tokens_in,
)
from schedmate.model import (
    Answer,
    BadAnswer,
    BudgetSpent,
    CallOutcome,
    Cost,
    LlmCall,
    ModelError,
    ModelTooSlow,
    Subject,
)
from schedmate.model.ledger import Exchange
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.config import LlmSettings
    from schedmate.llm.endpoint import Address, Endpoint
    from schedmate.llm.messages import Message
    from schedmate.model import Ledger, Tier

T = TypeVar("T", bound=BaseModel)

_DAY_S = 86_400
_OUTCOME_LENGTH = 300


@dataclass(slots=True)
class _Bill:
    purpose: str
    about: Subject
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


class ModelAsker:
    """Fulfils `model.ports.Asker` over an endpoint. Threads may share it."""

    def __init__(
        self, endpoint: Endpoint, settings: LlmSettings, ledger: Ledger, tier: Tier = "choose"
    ) -> None:
        self.tier = tier
        self._endpoint = endpoint
        self._settings = settings
        reads = tier == "read"
        self._seconds = (
            max(settings.deadline_s, settings.read_deadline_s) if reads else settings.deadline_s
        )
        self._budget = settings.read_token_budget if reads else settings.token_budget
        self._ledger = ledger
        self._dialect = Dialect()
        self._under_way = _UnderWay()

    def ask(
        self,
        schema: type[T],
        prompt: str,
        *,
        purpose: str,
        system: str = "",
        max_tokens: int = 256,
        about: Subject | None = None,
    ) -> Answer[T]:
        check_consent(about, self._settings.never)
        deadline = Deadline(self._seconds)
        clean = redact if self._endpoint.is_remote else str
        question = Question(
            system=clean(system),
            prompt=clean(prompt),
            schema_name=schema.__name__,
            schema_text=schema_text(schema),
            max_tokens=max_tokens,
        )
        key = question.key(self._endpoint.identity)
        bill = _Bill(purpose, about or Subject())
        with self._under_way.alone(key, deadline):
            known = self._known(schema, key)
            if known is not None:
                self._record("cached", bill, deadline)
                return Answer(known, Cost(seconds=deadline.elapsed), self._endpoint.model)
            return self._pay(schema, question, key, bill, deadline)

    def _known(self, schema: type[T], key: str) -> T | None:
        text = self._ledger.cached_answer(key)
        if text is None:
            return None
        try:
            return schema.model_validate_json(text)
        except ValidationError:  # its validators have changed since
            return None

    def _pay(
        self, schema: type[T], question: Question, key: str, bill: _Bill, deadline: Deadline
    ) -> Answer[T]:
        try:
            value, text, repaired = self._converse(schema, question, deadline, bill)
        except ModelError as error:
            self._record(_outcome(error), bill, deadline)
            raise
        self._ledger.cache_answer(key, text)
        self._record("repaired" if repaired else "ok", bill, deadline)
        cost = Cost(seconds=deadline.elapsed, llm_calls=bill.calls, llm_tokens=bill.tokens)
        return Answer(value, cost, self._endpoint.model)

    def _converse(
        self, schema: type[T], question: Question, deadline: Deadline, bill: _Bill
    ) -> tuple[T, str, bool]:
        turns: list[Message] = []
        for turn in range(self._settings.repair_turns + 1):
            try:
                reply = self._reply(question, turns, deadline, bill)
                return *read_answer(schema, reply), turn > 0
            except Unusable as problem:
                turns, last = repair_turns(problem), problem
        raise BadAnswer(f"the language model gave no usable answer: {last}") from last

    def _reply(
        self, question: Question, turns: list[Message], deadline: Deadline, bill: _Bill
    ) -> Reply:
        """One reply; an endpoint that refuses a parameter is asked again without it."""
        while True:
            self._check_budget(question, bill)
            try:
                return self._request(question, turns, deadline, bill)
            except Refused as error:
                other = self._dialect.after_refusal(str(error))
                if other is None:
                    raise
                self._dialect = other

    def _check_budget(self, question: Question, bill: _Bill) -> None:
        spent = self._ledger.tokens_spent(since=time.time() - _DAY_S) + bill.tokens
        if spent + question.most_tokens > self._budget:
            setting = "read_token_budget" if self.tier == "read" else "token_budget"
            raise BudgetSpent(
                f"{spent} of {self._budget} tokens for the language model are spent within a day "
                f"(setting llm.{setting} allows more)"
            )

    def _request(
        self, question: Question, turns: list[Message], deadline: Deadline, bill: _Bill
    ) -> Reply:
        body = self._dialect.body(self._endpoint.model, question, turns)
        sent = question.size + sum(len(turn["content"]) for turn in turns)
        with self._endpoint.open(deadline) as address, self._logged(bill, address, body) as log:
            bill.calls += 1
            try:
                reply = read_reply(request(address, deadline, "/chat/completions", body), sent=sent)
                log.append(reply.text)
            except (ModelTooSlow, Unusable):  # read by the model all the same
                bill.prompt_tokens += tokens_in(sent)
                raise
        bill.prompt_tokens += reply.prompt_tokens
        bill.answer_tokens += reply.answer_tokens
        return reply

    @contextmanager
    def _logged(self, bill: _Bill, address: Address, body: dict[str, Any]) -> Iterator[list[str]]:
        """Keeps what is sent, whatever comes of it; the answer is put into the list."""
        received: list[str] = []
        outcome = "ok"
        try:
            yield received
        except Exception as error:
            outcome = redact(str(error))[:_OUTCOME_LENGTH]
            raise
        finally:
            self._ledger.keep_exchange(
                Exchange(
                    at=time.time(),
                    user=bill.about.user,
                    job_id=bill.about.job_id,
                    purpose=bill.purpose,
                    model=self._endpoint.model,
                    endpoint=redact(address.base_url),
                    outcome=outcome,
                    sent=json.dumps(body, ensure_ascii=False),
                    received="".join(received),
                )
            )

    def _record(self, outcome: CallOutcome, bill: _Bill, deadline: Deadline) -> None:
        self._ledger.record_call(
            LlmCall(
                at=time.time(),
                purpose=bill.purpose,
                model=self._endpoint.model,
                outcome=outcome,
                calls=bill.calls,
                prompt_tokens=bill.prompt_tokens,
                answer_tokens=bill.answer_tokens,
                seconds=deadline.elapsed,
            )
        )


def _outcome(error: ModelError) -> CallOutcome:
    if isinstance(error, ModelTooSlow):
        return "too_slow"
    if isinstance(error, BudgetSpent):
        return "over_budget"
    return "bad_answer" if isinstance(error, BadAnswer) else "unavailable"


class _UnderWay:
    """Lets the same question be asked by one thread at a time; the others get its answer."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._keys: set[str] = set()

    @contextmanager
    def alone(self, key: str, deadline: Deadline) -> Iterator[None]:
        with self._changed:
            while key in self._keys:
                self._changed.wait(deadline.left())
            self._keys.add(key)
        try:
            yield
        finally:
            with self._changed:
                self._keys.discard(key)
                self._changed.notify_all()
