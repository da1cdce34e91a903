"""Builds a wheel for one platform if `src/hblite/bin` has a binary, and for all if not."""

import os
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

BINARIES = list(Path(__file__).parent.glob("src/hblite/bin/hblite*"))


class PlatformWheel(bdist_wheel):
    """A wheel whose tag names the platform of the binary, and any Python 3."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not BINARIES

    def get_tag(self):
        if not BINARIES:
            return "py3", "none", "any"
        platform = os.environ.get("HBLITE_WHEEL_PLATFORM") or super().get_tag()[2]
        return "py3", "none", platform


class PlatformDistribution(Distribution):
    """Installs into the directory for platform-specific packages if there is a binary."""

    def has_ext_modules(self):
        return bool(BINARIES)


setup(distclass=PlatformDistribution, cmdclass={"bdist_wheel": PlatformWheel})
