import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { report } from "../graphql/report.ts";

const server = createServer((_request, response) => {
  const body = JSON.stringify({ hello: "world" });
  response
    .writeHead(200, { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(body) })
    .end(body);
});
server.listen(0, "127.0.0.1", () => report((server.address() as AddressInfo).port));
