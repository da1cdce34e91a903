"""Builds a wheel for one platform if the package has a binary or the native module, and for all
platforms if not."""

import os
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

PACKAGE = Path(__file__).parent / "src" / "hblite"
# For Python's stable ABI: one serves all versions from 3.10 on.
NATIVE = [path for path in PACKAGE.glob("_native.*") if path.suffix != ".pyi"]
BINARIES = [*PACKAGE.glob("bin/hblite*"), *NATIVE]


class PlatformWheel(bdist_wheel):
    """A wheel whose tag names the platform of the binary, and the versions of Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not BINARIES

    def get_tag(self):
        if not BINARIES:
            return "py3", "none", "any"
        platform = os.environ.get("HBLITE_WHEEL_PLATFORM") or super().get_tag()[2]
        return ("cp310", "abi3", platform) if NATIVE else ("py3", "none", platform)


class PlatformDistribution(Distribution):
    """Installs into the directory for platform-specific packages if there is a binary."""

    def has_ext_modules(self):
        return bool(BINARIES)


setup(distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
