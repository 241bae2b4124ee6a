"""A model of a disk after a power cut, based on the log that recorder.py writes.

Synced changes are on the disk. Of the later ones any part may be: each sector of a
write, each new size, each new name and each removal survives or is lost.
"""

import io
import pickle
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR_BYTES = 512
LUCK = (0, 0.1, 0.5, 0.9, 1)  # the share of unsynced sectors that reach the disk

Line = tuple  # a verb, a path, and the arguments of the verb


@dataclass
class File:
    """The synced content of a file, and the changes that a power cut may undo."""

    safe: bytearray
    changes: list[tuple[int, int, bytes | None]] = field(default_factory=list)

    def sync(self, began: int) -> None:
        """Make the changes before that position of the log permanent."""
        for _, offset, content in (c for c in self.changes if c[0] < began):
            _change(self.safe, offset, content)
        self.changes = [change for change in self.changes if change[0] >= began]

    def remains(self, dice: random.Random) -> bytes:
        """Return a possible content after a power cut."""
        found, luck = bytearray(self.safe), dice.choice(LUCK)
        for _, offset, content in self.changes:
            for start, piece in _sectors(offset, content):
                if dice.random() < luck:
                    _change(found, start, piece)
        return bytes(found)


class Disk:
    """The files of a directory while a log is replayed."""

    def __init__(self, directory: Path) -> None:
        # By path: the synced file, then later ones that a power cut may undo.
        self._files: dict[str, list[File | None]] = {
            str(path): [File(bytearray(path.read_bytes()))]
            for path in directory.resolve().iterdir()
            if not path.name.endswith("-shm")
        }

    def play(self, place: int, line: Line) -> None:
        """Replay the line that begins at that position of the log."""
        verb, path, *more = line
        meanings = self._files.setdefault(path, [None])
        match verb:
            case "create":
                meanings.append(File(bytearray()))
            case "write":
                meanings[-1].changes.append((place, *more))
            case "truncate":
                meanings[-1].changes.append((place, *more, None))
            case "sync":
                meanings[-1].sync(*more)
                del meanings[:-1]  # SQLite syncs the directory of a new file, too
            case "delete":
                meanings.append(None)
                if more == [True]:
                    del meanings[:-1]

    def cut_power(self, dice: random.Random, directory: Path) -> None:
        """Write a possible state after a power cut into a new directory."""
        directory.mkdir()
        for path, meanings in self._files.items():
            if file := dice.choice(meanings):
                (directory / Path(path).name).write_bytes(file.remains(dice))


def lines(log: bytes) -> Iterator[tuple[int, Line]]:
    """Yield each line with its position, without an incomplete last one."""
    stream = io.BytesIO(log)
    while (place := stream.tell()) < len(log):
        try:
            yield place, pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            return


def _sectors(offset: int, content: bytes | None) -> Iterator[tuple[int, bytes | None]]:
    """Split a write at the ends of sectors; a new size is one piece."""
    if content is None:
        yield offset, None
        return
    start = 0
    while start < len(content):
        end = start + SECTOR_BYTES - (offset + start) % SECTOR_BYTES
        yield offset + start, content[start:end]
        start = end


def _change(found: bytearray, offset: int, content: bytes | None) -> None:
    """Write the content at the offset, or truncate the file there."""
    if content is None:
        del found[offset:]
    found.extend(bytes(max(0, offset - len(found))))
    if content is not None:
        found[offset : offset + len(content)] = content
