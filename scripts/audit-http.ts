import { type AuditResult, auditServer } from "graphql-http";
import { field, Graph, schema, t } from "../src/graphql/index.ts";
import { PorticoApp } from "../src/index.ts";
import { deliver, type Verdict } from "./spec/verdict.ts";

/**
 * Audits that ask for 200 where a document does not parse, does not validate or its variables do not fit, if the client
 * takes `application/json`. Portico's status is the same under both media types: 400.
 */
const CONTRADICTED: readonly string[] = ["572B", "FDE2", "7B9B"];

/** How many there are. Another number wants another look. */
const AUDITS = 61;

/** What one audit found, as far as it is judged. */
export type Audited = Pick<AuditResult, "id" | "name" | "status"> & { readonly reason?: string };

/** Audits a running server of Portico's with the suite of graphql-http. */
export async function auditHttp(): Promise<readonly Audited[]> {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { introspection: true }).mount(app);
  const { url } = await app.listen({ port: 0 });
  try {
    return await auditServer({ url: `${url}/graphql` });
  } finally {
    await app.close();
  }
}

/** Good when the contradicted ones warn and all others are ok. */
export function judgeAudits(results: readonly Audited[]): Verdict {
  const lines = results.map(({ status, id, name, reason }) =>
    status === "ok" ? `ok     ${id} ${name}` : `${status.padEnd(6)} ${id} ${name}: ${reason ?? ""}`,
  );
  const faults = results.flatMap(({ id, status }) => {
    const wanted = CONTRADICTED.includes(id) ? "warn" : "ok";
    return status === wanted ? [] : [`error: ${id} is to ${wanted === "ok" ? "be ok" : wanted}, and is ${status}`];
  });
  if (results.length !== AUDITS) faults.push(`error: the suite has ${results.length} audits, and had ${AUDITS}`);
  const [ok, warnings, errors] = ["ok", "warn", "error"].map(
    (one) => results.filter(({ status }) => status === one).length,
  );
  lines.push(...faults, `${ok} of ${results.length} audits ok, ${warnings} warn, ${errors} error`);
  return { lines, ok: faults.length === 0 };
}

if (import.meta.main) {
  const results = await auditHttp();
  deliver("audit:http", () => judgeAudits(results));
}
