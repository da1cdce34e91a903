import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useHBlite } from 'hblite/setup';

const DAY_MS = 86_400_000;
const suite = useHBlite({ afterAll, beforeAll, beforeEach });

test('a day passes in a millisecond', async () => {
  await suite.server.clock.stop();
  const start = await suite.server.clock.now();
  await suite.server.clock.advance(DAY_MS);
  expect((await suite.server.clock.now()) - start).toBe(DAY_MS);
});

test('the next test has the real time again', async () => {
  expect(Math.abs((await suite.server.clock.now()) - Date.now())).toBeLessThan(DAY_MS);
});
