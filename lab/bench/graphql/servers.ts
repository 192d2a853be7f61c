/** A server that is measured, in its own process. */
export interface Server {
  /** Whose costs these are. Two servers can share a row if each serves other workloads. */
  readonly row: string;
  readonly script: string;
  readonly args: readonly string[];
  /** The names of the workloads that it serves. */
  readonly workloads: readonly string[];
  /** Whether requests carry the cookie that POST /sign-in returns. */
  readonly signsIn?: boolean;
}

const ALL = ["A", "B", "C", "D", "E", "F"];

/** The major version of graphql that Portico runs on. The other servers run on 16, which is all that most of them support. */
export const graphqlMajor: string = process.env["PORTICO_GRAPHQL"] ?? "16";

/** Every server that is compared. */
export const servers: readonly Server[] = [
  { row: "constant text", script: "peers/constant.js", args: ["text"], workloads: ALL },
  { row: "constant, parse and stringify", script: "peers/constant.js", args: [], workloads: ALL },
  { row: "graphql-js 16", script: "peers/bare.js", args: ["16"], workloads: ALL },
  { row: "graphql-js 17", script: "peers/bare.js", args: ["17"], workloads: ALL },
  { row: "graphql-jit", script: "peers/bare.js", args: ["16", "jit"], workloads: ALL },
  { row: "Mercurius + jit", script: "peers/mercurius.js", args: ["jit"], workloads: ALL },
  { row: "Mercurius", script: "peers/mercurius.js", args: [], workloads: ALL },
  { row: "Yoga + jit", script: "peers/yoga.js", args: ["jit"], workloads: ALL },
  { row: "Yoga", script: "peers/yoga.js", args: [], workloads: ALL },
  { row: "Apollo Server", script: "peers/apollo.js", args: [], workloads: ALL },
  { row: "graphql-http", script: "peers/graphql-http.js", args: [], workloads: ALL },
  { row: "Portico", script: "graphql/portico-server.ts", args: [graphqlMajor], workloads: ALL },
  { row: "Portico", script: "graphql/gated-server.ts", args: [graphqlMajor], workloads: ["G"], signsIn: true },
  {
    row: "Portico, protections off",
    script: "graphql/portico-server.ts",
    args: [graphqlMajor, "off"],
    workloads: ["A"],
  },
];
