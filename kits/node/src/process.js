'use strict';
// The operating system's side of a server: pipes, log, end.

const { spawn } = require('node:child_process');
const { HBliteError } = require('./binary.js');

const LOG_LENGTH_MAX = 1 << 20;
const START_MS_MAX = 30_000;
const STOP_MS_MAX = 10_000;

/** A started server. */
class ServerProcess {
  #child;
  #log = '';
  #ended;

  constructor(binary, parameters) {
    this.#child = spawn(binary, parameters, { stdio: 'pipe' });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', resolve);
      this.#child.once('error', (error) => {
        this.#log += `cannot execute ${binary}: ${error.message}`;
        resolve();
      });
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#log = (this.#log + text).slice(-LOG_LENGTH_MAX);
    });
  }

  /** Resolves to the ready line. */
  async ready() {
    const line = await this.#firstLine();
    // From here on the server does not keep this process alive.
    this.#child.unref();
    for (const stream of this.#child.stdio) stream.unref();
    return line;
  }

  #firstLine() {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#child.kill('SIGKILL'), START_MS_MAX);
      let text = '';
      let isReady = false;
      this.#child.stdout.setEncoding('utf8').on('data', (more) => {
        if (isReady) return;
        text += more;
        const end = text.indexOf('\n');
        if (end < 0) return;
        isReady = true;
        clearTimeout(late);
        resolve(JSON.parse(text.slice(0, end)));
      });
      this.#ended.then(() => {
        clearTimeout(late);
        reject(new HBliteError(`hblite did not start: ${this.#log.trim()}`));
      });
    });
  }

  log() {
    return this.#log;
  }

  /** Closes the server's input, which ends it on every platform. */
  async stop() {
    this.#child.ref();
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.#ended;
    clearTimeout(late);
  }
}

module.exports = { ServerProcess };
