"""The ``hblite`` command of this package: runs the binary with the same arguments."""

import os
import subprocess
import sys

from hblite.binary import HBliteError, bundled_binary, find_binary


def main() -> None:
    """Replaces this process by the binary."""
    try:
        # Not the PATH: this script is the `hblite` on it.
        if bundled_binary() is None and not os.environ.get("HBLITE_BIN"):
            raise HBliteError("this package has no binary for this platform; set HBLITE_BIN")
        binary = find_binary()
    except HBliteError as error:
        sys.exit(f"hblite: {error}")
    if os.name == "nt":
        sys.exit(subprocess.call([binary, *sys.argv[1:]]))
    os.execv(binary, [binary, *sys.argv[1:]])
