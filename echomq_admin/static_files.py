"""Static files as they were when the process started.

A console goes on with the code it was started with while an upgrade replaces the files below it.
A server that keeps sizes and opens files anew would then send some of them cut off, and one that
looks each time would send scripts that expect another console. So each file is read once and
served from memory; the next start serves the new ones. With `ECHOMQ_DEBUG` a file is read anew for
each request.

All of them lie in a folder that is named by what they hold, so that scripts go on importing each
other by relative path, and a browser asks for each only once: another start with other files names
another folder. The files are found without the folder, too, and in that of an earlier start, since
a page may have been open since then.
"""

import hashlib
import os
import re
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any
from wsgiref.headers import Headers

from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from servestatic.middleware import ServeStaticMiddleware
from servestatic.responders import MissingFileError, Response, StaticFile


class KeptFile(StaticFile):
    """A file in memory. `MissingFileError` where it cannot be read."""

    def __init__(self, path: str, headers: list[tuple[str, str]]) -> None:
        try:
            with open(path, "rb") as file:
                self._content = file.read()
                found = os.fstat(file.fileno())
        except OSError as error:
            raise MissingFileError(path) from error
        # The size of what was read, whatever the file's has become meanwhile.
        sized = os.stat_result((*found[:6], len(self._content), *found[7:]))
        self.tag = hashlib.sha256(self._content).hexdigest()[:32]
        super().__init__(path, [*headers, ("ETag", f'"{self.tag}"')], stat_cache={path: sized})

    async def aget_response(
        self, method: str, request_headers: Mapping[str, str], **_offload: Any
    ) -> Response:
        """The whole file, or that it has not changed; a range is answered with the whole."""
        asked = {name: told for name, told in request_headers.items() if name != "HTTP_RANGE"}
        answer = await super().aget_response("HEAD" if method == "GET" else method, asked)
        if method != "GET" or answer.status != HTTPStatus.OK:
            return answer
        return Response(answer.status, answer.headers, self._whole())

    def is_not_modified(self, request_headers: Mapping[str, str]) -> bool:
        """Whether the browser has it: a proxy that compresses makes the tag that it names weak."""
        told = request_headers.get("HTTP_IF_NONE_MATCH")
        if told is None:
            return bool(super().is_not_modified(request_headers))
        named = {one.strip().removeprefix("W/") for one in told.split(",")}
        return not named.isdisjoint({"*", f'"{self.tag}"'})

    async def _whole(self) -> AsyncIterator[bytes]:
        yield self._content


class Folder(StaticFilesStorage):
    """Names static files in the folder of the console that started last in this process."""

    version = ""

    def url(self, name: str | None) -> str:
        """The address of a file."""
        return super().url(f"{self.version}/{name}" if self.version and name else name)


class StaticFiles(ServeStaticMiddleware):
    """Serves every static file from memory."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        held = sorted((url, file.tag) for url, file in self.files.items())
        digest = hashlib.sha256(repr(held).encode()).hexdigest()
        self._version = "" if self.autorefresh else f"v{digest[:16]}"
        self._in_folder = re.compile(rf"{re.escape(self.static_prefix)}(v[0-9a-f]{{16}})/(.+)")
        Folder.version = self._version

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """A file where one is asked for."""
        found = self._in_folder.fullmatch(request.path_info)
        file = self.files.get(self.static_prefix + found[2]) if found else None
        if not found or file is None:
            return await super().__call__(request)
        answer = await self.aserve(file, request)
        if found[1] == self._version and answer.status_code < HTTPStatus.BAD_REQUEST:
            answer["Cache-Control"] = f"max-age={self.FOREVER}, public, immutable"
        return answer

    def get_static_file(self, path: str, url: str, stat_cache: object = None) -> StaticFile:  # noqa: ARG002 (what it holds may be old)
        """The file at a path, read now."""
        headers = Headers([])
        self.add_mime_headers(headers, path, url)
        self.add_cache_headers(headers, path, url)
        return KeptFile(path, headers.items())
