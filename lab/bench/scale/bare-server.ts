import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { obey } from "../sockets/obey.ts";

// What Node alone costs for a response like that of the open route.
const server = createServer((_request, response) => {
  response.setHeader("content-type", "application/json; charset=utf-8").end('{"isOpen":true}');
});
server.listen(0, "127.0.0.1", () => obey((server.address() as AddressInfo).port, () => {}));
