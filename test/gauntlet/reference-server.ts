import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { buildSchema, execute, getOperationAST, OperationTypeNode, parse, validate } from "graphql";

/** A request, read before any rule is applied. */
export interface Received {
  readonly method: string;
  readonly accept: string;
  readonly contentType: string;
  readonly authorization: string;
  readonly params: URLSearchParams;
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Does one thing wrong. `correct` follows all rules, for this or a changed request; `null` closes the connection. */
export type Fault = (
  request: Received,
  correct: (request?: Received) => Promise<Reply>,
) => Reply | null | Promise<Reply | null>;

const GRAPHQL = "application/graphql-response+json";
const schema = buildSchema("type Query { hello: String } type Mutation { touch: Boolean }");

/** A GraphQL server that keeps the rules, apart from the fault that is planted in it. */
export async function serveReference(fault?: Fault): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const received: Received = {
        method: request.method ?? "",
        accept: request.headers.accept ?? "*/*",
        contentType: request.headers["content-type"] ?? "",
        authorization: request.headers.authorization ?? "",
        params: new URL(request.url ?? "/", "http://127.0.0.1").searchParams,
        body: await text(request),
      };
      const correct = (changed = received): Promise<Reply> => correctReply(changed);
      const reply = fault === undefined ? await correct() : await fault(received, correct);
      if (reply === null) return void request.socket.destroy();
      const type = reply.type ?? negotiated(received.accept) ?? GRAPHQL;
      response.writeHead(reply.status, { "content-type": `${type}; charset=utf-8`, ...reply.headers }).end(reply.body);
    };
    serve().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, server };
}

/** A response without data. */
export function refusal(status: number, message = "refused", headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: JSON.stringify({ errors: [{ message }] }) };
}

async function correctReply(request: Received): Promise<Reply> {
  const { method, accept, contentType, params, body } = request;
  if (method !== "GET" && method !== "POST") return refusal(405, "method", { allow: "GET, POST" });
  if (negotiated(accept) === null) return refusal(406);
  if (method === "GET") {
    const value = (name: string): unknown => params.get(name) || null;
    const object = (name: string): unknown => JSON.parse(params.get(name) || "null");
    try {
      const variables = object("variables");
      return await run({ query: value("query"), operationName: value("operationName"), variables }, true);
    } catch {
      return refusal(400);
    }
  }
  if (contentType.split(";")[0]?.trim().toLowerCase() !== "application/json") return refusal(415);
  try {
    return await run(JSON.parse(body), false);
  } catch {
    return refusal(400);
  }
}

async function run(input: unknown, isGet: boolean): Promise<Reply> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return refusal(422);
  const { query, operationName, variables } = input as Record<string, unknown>;
  if (typeof query !== "string" || query === "") return refusal(422);
  if (query.length > 60_000) return refusal(413);
  const document = parse(query, { noLocation: true });
  const errors = validate(schema, document);
  if (errors.length > 0) return { status: 422, body: JSON.stringify({ errors: errors.slice(0, 5) }) };
  const operation = getOperationAST(document, operationName as string | null);
  if (operation === null || operation === undefined) return refusal(422);
  if (isGet && operation.operation !== OperationTypeNode.QUERY) return refusal(405, "use POST", { allow: "POST" });
  const result = await execute({
    schema,
    document,
    operationName: operationName as string | null,
    variableValues: variables as Record<string, unknown>,
  });
  return { status: "data" in result ? 200 : 422, body: JSON.stringify(result) };
}

/** The media type of the response, or null if the client accepts none of ours. */
function negotiated(accept: string): string | null {
  const weights = new Map(
    accept.split(",").map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
      return [type, Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1)];
    }),
  );
  const weight = (type: string): number => weights.get(type) ?? weights.get("*/*") ?? 0;
  const [best, other] = [weight(GRAPHQL), weight("application/json")];
  if (best === 0 && other === 0) return null;
  return best >= other ? GRAPHQL : "application/json";
}
