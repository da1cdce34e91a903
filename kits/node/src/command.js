#!/usr/bin/env node
'use strict';
// The `hblite` command of this package: runs the binary with the same arguments.

const { spawnSync } = require('node:child_process');
const { bundledBinary } = require('./binary.js');

// Not the PATH: this script is the `hblite` on it.
const binary = process.env.HBLITE_BIN || bundledBinary();
if (!binary) {
  console.error('hblite: there is no package with a binary for this platform; set HBLITE_BIN');
  process.exit(1);
}
const { status, error } = spawnSync(binary, process.argv.slice(2), { stdio: 'inherit' });
if (error) console.error(`hblite: cannot execute ${binary}: ${error.message}`);
process.exit(status ?? 1);
