"""Examples on a page of the documentation: commands with the answers printed behind them, and running them.

Times, IDs and secrets differ from run to run: where the page prints one, what it stands for is learned from the answer
and put into the later commands. All else must be as printed, up to the order of members.
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from stage import Failed, expect_equal, told

TIME = re.compile(r"20\d\d-\d\d-\d\d(?: \d\d:\d\d:\d\d)?")

SHORTEST = 8  # characters of what is taken for a name: a shorter one could be part of anything


class Example:
    """A command of the page, and the answer printed behind it: a line of JSON, or several."""

    def __init__(self, lines: list[str], first: int):
        self.first = first
        printed = next((at for at, line in enumerate(lines) if at and re.match(r"    [\[{]\S", line)), len(lines))
        self.command = "\n".join(line[4:] for line in lines[:printed]).removeprefix("$ ")
        self.line = first + printed
        self.answers = [line[4:] for line in lines[printed:]]


def examples(page: str, beginnings: tuple[str, ...] = ("curl", "printf")) -> list[Example]:
    """The commands in the indented blocks of the page."""
    begin = tuple(f"    $ {word}" for word in beginnings)
    found: list[Example] = []
    block: list[str] = []
    for at, line in enumerate([*page.split("\n"), ""]):
        if block and (not line.startswith("    ") or line.startswith("    $ ")):
            found.append(Example(block, at - len(block)))
            block = []
        if line.startswith(begin) or (block and line.startswith("    ")):
            block.append(line)
    return found


class Names:
    """What stands for what: names of the page, and those of this run. `changing` holds the members, and matches the
    names of members, that every run gives another value; `is_strict` tells whether other differences are failures.
    """

    def __init__(self, changing: set[str], is_strict: bool, names: re.Pattern[str] | None = None) -> None:
        self._known: dict[str, str] = {}
        self._changing, self._is_strict, self._names = changing, is_strict, names

    def add(self, printed: str, real: str) -> None:
        self._known.setdefault(printed, real)

    def translate(self, text: str) -> str:
        """The text with the names of this run, each put in once."""
        if not self._known:
            return text
        known = "|".join(re.escape(name) for name in sorted(self._known, key=len, reverse=True))
        return re.sub(known, lambda found: self._known[found[0]], text)

    def compare(self, printed: Any, real: Any, counts: bool = False) -> None:
        """Compares an answer with the printed one, and learns what differs and may."""
        try:
            self._learn(printed, real, "", counts)
        except Failed:
            if self._is_strict:
                raise

    def _learn(self, printed: Any, real: Any, path: str, counts: bool) -> None:
        member = path.rsplit(".", 1)[-1].removesuffix("[]")
        if isinstance(printed, dict) and isinstance(real, dict):
            self._learn_names(printed, real)
            translated = {self.translate(key): key for key in printed}
            expect_equal(sorted(real), sorted(translated), f"members at {path or 'the top'}")
            for key, value in real.items():
                self._learn(printed[translated[key]], value, f"{path}.{key}", counts)
        elif isinstance(printed, list) and isinstance(real, list):
            expect_equal(len(real), len(printed), f"elements at {path}")
            for one, other in zip(printed, real, strict=True):
                self._learn(one, other, path + "[]", counts)
        elif member == "msgids":
            self._learn(json.loads(printed), json.loads(real), path + "[].text", counts)
        elif member in self._changing or counts:
            expect_equal(type(real), type(printed), f"kind of value at {path}")
            if isinstance(printed, str) and len(printed) >= SHORTEST and not TIME.fullmatch(printed):
                self.add(printed, real)
        else:
            wanted = self.translate(printed) if isinstance(printed, str) else printed
            expect_equal(real, wanted, f"value at {path}")

    def _learn_names(self, printed: dict[str, Any], real: dict[str, Any]) -> None:
        """Learns names of members that every run makes anew, if it is clear which stands for which."""
        if not self._names:
            return
        ours = [key for key in printed if self._names.fullmatch(key) and self.translate(key) not in real]
        theirs = [key for key in real if self._names.fullmatch(key) and key not in self._known.values()]
        if len(ours) == len(theirs) == 1:
            self.add(ours[0], theirs[0])


class Page:
    """A page whose examples are run one after the other."""

    def __init__(self, path: pathlib.Path, beginnings: tuple[str, ...] = ("curl", "printf")):
        self._path, self.text = path, path.read_text()
        self._beginnings = beginnings
        self._answers: dict[int, tuple[Example, str]] = {}

    async def play(self, names: Names, environment: Mapping[str, str], prepare: Callable[[str], Awaitable[str]],
                   left_out: tuple[str, ...] = (), counts: str = "",
                   read: Callable[[str], Any] = json.loads) -> int:  # fmt: skip
        """Runs the examples, but for those that contain what is `left_out`, and compares the answers; of those of
        commands with `counts` only the members. Returns how many there were. `prepare` does what a command needs and
        returns it with the names of this run; `read` reads a line of an answer.
        """
        for example in examples(self.text, self._beginnings):
            if any(text in example.command for text in left_out):
                continue
            answer = await run(await prepare(example.command), environment)
            try:
                expect_equal(len(answer.split("\n")), len(example.answers), "lines of the answer")
                for printed, real in zip(example.answers, answer.split("\n"), strict=True):
                    names.compare(read(printed), read(real), bool(counts) and counts in example.command)
            except (Failed, ValueError) as failure:
                place = f"{self._path.name}, line {example.first + 1}"
                raise Failed(f"{place}: {example.command}\n{failure}\n{answer}") from None
            self._answers[example.line] = example, answer
        return len(self._answers)

    def update(self, names: Names) -> None:
        """Replaces the answers on the page by those of this run."""
        lines = [names.translate(line) for line in self.text.split("\n")]
        for at, (example, answer) in sorted(self._answers.items(), reverse=True):
            lines[at : at + len(example.answers)] = ["    " + line for line in answer.split("\n")]
        self._path.write_text("\n".join(lines))


def main(what: str, play: Callable[[str, pathlib.Path, bool], Coroutine[Any, Any, None]]) -> None:
    """Plays a page with the program that --binary names, in a folder of its own; exits with 1 if it fails."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--binary", required=True, help="the built program")
    parser.add_argument("--update", action="store_true", help="write the answers of this run into the page")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.binary).resolve())
    with tempfile.TemporaryDirectory(prefix="borealis-") as folder:
        try:
            asyncio.run(play(binary, pathlib.Path(folder), arguments.update))
        except (Failed, OSError) as failure:
            sys.exit(f"FAILED {told(failure)}")


async def run(command: str, environment: Mapping[str, str]) -> str:
    """Runs a command in a shell, as a reader of the page would, and returns what it printed."""
    command = re.sub(r"\bcurl ", "curl -sS --max-time 30 ", command, count=1)
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", command, env={"PATH": os.environ["PATH"], "NO_PROXY": "*", **environment},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    expect_equal(process.returncode, 0, f"exit status of {command}; it printed {output.decode()}")
    return output.decode().rstrip("\n")
