"""Management commands run to their end, and the operator whom the house signs in."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from echomq_admin.house.refusal import RefusedError

OPERATOR = "operator"
GONE = 4
"""The exit code of a command whose target is not there."""


class Shell:
    """`manage.py` of the project at `root`, told `env`."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self._root = root
        self._env = dict(env)

    def run(self, *words: str) -> str:
        """What a command printed; `RefusedError` with its last line where it failed."""
        return self._told(self._asked(*words), words)

    def sign_in_link(self) -> str:
        """A link that signs the operator in once. The first call makes the operator, who has
        all rights and no password."""
        words = ("echomq", "sign-in", "--user", OPERATOR)
        done = self._asked(*words)
        if done.returncode == GONE:
            self.run("createsuperuser", "--noinput", "--username", OPERATOR, "--email", "")
            done = self._asked(*words)
        return self._told(done, words).splitlines()[-1]

    def _asked(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 (our own words)
            [sys.executable, "manage.py", *words],
            cwd=self._root, env=self._env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def _told(self, done: subprocess.CompletedProcess[str], words: tuple[str, ...]) -> str:
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
            raise RefusedError(f"manage.py {' '.join(words)} failed: {last}")
        return done.stdout.strip()
