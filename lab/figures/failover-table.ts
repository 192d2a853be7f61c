import type { FailoverResults } from "../failover.ts";

/** What callers noticed of each fault on four processes. */
export function failoverTable({ node, load, verdicts }: FailoverResults): string {
  return [
    `| ${load.perSecond} requests per second and ${load.sockets.toLocaleString("en")} subscriptions, Node ${node.slice(1)} | Requests | With 503 | Without a response | Served as the wrong user | Served on a revoked session | Sessions lost | Recovery |`,
    "|---|--:|--:|--:|--:|--:|--:|--:|",
    ...verdicts.map(
      ({ name, requests, rejected, broken, mistaken, revived, lost, sessions, recoveryMs }) =>
        `| ${name} | ${whole(requests)} | ${whole(rejected)} | ${whole(broken)} | ${mistaken} | ${revived} | ${lost} of ${whole(sessions)} | ${(recoveryMs / 1_000).toFixed(1)} s |`,
    ),
  ].join("\n");
}

const whole = (value: number): string => value.toLocaleString("en");
