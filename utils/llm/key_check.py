"""Checking of a key without a model: by a list of models that is for keys alone."""

from __future__ import annotations

from http.client import HTTPException

import httpx2

from utils.llm.api import Api
from utils.llm.http.client import HttpClient
from utils.llm.http.exchange import Exchange
from utils.llm.http.reply_limits import LimitExceeded, ReplyLimits, ReplyWatch
from utils.llm.http.transport import CancellableTransport, Insecure, Unreachable
from utils.llm.served_model import to_base_url
from utils.waiting import Stop, Stopped

_SECONDS = 5.0
_WRONG_KEY = "none"


def demands_key(api: Api, base_url: str) -> bool:
    """Return whether the server at *base_url* refuses its list of models to a wrong key.

    Where it does, a list proves the key that it was asked with. False also where nobody can tell.
    """
    base_url = to_base_url(base_url)
    transport = CancellableTransport(
        base_url, connect_seconds=_SECONDS, idle_seconds=_SECONDS, begin_seconds=_SECONDS
    )
    sdk = api.connect(base_url, _WRONG_KEY, user_agent="onefold", http_client=HttpClient(transport))
    exchange = Exchange(Stop(), ReplyWatch(ReplyLimits(progress_seconds=_SECONDS)))
    try:
        with transport.bound_to(exchange):
            response: httpx2.Response = sdk.client.get(
                sdk.models_path,
                cast_to=httpx2.Response,
                options={},
                stream=True,
                stream_cls=sdk.stream_class,
            )
        response.close()
    except sdk.status_error as error:
        return error.response.status_code in (401, 403)  # type: ignore[attr-defined]
    except (Unreachable, Insecure, Stopped, LimitExceeded, OSError, HTTPException):
        return False
    except (httpx2.HTTPError, sdk.base_error, ValueError):
        return False  # nothing that we know
    finally:
        sdk.client.close()
    return False
