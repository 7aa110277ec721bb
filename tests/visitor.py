"""Somebody with a browser's manners and no browser: cookies, forms, one host."""

import http.client
import re
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit


class Visitor:
    """Asks one console on loopback over one kept connection."""

    def __init__(self, url: str, timeout_s: float = 20.0) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        self._asked = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)
        self.cookies: dict[str, str] = {}

    def get(self, path: str) -> tuple[int, str]:
        """Status and body."""
        return self._ask("GET", path, None)

    def post(self, path: str, form: dict[str, str]) -> tuple[int, str]:
        """Status and body."""
        return self._ask("POST", path, urlencode(form))

    def sign_in(self, link: str) -> None:
        """Open a sign-in link and press its button."""
        path = urlsplit(link).path
        status, page = self.get(path)
        assert status == 200, page
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token
        status, page = self.post(path, {"csrfmiddlewaretoken": token[1]})
        assert status == 302, page

    def close(self) -> None:
        """Hang up."""
        self._asked.close()

    def _ask(self, method: str, path: str, body: str | None) -> tuple[int, str]:
        headers = {"Cookie": "; ".join(f"{name}={text}" for name, text in self.cookies.items())}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._asked.request(method, path, body, headers)
        answer = self._asked.getresponse()
        page = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie") or ():
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        return answer.status, page
