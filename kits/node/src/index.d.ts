/** How a server is started. */
export interface Options {
  /** The path of hblite; by default HBLITE_BIN, the bundled binary, or hblite on the PATH. */
  binary?: string;
  /** Number of region servers that clients see; 1. */
  regionServers?: number;
  /** Settings of the cluster by their names in hbase-site.xml. */
  settings?: Record<string, string | number | boolean>;
  /** Which calls are logged; those answered with an exception. */
  log?: 'errors' | 'calls';
  /** Further options of `hblite serve`. */
  args?: string[];
}

/** A fault; docs/faults.md of hblite describes the fields. */
export interface Fault {
  error?: string;
  drop?: 'before' | 'after';
  delay_ms?: number | [number, number];
  methods?: string[];
  tables?: string[];
  regions?: string[];
  servers?: ('master' | number)[];
  rate?: number;
  skip?: number;
  count?: number;
  seed?: number;
}

/** A fault that is set. */
export interface FaultStatus {
  id: number;
  fault: Fault;
  seen: number;
  happened: number;
}

/** hblite could not be started, or refused a request. The message says why. */
export class HBliteError extends Error {}

/** Faults on demand. */
export class Faults {
  /** Sets a fault; resolves to the number to clear it with. */
  set(fault: Fault): Promise<number>;
  list(): Promise<FaultStatus[]>;
  /** Clears one fault, or all. */
  clear(id?: number): Promise<void>;
}

/** The clock of a server: timestamps, times to live and scanner leases follow it. */
export class Clock {
  /** Whether it may differ from the real time. */
  readonly isChanged: boolean;
  now(): Promise<Date>;
  /** Stops it at its present time; from then on it moves only on request. */
  stop(): Promise<void>;
  /** Restarts it at its present time, independent of the real time. */
  run(): Promise<void>;
  /** Sets it to the real time. */
  reset(): Promise<void>;
  /** Sets the time. The server refuses to set it back while scanners are open. */
  set(time: Date | number): Promise<void>;
  /** Moves it forward. */
  advance(milliseconds: number): Promise<void>;
}

/** A separate HBase for a suite or a test. */
export class Server {
  readonly zookeeperPort: number;
  readonly rpcPort: number;
  readonly httpPort: number;
  readonly thriftPort: number;
  readonly thrift2Port: number;
  readonly restPort: number;
  /** The console's address for a browser, with the token that lets it make changes. */
  readonly consoleUrl: string;
  /** host:port of ZooKeeper. */
  readonly zookeeper: string;
  /** The address of the admin endpoint. */
  readonly url: string;
  /** What a client of HBase needs in its hbase-site.xml. */
  readonly configuration: Record<string, string>;
  readonly faults: Faults;
  readonly clock: Clock;
  /** Sends a request to the admin endpoint. */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  status(): Promise<Record<string, unknown>>;
  /** Crashes a region server, by number from 0. */
  crash(server: number, options?: { reassignAfterMs?: number }): Promise<unknown>;
  /** Brings a crashed region server back on its port. */
  restart(server: number): Promise<unknown>;
  /** Stores the present state of all tables under a name, and replaces an earlier one. */
  checkpoint(name: string): Promise<void>;
  /**
   * Returns all tables to a checkpoint. Clients stay connected; open scanners end with an error.
   */
  rewind(checkpoint: string): Promise<void>;
  /** Rewinds, clears all faults, and sets the clock to the real time if it was changed. */
  restore(checkpoint: string): Promise<void>;
  /** Forgets a checkpoint. */
  deleteCheckpoint(name: string): Promise<void>;
  /** Starts an independent server, on its own ports, in the state of a checkpoint. */
  fork(checkpoint: string): Promise<Server>;
  /** What the process has logged; a fork shares the log of its process. */
  log(): string;
  /** Ends the server. A second call does nothing. */
  stop(): Promise<void>;
}

/** The path of the binary: the given one, HBLITE_BIN, the bundled one, or hblite on the PATH. */
export function findBinary(given?: string): string;

/** Starts an empty server in memory on free ports; resolves when it is ready. */
export function start(options?: Options): Promise<Server>;
