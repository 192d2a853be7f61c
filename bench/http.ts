import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

/** One server in a process of its own, and what is asked of it. */
interface Subject {
  readonly name: string;
  readonly script: string;
  readonly request: string;
}

const json = JSON.stringify({ title: "Emma", price: 12 });
const get = "GET /hello HTTP/1.1\r\nHost: bench\r\n\r\n";
const post = `POST /books HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nAuthorization: Bearer t\r\nContent-Length: ${json.length}\r\n\r\n${json}`;

const subjects: readonly Subject[] = [
  { name: "GET  node:http", script: "node-server.ts", request: get },
  { name: "GET  fastify", script: "fastify-server.ts", request: get },
  { name: "GET  portico", script: "portico-server.ts", request: get },
  { name: "POST fastify", script: "fastify-server.ts", request: post },
  { name: "POST portico", script: "portico-server.ts", request: post },
];

const CONNECTIONS = 32;
const isShort = process.argv.includes("--short");
const ROUNDS = isShort ? 3 : 15;
const ROUND_MS = isShort ? 300 : 1_000;

/**
 * CPU per request of our layer and of what is below it, interleaved: every round asks every server in turn. The figure is
 * the minimum over the rounds, which is what the code costs; the rest is what else the machine was doing.
 */
export async function run(): Promise<void> {
  const servers = await Promise.all(subjects.map(start));
  const best = new Map<string, number>();
  for (const server of servers) await load(server, 300);
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers) {
      const micros = await load(server, ROUND_MS);
      best.set(server.name, Math.min(best.get(server.name) ?? Number.POSITIVE_INFINITY, micros));
    }
  }
  for (const server of servers) server.stop();

  const cost = (name: string): number => best.get(name) ?? Number.NaN;
  const ratios: readonly (readonly [string, string])[] = [
    ["GET  node:http", "GET  fastify"],
    ["GET  fastify", "GET  portico"],
    ["POST fastify", "POST portico"],
  ];
  console.log("CPU per request, the minimum of", ROUNDS, "rounds");
  for (const [name, micros] of best) console.log(`  ${name.padEnd(34)} ${micros.toFixed(1).padStart(6)} µs`);
  for (const [below, above] of ratios)
    console.log(`  ${above.padEnd(34)} ${(cost(below) / cost(above)).toFixed(2)} of ${below.trim()}`);
  console.log(`bench http: ${(cost("GET  fastify") / cost("GET  portico")).toFixed(2)} of bare Fastify on the GET`);
}

interface Running extends Subject {
  readonly port: number;
  cpuMicros(): Promise<number>;
  stop(): void;
}

async function start(subject: Subject): Promise<Running> {
  const child = fork(new URL(`./http/${subject.script}`, import.meta.url), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = (await once(child, "message")) as [number];
  const cpuMicros = async (): Promise<number> => {
    child.send("cpu");
    const [micros] = (await once(child, "message")) as [number];
    return micros;
  };
  return { ...subject, port, cpuMicros, stop: () => void child.kill() };
}

/** Keeps some connections busy for a while; gives the server's CPU per answer. */
async function load(server: Running, ms: number): Promise<number> {
  const before = await server.cpuMicros();
  const until = performance.now() + ms;
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => hammer(server, until)));
  const answers = counts.reduce((sum, count) => sum + count, 0);
  return ((await server.cpuMicros()) - before) / answers;
}

function hammer({ port, request }: Running, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setNoDelay(true);
    socket.on("error", reject);
    // Answers are small: one chunk is one answer.
    socket.on("data", (chunk) => {
      if (chunk.subarray(0, 12).toString("latin1") !== "HTTP/1.1 200") return reject(new Error(chunk.toString()));
      answers++;
      if (performance.now() < until) socket.write(request);
      else socket.destroy();
    });
    socket.on("close", () => resolve(answers));
  });
}
