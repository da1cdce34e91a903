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

/** An HBase of its own for a suite or a test. */
export class Server {
  readonly zookeeperPort: number;
  readonly rpcPort: number;
  readonly httpPort: number;
  readonly thriftPort: number;
  /** host:port of ZooKeeper. */
  readonly zookeeper: string;
  /** The address of the admin endpoint. */
  readonly url: string;
  /** What a client of HBase needs in its hbase-site.xml. */
  readonly configuration: Record<string, string>;
  readonly faults: Faults;
  /** Sends a request to the admin endpoint. */
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  status(): Promise<Record<string, unknown>>;
  /** Crashes a region server, by number from 0. */
  crash(server: number, options?: { reassignAfterMs?: number }): Promise<unknown>;
  /** Brings a crashed region server back on its port. */
  restart(server: number): Promise<unknown>;
  /** What the server has logged. */
  log(): string;
  /** Ends the server. A second call does nothing. */
  stop(): Promise<void>;
}

/** The path of the binary: the given one, HBLITE_BIN, the bundled one, or hblite on the PATH. */
export function findBinary(given?: string): string;

/** Starts an empty server in memory on free ports; resolves when it is ready. */
export function start(options?: Options): Promise<Server>;
