"""The ways a message goes out: each is one class with `send`."""

from __future__ import annotations

import json
import re
import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING, Protocol

from schedmate.model import BadInput
from schedmate.service.notifications.addresses import PermanentError, Target, TemporaryError
from schedmate.service.notify_target import MAIL, is_address

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.model.access import Subscription
    from schedmate.service.notifications.messages import Message
    from schedmate.site_settings import MailSettings

_TIMEOUT_S = 20.0
_REFUSED_FOR_GOOD = 500
_MENTION = re.compile(r"@(?=(?:channel|here|all|everyone|group)\b)", re.IGNORECASE)
"""As Mattermost and Rocket.Chat read it in any text."""
_NOTHING = "\N{ZERO WIDTH SPACE}"


class Channel(Protocol):
    def send(self, message: Message, subscription: Subscription) -> None:
        """Or raise TemporaryError or PermanentError."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """The message as JSON."""

    target: Target

    def send(self, message: Message, subscription: Subscription) -> None:  # noqa: ARG002 - one URL
        self.target.post(json.dumps(message.as_json()).encode(), "application/json")


@dataclass(frozen=True, slots=True)
class Slack:
    """The message as a text, in the form of Slack, Mattermost and Rocket.Chat."""

    target: Target

    def send(self, message: Message, subscription: Subscription) -> None:  # noqa: ARG002 - one URL
        text = escaped(f"{message.user}: {message.text}")
        self.target.post(json.dumps({"text": text}).encode(), "application/json")


def escaped(text: str) -> str:
    """No part of a log becomes a link, an image or a call for the whole channel."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MENTION.sub(f"@{_NOTHING}", text).replace("](", f"]{_NOTHING}(")


@dataclass(frozen=True, slots=True)
class Mail:
    settings: MailSettings

    def send(self, message: Message, subscription: Subscription) -> None:
        letter = self.letter(message, self._address(subscription))
        try:
            self._deliver(letter)
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            if all(code >= _REFUSED_FOR_GOOD for code in codes):
                raise PermanentError("the mail server refuses the address") from None
            raise TemporaryError("the mail server refuses the address for now") from None
        except smtplib.SMTPAuthenticationError:
            raise PermanentError("the mail server refuses the login (mail.user)") from None
        except smtplib.SMTPResponseException as error:
            kind = PermanentError if error.smtp_code >= _REFUSED_FOR_GOOD else TemporaryError
            raise kind(f"the mail server answers {error.smtp_code}") from None
        except ssl.SSLCertVerificationError as error:
            reason = f"the mail server's certificate: {error.verify_message}"
            raise PermanentError(reason) from None
        except (OSError, smtplib.SMTPException) as error:
            raise TemporaryError(f"the mail server does not answer: {error}") from None

    def _address(self, subscription: Subscription) -> str:
        address = subscription.mail
        if not address and self.settings.domain:
            address = f"{subscription.user}@{self.settings.domain}"
        if not is_address(address):
            raise PermanentError(f"no mail address of {subscription.user} is known")
        return address

    def letter(self, message: Message, to: str) -> EmailMessage:
        letter = EmailMessage()
        letter["Subject"] = message.title
        letter["From"], letter["To"] = self.settings.sender, to
        letter["Date"], letter["Message-ID"] = formatdate(), make_msgid(domain="schedmate")
        letter["Auto-Submitted"] = "auto-generated"
        letter.set_content(message.text + "\n")
        return letter

    def _deliver(self, letter: EmailMessage) -> None:
        mail = self.settings
        with self._server() as server:
            if mail.security == "starttls":
                server.starttls(context=ssl.create_default_context())
            if mail.user:
                server.login(mail.user, _password(mail))
            server.send_message(letter)

    def _server(self) -> smtplib.SMTP:
        mail = self.settings
        if mail.security != "tls":
            return smtplib.SMTP(mail.host, mail.port, timeout=_TIMEOUT_S)
        verified = ssl.create_default_context()  # smtplib's own takes any certificate
        return smtplib.SMTP_SSL(mail.host, mail.port, timeout=_TIMEOUT_S, context=verified)


def _password(mail: MailSettings) -> str:
    if mail.password is not None:
        return mail.password.reveal()
    if mail.password_file is None:
        return ""
    try:
        return mail.password_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise PermanentError("mail.password_file cannot be read") from None


def channels_of(settings: Settings) -> dict[str, Channel]:
    """By name; only what the daemon's settings name can be sent to."""
    found: dict[str, Channel] = {}
    if settings.mail.host:
        found[MAIL] = Mail(settings.mail)
    for name, hook in settings.webhooks.items():
        target = Target(hook.url.reveal(), private=hook.private)
        found[name] = Slack(target) if hook.kind == "slack" else Webhook(target)
    return found


def check_subscription(wanted: Subscription, settings: Settings) -> None:
    """BadInput where it names no channel of this site, or an address that is none."""
    known = channels_of(settings)
    if not known:
        raise BadInput("this site sends no notifications: its daemon has neither mail nor webhooks")
    for name in wanted.channels:
        if name not in known:
            raise BadInput(f"there is no channel {name!r}; there are {', '.join(sorted(known))}")
    if not wanted.channels or not wanted.kinds:
        raise BadInput("name at least one channel and one kind of notice")
    if not wanted.mail:
        return
    domain = settings.mail.domain
    if not is_address(wanted.mail):
        raise BadInput(f"{wanted.mail!r} is no mail address")
    if domain and not wanted.mail.endswith(f"@{domain}"):
        raise BadInput(f"mail goes to addresses at {domain} only")
