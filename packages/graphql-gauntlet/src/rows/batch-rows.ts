import { refuses, staysCalm } from "../checks.ts";
import { json, TYPENAME } from "../requests.ts";
import type { HttpRow } from "../row.ts";
import { overHttp, owasp } from "../sources.ts";

const ONE = { query: TYPENAME };

/** Arrays of operations. The specification does not describe them, so a server may reject all of them. */
export const batchRows: readonly HttpRow[] = [
  {
    id: "BATCH-01",
    title: "executes an array as a batch or rejects it, without a 5xx",
    severity: "should",
    source: overHttp("Status Codes"),
    why: "A 5xx means that the array was used as an object.",
    requests: () => [json([ONE, ONE]), json([]), json([null]), json([1]), json([[ONE]])],
    expect: [staysCalm],
  },
  {
    id: "BATCH-02",
    title: "rejects an empty batch",
    severity: "should",
    source: overHttp("Status Codes"),
    why: "A batch of nothing is not a request, and a 200 would hide the mistake.",
    requests: () => [json([])],
    expect: [refuses],
  },
  {
    id: "BATCH-03",
    title: "rejects a batch of 200 operations",
    severity: "advice",
    source: owasp,
    why: "A batch multiplies the attempts of a rate limit that counts requests, such as guesses of a password.",
    needs: ["batch"],
    requests: () => [json(Array.from({ length: 200 }, () => ONE))],
    expect: [refuses],
  },
];
