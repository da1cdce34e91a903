'use strict';
// A running server: its ports, its log, and requests to its admin endpoint. How a server is started
// and which requests there are is described once for all kits in kits/README.md.

const { HBliteError, findBinary } = require('./binary.js');
const { ServerProcess } = require('./process.js');

/** Starts an empty server in memory on free ports; resolves when it is ready. */
async function start(options = {}) {
  const { binary, regionServers = 1, settings = {}, log = 'errors', args = [] } = options;
  const parameters = ['serve', '--memory', '--zookeeper-port', '0', '--rpc-port', '0'];
  parameters.push('--region-servers', String(regionServers), '--exit-with-parent', '--log', log);
  for (const [name, value] of Object.entries(settings)) parameters.push('-D', `${name}=${value}`);
  const server = new ServerProcess(findBinary(binary), [...parameters, ...args]);
  return new Server(await server.ready(), server, () => server.stop());
}

/** A separate HBase for a suite or a test. */
class Server {
  #ready;
  #process;
  #stop;

  constructor(ready, process, stop) {
    this.#ready = ready;
    this.#process = process;
    this.#stop = stop;
    this.faults = new Faults(this);
    this.clock = new Clock(this);
  }

  get zookeeperPort() {
    return this.#ready.zookeeper_port;
  }

  get rpcPort() {
    return this.#ready.rpc_port;
  }

  get httpPort() {
    return this.#ready.http_port;
  }

  get thriftPort() {
    return this.#gatewayPort('thrift');
  }

  get thrift2Port() {
    return this.#gatewayPort('thrift2');
  }

  get restPort() {
    return this.#gatewayPort('rest');
  }

  #gatewayPort(name) {
    const port = this.#ready[`${name}_port`];
    if (port === undefined || port === null) {
      const args = `args: ['--${name}-port', '0']`;
      throw new HBliteError(`this server has no port for ${name}: start it with ${args}`);
    }
    return port;
  }

  get consoleUrl() {
    const url = this.#ready.console_url;
    if (url === undefined || url === null) {
      throw new HBliteError('this server has no console: forks and --no-http have none');
    }
    return url;
  }

  get zookeeper() {
    return `127.0.0.1:${this.zookeeperPort}`;
  }

  get url() {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  get configuration() {
    return {
      'hbase.zookeeper.quorum': '127.0.0.1',
      'hbase.zookeeper.property.clientPort': String(this.zookeeperPort),
    };
  }

  async request(method, path, body) {
    const options = { method };
    if (body !== undefined) {
      options.body = JSON.stringify(body);
      options.headers = { 'Content-Type': 'application/json' };
    }
    let answer;
    try {
      answer = await fetch(this.url + path, options);
    } catch (cause) {
      throw new HBliteError(`${method} ${path}: ${cause.cause?.message ?? cause.message}`, { cause });
    }
    const text = await answer.text();
    const json = parsed(text);
    if (!answer.ok) throw new HBliteError(`${method} ${path}: ${json?.error ?? text}`);
    return json ?? text;
  }

  status() {
    return this.request('GET', '/status');
  }

  crash(server, options = {}) {
    const { reassignAfterMs } = options;
    const body = reassignAfterMs === undefined ? {} : { reassign_after_ms: reassignAfterMs };
    return this.request('POST', `/servers/${server}/crash`, body);
  }

  restart(server) {
    return this.request('POST', `/servers/${server}/restart`, {});
  }

  async checkpoint(name) {
    await this.request('POST', '/checkpoints', { name });
  }

  async rewind(checkpoint) {
    await this.request('POST', `/checkpoints/${encodeURIComponent(checkpoint)}/rewind`, {});
  }

  async restore(checkpoint) {
    await this.rewind(checkpoint);
    await this.faults.clear();
    if (this.clock.isChanged) await this.clock.reset();
  }

  async deleteCheckpoint(name) {
    await this.request('DELETE', `/checkpoints/${encodeURIComponent(name)}`);
  }

  async fork(checkpoint) {
    const ready = await this.request('POST', '/forks', { checkpoint });
    let stopped;
    const stop = () => (stopped ??= this.request('DELETE', `/forks/${ready.id}`));
    return new Server(ready, this.#process, stop);
  }

  log() {
    return this.#process.log();
  }

  async stop() {
    await this.#stop();
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.stop();
  }
}

/** Faults on demand (docs/faults.md). */
class Faults {
  #server;

  constructor(server) {
    this.#server = server;
  }

  async set(fault) {
    return (await this.#server.request('POST', '/faults', fault)).id;
  }

  list() {
    return this.#server.request('GET', '/faults');
  }

  async clear(id) {
    await this.#server.request('DELETE', id === undefined ? '/faults' : `/faults/${id}`);
  }
}

/** The clock of a server. */
class Clock {
  #server;

  constructor(server) {
    this.#server = server;
    this.isChanged = false;
  }

  async now() {
    return new Date((await this.#server.request('GET', '/clock')).now_ms);
  }

  async stop() {
    await this.#set({ mode: 'manual' });
  }

  async run() {
    await this.#set({ mode: 'offset' });
  }

  async reset() {
    await this.#set({ mode: 'real' });
    this.isChanged = false;
  }

  async set(time) {
    await this.#set({ now_ms: Number(time) });
  }

  async advance(milliseconds) {
    await this.#set({ advance_ms: milliseconds });
  }

  #set(body) {
    this.isChanged = true;
    return this.#server.request('POST', '/clock', body);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

module.exports = { Clock, Faults, HBliteError, Server, findBinary, start };
