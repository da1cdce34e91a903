'use strict';
// Where the hblite binary is: the same order of places in every kit (kits/README.md).

const fs = require('node:fs');
const path = require('node:path');

/** hblite could not be started, or refused a request. The message says why. */
class HBliteError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'HBliteError';
  }
}

const FILE = process.platform === 'win32' ? 'hblite.exe' : 'hblite';

function executable(file, origin) {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new HBliteError(`${file} (from ${origin}) is not a file`);
  }
  try {
    fs.accessSync(file, fs.constants.X_OK);
  } catch (cause) {
    throw new HBliteError(
      `${file} (from ${origin}) may not be executed: run \`chmod +x\` on it, and if it is on a file ` +
        'system mounted with noexec, copy it elsewhere and set HBLITE_BIN',
      { cause },
    );
  }
  return file;
}

/** The binary of the package for this platform, if that is installed. */
function bundledBinary() {
  try {
    return require.resolve(`@hblite/${process.platform}-${process.arch}/${FILE}`);
  } catch {
    return undefined;
  }
}

/** The path of the binary: the given one, HBLITE_BIN, the bundled one, or hblite on the PATH. */
function findBinary(given) {
  if (given) return executable(given, 'the given path');
  if (process.env.HBLITE_BIN) return executable(process.env.HBLITE_BIN, 'HBLITE_BIN');
  const bundled = bundledBinary();
  if (bundled) return executable(bundled, 'its package');
  for (const directory of (process.env.PATH ?? '').split(path.delimiter).filter(Boolean)) {
    const file = path.join(directory, FILE);
    if (fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return executable(file, 'the PATH');
  }
  throw new HBliteError(
    `no hblite binary found: @hblite/${process.platform}-${process.arch} is not installed, ` +
      'HBLITE_BIN is not set, and there is no hblite on the PATH',
  );
}

module.exports = { HBliteError, bundledBinary, findBinary };
