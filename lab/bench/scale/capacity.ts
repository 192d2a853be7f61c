/** What the parts of an application cost, as measured by `npm run simulate`. */
export interface Parts {
  /** CPU time for one request of each kind, in microseconds. */
  readonly kinds: readonly {
    readonly kind: string;
    /** How many of 100 requests are of this kind. */
    readonly share: number;
    readonly node: number;
    readonly redis: number;
    readonly postgres: number;
  }[];
  /** Memory of Redis for the session and the counters of a signed-in user. */
  readonly sessionBytes: number;
  /** Disk of PostgreSQL for a user with its indexes. */
  readonly userBytes: number;
  /** Memory of a process for a WebSocket with one subscription. */
  readonly socketBytes: number;
  /** CPU time of a process to send one event to one socket, in microseconds. */
  readonly messageMicros: number;
}

/** What users do. Change it to your own figures: the table is in proportion to them. */
export const HABITS = {
  /** Of all users, those who come on one day. */
  activeShare: 0.1,
  requestsPerDay: 100,
  /** The busiest second against the average of the day. */
  peak: 3,
  /** Of all users, those with an open socket at the busiest time. */
  onlineShare: 0.02,
  eventsPerMinute: 2,
} as const;

/** What one process or server handles before it is time for another one. */
export const LIMITS = {
  /** Of a core, for a process and for Redis, whose commands run on one. Queues grow quickly beyond it. */
  load: 0.6,
  processBytes: 1_073_741_824,
  poolSize: 10,
  connections: 200,
  postgresCores: 16,
  redisBytes: 17_179_869_184,
} as const;

/** What a number of users needs at the busiest time. */
export interface Needs {
  readonly users: number;
  readonly requestsPerSecond: number;
  readonly sockets: number;
  readonly processes: number;
  /** Cores in use. */
  readonly node: number;
  readonly redis: number;
  readonly postgres: number;
  readonly connections: number;
  readonly redisBytes: number;
  readonly postgresBytes: number;
}

/** In proportion to the users, except for whole processes. */
export function needsOf(parts: Parts, users: number): Needs {
  const { activeShare, requestsPerDay, peak, onlineShare, eventsPerMinute } = HABITS;
  const requestsPerSecond = (users * activeShare * requestsPerDay * peak) / 86_400;
  const sockets = users * onlineShare;
  const cores = (part: "node" | "redis" | "postgres"): number =>
    parts.kinds.reduce((total, kind) => total + (kind.share / 100) * kind[part], 0) * (requestsPerSecond / 1e6);
  const node = cores("node") + (((sockets * eventsPerMinute) / 60) * parts.messageMicros) / 1e6;
  const processes = Math.ceil(Math.max(node / LIMITS.load, (sockets * parts.socketBytes) / LIMITS.processBytes, 1));
  return {
    users,
    requestsPerSecond,
    sockets,
    processes,
    node,
    redis: cores("redis"),
    postgres: cores("postgres"),
    connections: processes * LIMITS.poolSize,
    redisBytes: users * activeShare * parts.sessionBytes,
    postgresBytes: users * parts.userBytes,
  };
}

/** A limit, and the number of users that reach it. */
export interface Limit {
  readonly users: number;
  readonly reached: string;
  readonly remedy: string;
}

/** What breaks first, second, and so on, each for one server or process of its kind. */
export function limitsOf(parts: Parts): readonly Limit[] {
  const million = needsOf(parts, 1_000_000);
  return [
    {
      users: at(million.node, LIMITS.load),
      reached: `the CPU of one process, at ${100 * LIMITS.load}% of a core`,
      remedy: "Run more processes with shared stores",
    },
    {
      users: at(million.sockets * parts.socketBytes, LIMITS.processBytes),
      reached: "the sockets that fit into 1 GB of one process",
      remedy: "Run more processes, or give each more memory",
    },
    {
      users: at((million.node / LIMITS.load) * LIMITS.poolSize, LIMITS.connections),
      reached: `${LIMITS.connections} connections to PostgreSQL, ${LIMITS.poolSize} for each process`,
      remedy: "Put PgBouncer in front of PostgreSQL, or lower `poolSize`",
    },
    {
      users: at(million.postgres, LIMITS.postgresCores * LIMITS.load),
      reached: `${LIMITS.postgresCores} cores of one PostgreSQL, at ${100 * LIMITS.load}%`,
      remedy: "Read lists from replicas, and load users from the cache",
    },
    {
      users: at(million.redis, LIMITS.load),
      reached: `the one core that Redis runs commands on, at ${100 * LIMITS.load}%`,
      remedy: "Use a Redis Cluster, or a Redis for each role",
    },
    {
      users: at(million.redisBytes, LIMITS.redisBytes),
      reached: "16 GB of sessions in one Redis",
      remedy: "Use a Redis Cluster",
    },
  ].toSorted((a, b) => a.users - b.users);
}

/** The users that need as much as there is, if a million users need this. */
function at(needed: number, most: number): number {
  return (1_000_000 * most) / needed;
}
