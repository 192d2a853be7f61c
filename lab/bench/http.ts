import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { httpGates } from "./graphql/gates.ts";
import { keepResults, nodeMajor } from "./graphql/keep-results.ts";
import { type Cost, enforce, printVerdicts, verdictsOf } from "./graphql/verdicts.ts";

/** A server in its own process, and the request that it is sent. */
interface Subject {
  readonly row: string;
  readonly workload: string;
  readonly script: string;
  readonly request: string;
}

const json = JSON.stringify({ title: "Emma", price: 12 });
const get = "GET /hello HTTP/1.1\r\nHost: bench\r\n\r\n";
const post = `POST /books HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nAuthorization: Bearer t\r\nContent-Length: ${json.length}\r\n\r\n${json}`;

const subjects: readonly Subject[] = [
  { row: "node:http", workload: "GET", script: "node-server.ts", request: get },
  { row: "Fastify", workload: "GET", script: "fastify-server.ts", request: get },
  { row: "Portico", workload: "GET", script: "portico-server.ts", request: get },
  { row: "Fastify", workload: "gated POST", script: "fastify-server.ts", request: post },
  { row: "Portico", workload: "gated POST", script: "portico-server.ts", request: post },
];

const CONNECTIONS = 32;
const ROUND_MS = 60;
const ROUNDS = 30;
const WARM_UP = 15;
/** How often the servers are started anew: the compiler of V8 can be unlucky with a whole process. */
const GENERATIONS = 5;
const SHORT_GENERATIONS = 2;

/**
 * Compares the CPU time that a request costs Portico, Fastify and `node:http`. Every round measures every server in turn. The
 * figure is the minimum over the rounds, which is the cost of the code; other processes on the machine add to the rest. With
 * `--short`, the process fails below the gates of CI.
 */
export async function run(): Promise<void> {
  if (process.argv.includes("--short"))
    return enforce(async () => verdictsOf(httpGates, await measure(SHORT_GENERATIONS)));
  const costs = await measure(GENERATIONS);
  const verdicts = verdictsOf(httpGates, costs);
  console.log(`  CPU time per request, the minimum of ${GENERATIONS * ROUNDS} rounds`);
  for (const { row, workload, micros } of costs)
    console.log(`  ${`${workload}, ${row}`.padEnd(34)} ${micros.toFixed(1).padStart(6)} µs`);
  printVerdicts(verdicts);
  keepResults(`http-node${nodeMajor}`, {
    node: process.version,
    rounds: GENERATIONS * ROUNDS,
    figures: costs,
    gates: verdicts.map(({ title, unit, gate, goal, measured }) => ({ title, unit, gate, goal, measured })),
  });
}

async function measure(generations: number): Promise<readonly Cost[]> {
  const best = new Map<Subject, number>();
  for (let generation = 0; generation < generations; generation++) await generate(best);
  return [...best].map(([{ row, workload }, micros]) => ({ row, workload, micros: Math.round(micros * 100) / 100 }));
}

async function generate(best: Map<Subject, number>): Promise<void> {
  const servers = new Map<Subject, Running>();
  try {
    for (const subject of subjects) servers.set(subject, await start(subject));
    for (let round = -WARM_UP; round < ROUNDS; round++)
      for (const [subject, server] of servers) {
        const micros = await load(server, ROUND_MS);
        if (round >= 0) best.set(subject, Math.min(best.get(subject) ?? Number.POSITIVE_INFINITY, micros));
      }
  } finally {
    for (const server of servers.values()) server.stop();
  }
}

interface Running extends Subject {
  readonly port: number;
  cpuMicros(): Promise<number>;
  stop(): void;
}

async function start(subject: Subject): Promise<Running> {
  const child = fork(new URL(`./http/${subject.script}`, import.meta.url), {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = (await once(child, "message")) as [number];
  const cpuMicros = async (): Promise<number> => {
    child.send("cpu");
    const [micros] = (await once(child, "message")) as [number];
    return micros;
  };
  return { ...subject, port, cpuMicros, stop: () => void child.kill("SIGKILL") };
}

/** Keeps some connections busy for a while and returns the server's CPU time per response. */
async function load(server: Running, ms: number): Promise<number> {
  const before = await server.cpuMicros();
  const until = performance.now() + ms;
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => hammer(server, until)));
  const responses = counts.reduce((sum, count) => sum + count, 0);
  return ((await server.cpuMicros()) - before) / responses;
}

function hammer({ port, request }: Running, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let responses = 0;
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setNoDelay(true);
    socket.on("error", reject);
    // Responses are small: one chunk is one response.
    socket.on("data", (chunk) => {
      if (chunk.subarray(0, 12).toString("latin1") !== "HTTP/1.1 200") return reject(new Error(chunk.toString()));
      responses++;
      if (performance.now() < until) socket.write(request);
      else socket.destroy();
    });
    socket.on("close", () => resolve(responses));
  });
}
