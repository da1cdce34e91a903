'use strict';
// Goal: the kit starts servers that share nothing, says what is wrong, and leaves none behind.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { once } = require('node:events');
const { test } = require('node:test');
const { HBliteError, findBinary, start } = require('hblite');

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

test('errors say what to do', async () => {
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
});

test('a server does not keep its process alive, and ends when that is killed', async () => {
  const kit = JSON.stringify(require.resolve('hblite'));
  const program = (end) =>
    `require(${kit}).start().then((server) => { console.log(server.zookeeperPort); ${end} });`;
  const ends = spawn(process.execPath, ['-e', program('')], { stdio: 'inherit' });
  assert.deepEqual(await once(ends, 'exit'), [0, null]);

  const waits = spawn(process.execPath, ['-e', program('setInterval(() => {}, 1000)')]);
  const port = Number(String((await once(waits.stdout, 'data'))[0]));
  const watch = net.connect(port, '127.0.0.1');
  await once(watch, 'connect');
  waits.kill('SIGKILL');
  // The server closes its connections when it ends.
  watch.on('error', () => {});
  watch.resume();
  await once(watch, 'close');
  await assert.rejects(answer(port, 'ruok'), { code: 'ECONNREFUSED' });
});
