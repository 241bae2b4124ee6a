"""SQLite's own file system, whose functions can be replaced in this process."""

import _sqlite3
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_int, c_int64, c_void_p

MAIN_DB, WAL = 0x100, 0x80000  # SQLITE_OPEN_…

TRANSFER = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)


class Methods(Structure):
    """The structure sqlite3_io_methods: what is done to an open file."""

    _fields_ = [
        ("version", c_int),
        ("close", c_void_p),
        ("read", TRANSFER),
        ("write", TRANSFER),
        ("truncate", c_void_p),
        ("sync", SYNC),
        ("others", c_void_p * 13),
    ]


class _File(Structure):
    """The beginning of the structure sqlite3_file."""

    _fields_ = [("methods", POINTER(Methods))]


class _FileSystem(Structure):
    """The beginning of the structure sqlite3_vfs."""

    _fields_ = [
        ("sizes", c_int * 3),
        ("next_name_and_app_data", c_void_p * 3),
        ("open", OPEN),
    ]


class Shim:
    """Stands between SQLite and the files that this process opens from now on."""

    kept = MAIN_DB | WAL

    def __init__(self) -> None:
        find = ctypes.CDLL(_sqlite3.__file__).sqlite3_vfs_find
        find.restype = POINTER(_FileSystem)
        self._system = find(None).contents
        self._original = _FileSystem.from_buffer_copy(self._system)
        # By their address: the original methods, and ours.
        self._methods: dict[int, tuple[Methods, Methods]] = {}
        self._callback = OPEN(self._open)  # a reference that keeps it alive
        self._system.open = self._callback

    def _open(self, system: int, path: int, file: int, flags: int, out: int) -> int:
        failure: int = self._original.open(system, path, file, flags, out)
        if flags & self.kept and not failure:
            opened = _File.from_address(file)
            place = ctypes.addressof(opened.methods.contents)
            if place not in self._methods:
                theirs = Methods.from_buffer_copy(opened.methods.contents)
                ours = Methods.from_buffer_copy(theirs)
                self._replace(ours, theirs)
                self._methods[place] = theirs, ours
            opened.methods = ctypes.pointer(self._methods[place][1])
        return failure

    def _replace(self, ours: Methods, theirs: Methods) -> None:
        """Replace some of our methods, which are copies of theirs."""
        raise NotImplementedError
