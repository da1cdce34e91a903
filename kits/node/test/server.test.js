'use strict';
// Goal: the kit starts servers that share nothing, says what is wrong, and leaves none behind.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { once } = require('node:events');
const { after, before, beforeEach, describe, test } = require('node:test');
const { HBliteError, findBinary, start } = require('hblite');
const { useHBlite } = require('hblite/setup');

async function answer(port, word) {
  const socket = net.connect(port, '127.0.0.1');
  socket.end(word);
  let text = '';
  for await (const bytes of socket) text += bytes;
  return text;
}

test('a server answers, and its ports are closed when it has stopped', async () => {
  const server = await start();
  assert.equal(await answer(server.zookeeperPort, 'ruok'), 'imok');
  assert.equal(await server.request('GET', '/health'), 'ok\n');
  await server.stop();
  await assert.rejects(answer(server.zookeeperPort, 'ruok'), { code: 'ECONNREFUSED' });
  await server.stop();
});

test('two servers share no port', async (t) => {
  const [one, other] = await Promise.all([start(), start()]);
  t.after(() => Promise.all([one.stop(), other.stop()]));
  assert.notEqual(one.zookeeperPort, other.zookeeperPort);
  assert.notEqual(one.httpPort, other.httpPort);
});

test('the ports of gateways and the console are known', async (t) => {
  const args = ['--thrift-port', '0', '--thrift2-port', '0', '--rest-port', '0'];
  const server = await start({ args });
  t.after(() => server.stop());
  const ports = [server.thriftPort, server.thrift2Port, server.restPort];
  assert.ok(ports.every((port) => port > 0) && new Set(ports).size === 3);
  assert.ok(server.consoleUrl.startsWith(`${server.url}/console/`));
  const plain = await start();
  t.after(() => plain.stop());
  assert.throws(() => plain.restPort, /--rest-port/);
});

test('faults are set, listed and cleared', async (t) => {
  const server = await start({ regionServers: 2 });
  t.after(() => server.stop());
  const id = await server.faults.set({ drop: 'after', methods: ['Mutate'], count: 3 });
  assert.equal((await server.faults.list())[0].id, id);
  await server.faults.clear(id);
  assert.deepEqual(await server.faults.list(), []);
  await assert.rejects(server.faults.clear(id), /no fault has the number/);
  await server.crash(1);
  await server.restart(1);
});

test('a fork begins as its checkpoint and ends alone', async (t) => {
  const server = await start();
  t.after(() => server.stop());
  await server.checkpoint('a-base.1');
  await server.rewind('a-base.1');
  const fork = await server.fork('a-base.1');
  assert.notEqual(fork.zookeeperPort, server.zookeeperPort);
  assert.equal(await answer(fork.zookeeperPort, 'ruok'), 'imok');
  await fork.stop();
  await fork.stop();
  await assert.rejects(answer(fork.zookeeperPort, 'ruok'), { code: 'ECONNREFUSED' });
  await assert.rejects(server.fork('unknown'), /unknown/);
});

test('a clock moves on request', async (t) => {
  const server = await start();
  t.after(() => server.stop());
  await server.clock.stop();
  const begin = await server.clock.now();
  await server.clock.advance(86_400_000);
  assert.equal((await server.clock.now()) - begin, 86_400_000);
});

describe('with hooks, every test', () => {
  const prepare = (server) => server.checkpoint('prepared');
  const suite = useHBlite({ before, after, beforeEach }, { prepare });
  for (const number of [1, 2]) {
    test(`begins in the same state (${number})`, async () => {
      assert.deepEqual(await suite.server.faults.list(), []);
      await suite.server.faults.set({ drop: 'after', count: 1 });
    });
  }
});

test('errors say what to do', async (t) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'hblite-'));
  const file = path.join(directory, 'hblite');
  fs.writeFileSync(file, '#!/bin/sh\n', { mode: 0o600 });
  assert.throws(() => findBinary(directory), /is not a file/);
  // Root may execute nothing either that has no execute permission at all.
  assert.throws(() => findBinary(file), /chmod \+x/);
  fs.rmSync(directory, { recursive: true });
  const wrong = start({ settings: { 'hbase.nothing': 1 } });
  await assert.rejects(wrong, (error) => {
    assert.ok(error instanceof HBliteError);
    assert.match(error.message, /hbase.nothing is not a setting of hblite/);
    return true;
  });
  const server = await start();
  t.after(() => server.stop());
  const taken = String(server.httpPort);
  await assert.rejects(start({ args: ['--http-port', taken] }), {
    name: 'HBliteError',
    message: new RegExp(`cannot listen on 127\\.0\\.0\\.1:${taken}`),
  });
});

test('a server does not keep its process alive, and ends when that is killed', async () => {
  const kit = JSON.stringify(require.resolve('hblite'));
  const program = (end) =>
    `require(${kit}).start().then((server) => { console.log(server.zookeeperPort); ${end} });`;
  const ends = spawn(process.execPath, ['-e', program('')], { stdio: 'inherit' });
  assert.deepEqual(await once(ends, 'exit'), [0, null]);

  const waits = spawn(process.execPath, ['-e', program('setInterval(() => {}, 1000)')]);
  const port = Number(String((await once(waits.stdout, 'data'))[0]));
  assert.equal(await answer(port, 'ruok'), 'imok');
  waits.kill('SIGKILL');
  // The server closes its connections when it ends, and its ports shortly afterwards.
  const late = Date.now() + 10_000;
  for (;;) {
    const watch = net.connect(port, '127.0.0.1');
    const end = await new Promise((resolve) => {
      watch.once('error', resolve);
      watch.once('close', resolve);
      watch.resume();
    });
    if (end?.code === 'ECONNREFUSED') break;
    assert.ok(Date.now() < late, 'the server still runs');
  }
});
