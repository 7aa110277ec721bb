"""Static files as they were when the process started.

A console goes on with the code it was started with while an upgrade replaces the files below it.
A server that keeps sizes and opens files anew would then send some of them cut off, and one that
looks each time would send scripts that expect another console. So each file is read once and
served from memory; the next start serves the new ones. With `ECHOMQ_DEBUG` a file is read anew for
each request.
"""

import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any
from wsgiref.headers import Headers

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
        tag = hashlib.sha256(self._content).hexdigest()[:32]
        super().__init__(path, [*headers, ("ETag", f'"{tag}"')], stat_cache={path: sized})

    async def aget_response(
        self, method: str, request_headers: Mapping[str, str], **_offload: Any
    ) -> Response:
        """The whole file, or that it has not changed; a range is answered with the whole."""
        asked = {name: told for name, told in request_headers.items() if name != "HTTP_RANGE"}
        answer = await super().aget_response("HEAD" if method == "GET" else method, asked)
        if method != "GET" or answer.status != HTTPStatus.OK:
            return answer
        return Response(answer.status, answer.headers, self._whole())

    async def _whole(self) -> AsyncIterator[bytes]:
        yield self._content


class StaticFiles(ServeStaticMiddleware):
    """Serves every static file from memory."""

    def get_static_file(self, path: str, url: str, stat_cache: object = None) -> StaticFile:  # noqa: ARG002 (what it holds may be old)
        """The file at a path, read now."""
        headers = Headers([])
        self.add_mime_headers(headers, path, url)
        self.add_cache_headers(headers, path, url)
        return KeptFile(path, headers.items())
