import { z } from "zod";
import { Depend, type Gate, HttpException, PorticoApp, provide } from "../../../src/index.ts";
import { PATIENT, report } from "../graphql/report.ts";

const Book = z.object({ title: z.string(), price: z.number() });
const gate: Gate<true> = {
  required: true,
  scopes: [],
  check(ctx) {
    if (ctx.request.headers["authorization"] !== "Bearer t") throw new HttpException(401, "no");
  },
};
const connection = function* () {
  const opened = { name: "connection" };
  try {
    yield opened;
  } finally {
    opened.name = "closed";
  }
};
const shelf = provide({ connection: Depend(connection) })(({ connection }) => ({ via: connection.name }));

const app = new PorticoApp({ logger: false, load: PATIENT });
app.get("/hello", () => ({ hello: "world" }));
app.post("/books", { auth: gate, body: Book, params: { shelf: Depend(shelf) } }, ({ body, shelf }) => ({
  ...body,
  ...shelf,
}));
const { port } = await app.listen({ port: 0 });
report(port);
