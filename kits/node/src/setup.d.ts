import type { Options, Server } from './index.js';

/** The hooks of a test runner: those of vitest and jest, or of node:test. */
export interface Hooks {
  beforeAll?(hook: () => Promise<void>): void;
  before?(hook: () => Promise<void>): void;
  afterAll?(hook: () => Promise<void> | undefined): void;
  after?(hook: () => Promise<void> | undefined): void;
  beforeEach(hook: () => Promise<void>): void;
}

/**
 * Starts a server before all tests of a file, rewinds it before each to the state that `prepare`
 * left, and stops it after all.
 */
export function useHBlite(
  hooks: Hooks,
  options?: Options & { prepare?: (server: Server) => Promise<void> },
): { server: Server };
