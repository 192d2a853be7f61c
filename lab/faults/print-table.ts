import { type Cell, FAULTS, type Fault, PROBES, RESOURCES, type Resource, type RunCell, type Seen } from "./cell.ts";

const REQUESTS: Readonly<Record<(typeof PROBES)[number], string>> = {
  read: "reads of the database",
  write: "writes to the database",
  session: "sessions",
  store: "sign-ins",
  revoke: "sign-outs and revocations",
  publish: "events",
  upload: "uploads to the disk",
};

/** The pairs that the program neither runs nor excludes. */
export function untried(cells: readonly Cell[]): readonly (readonly [Resource, Fault])[] {
  return RESOURCES.flatMap((resource) =>
    FAULTS.filter((fault) => !cells.some((cell) => cell.resource === resource && cell.fault === fault)).map(
      (fault) => [resource, fault] as const,
    ),
  );
}

/** The table of the documentation: one row for each cell that runs. */
export function faultTable(cells: readonly Cell[]): string {
  const rows = cells.flatMap((cell) => ("sees" in cell ? [row(cell)] : []));
  return [
    "| Resource | Fault | Requests | `/readyz` | Log, metrics or `portico doctor` |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function row({ resource, fault, how, sees }: RunCell): string {
  const name = how === undefined ? fault : `${fault} (${how})`;
  return `| ${resource} | ${name} | ${requests(sees)} | ${ready(sees)} | ${cause(sees)} |`;
}

function requests({ probes = {}, isUnnoticed, startError, ends }: Seen): string {
  if (startError !== undefined) return "the application does not start";
  if (ends === true) return "the process ends";
  const failing = PROBES.filter((probe) => probes[probe] !== undefined);
  if (failing.length === 0) return isUnnoticed === true ? "all succeed at any time" : "all succeed";
  const statuses = [...new Set(failing.map((probe) => probes[probe]))];
  return statuses
    .map((status) => {
      const those = failing.filter((probe) => probes[probe] === status).map((probe) => REQUESTS[probe]);
      return status === 0 ? "no response" : `${status} for ${those.join(", ")}`;
    })
    .join("; ");
}

function ready({ ready: status = 200, checks = [], startError, ends }: Seen): string {
  if (startError !== undefined || ends === true) return "none";
  if (status === 0) return "no response";
  return [String(status), ...checks.map((check) => `\`${check}\``)].join(", ");
}

function cause({ log, metrics = [], doctor, startError, blind }: Seen): string {
  const found = [startError ?? log, ...metrics, doctor].filter((text) => text !== undefined);
  const shown = found.length === 0 ? "none" : found.map((text) => `\`${text}\``).join(", ");
  return blind === undefined ? shown : `${shown}: ${blind}`;
}

/** What does not name the cause of a fault that requests notice, although it could. */
export function unnamed({
  probes = {},
  ready: status = 200,
  checks = [],
  startError,
  ends,
  ...sees
}: Seen): readonly string[] {
  const isNoticed = Object.keys(probes).length + checks.length > 0 || status !== 200;
  if ((!isNoticed && startError === undefined && ends !== true) || sees.blind !== undefined) return [];
  return [
    ...(sees.log === undefined && startError === undefined && checks.length === 0 ? ["log"] : []),
    ...(sees.doctor === undefined ? ["doctor"] : []),
  ];
}
