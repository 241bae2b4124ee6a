"""What a disk may hold after a power cut, by the log that recorder.py writes.

What was synced is there. Of all that came later, any part may be: each sector of each
write, each new size, each new name and each removal, or none of them.
"""

import io
import pickle
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR_BYTES = 512
LUCK = (0, 0.1, 0.5, 0.9, 1)  # the share of unsynced sectors that reach the disk

Line = tuple  # a verb, a path, and what the verb needs


@dataclass
class File:
    """The safe content of a file, and the changes that a power cut may undo."""

    safe: bytearray
    changes: list[tuple[int, int, bytes | None]] = field(default_factory=list)

    def sync(self, began: int) -> None:
        """Make safe what was written before that place of the log."""
        for _, offset, content in (c for c in self.changes if c[0] < began):
            _change(self.safe, offset, content)
        self.changes = [change for change in self.changes if change[0] >= began]

    def remains(self, dice: random.Random) -> bytes:
        """The content after a power cut."""
        found, luck = bytearray(self.safe), dice.choice(LUCK)
        for _, offset, content in self.changes:
            for start, piece in _sectors(offset, content):
                if dice.random() < luck:
                    _change(found, start, piece)
        return bytes(found)


class Disk:
    """The files of a directory, as the lines of a log change them."""

    def __init__(self, directory: Path) -> None:
        # Each name has a safe meaning, and later ones that may or may not be so.
        self._files: dict[str, list[File | None]] = {
            str(path): [File(bytearray(path.read_bytes()))]
            for path in directory.resolve().iterdir()
            if not path.name.endswith("-shm")
        }

    def play(self, place: int, line: Line) -> None:
        """Take over the line that begins at that place of the log."""
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
                del meanings[:-1]  # with a new file SQLite syncs its directory
            case "delete":
                meanings.append(None)
                if more == [True]:
                    del meanings[:-1]

    def cut_power(self, dice: random.Random, directory: Path) -> None:
        """Write what remains of all files into another directory."""
        directory.mkdir()
        for path, meanings in self._files.items():
            if file := dice.choice(meanings):
                (directory / Path(path).name).write_bytes(file.remains(dice))


def lines(log: bytes) -> Iterator[tuple[int, Line]]:
    """Each line, and the place where it begins; a last one may be incomplete."""
    stream = io.BytesIO(log)
    while (place := stream.tell()) < len(log):
        try:
            yield place, pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            return


def _sectors(offset: int, content: bytes | None) -> Iterator[tuple[int, bytes | None]]:
    """A write in pieces that end where sectors do; a new size is one piece."""
    if content is None:
        yield offset, None
        return
    start = 0
    while start < len(content):
        end = start + SECTOR_BYTES - (offset + start) % SECTOR_BYTES
        yield offset + start, content[start:end]
        start = end


def _change(found: bytearray, offset: int, content: bytes | None) -> None:
    """Write the content there, or cut the file there."""
    if content is None:
        del found[offset:]
    found.extend(bytes(max(0, offset - len(found))))
    if content is not None:
        found[offset : offset + len(content)] = content
