"""Where the hblite binary is: the same order of places in every kit (kits/README.md)."""

import os
import shutil
from pathlib import Path
from typing import Optional, Union

from hblite.errors import Error


class HBliteError(Error):
    """hblite could not be started, or refused a request. The message says why."""


def find_binary(path: Union[str, Path, None] = None) -> str:
    """The path of the binary: ``path``, ``HBLITE_BIN``, the bundled one, or ``hblite`` on PATH."""
    if path is not None:
        return _executable(Path(path), "the given path")
    from_environment = os.environ.get("HBLITE_BIN")
    if from_environment:
        return _executable(Path(from_environment), "HBLITE_BIN")
    bundled = bundled_binary()
    if bundled is not None:
        return _executable(bundled, "this package")
    on_path = shutil.which("hblite")
    if on_path is None:
        raise HBliteError(
            "no hblite binary found: this package has none for this platform, HBLITE_BIN is not"
            " set, and there is no hblite on the PATH"
        )
    return on_path


def bundled_binary() -> Optional[Path]:
    """The binary in this package, if it has one."""
    name = "hblite.exe" if os.name == "nt" else "hblite"
    path = Path(__file__).parent / "bin" / name
    return path if path.exists() else None


def _executable(path: Path, origin: str) -> str:
    if not path.is_file():
        raise HBliteError(f"{path} (from {origin}) is not a file")
    if not os.access(path, os.X_OK):
        raise HBliteError(
            f"{path} (from {origin}) may not be executed: run `chmod +x` on it, and if it is on a"
            " file system mounted with noexec, copy it elsewhere and set HBLITE_BIN"
        )
    return str(path)
