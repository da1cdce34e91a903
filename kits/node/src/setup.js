'use strict';
// One server for the tests of a file, which begin in the same state: for vitest, jest and any runner
// with their hooks.

const { start } = require('./index.js');

const CHECKPOINT = 'hblite-setup';

/**
 * Registers hooks that start a server before all tests, rewind it before each, and stop it after
 * all. Returns an object whose `server` is there from the first hook on.
 */
function useHBlite(hooks, options = {}) {
  const { prepare = async () => {}, ...others } = options;
  const suite = {};
  const beforeAll = hooks.beforeAll ?? hooks.before;
  const afterAll = hooks.afterAll ?? hooks.after;
  beforeAll(async () => {
    suite.server = await start(others);
    await prepare(suite.server);
    await suite.server.checkpoint(CHECKPOINT);
  });
  hooks.beforeEach(async () => {
    await suite.server.restore(CHECKPOINT);
  });
  afterAll(() => suite.server?.stop());
  return suite;
}

module.exports = { useHBlite };
