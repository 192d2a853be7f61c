import { createServer } from "node:http";
import { report } from "../graphql/report.ts";

/** Serves `run` over `node:http`: it receives the bytes of the body and returns the text of the response. */
export function serve(run) {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => (body += chunk));
    const send = async () => {
      const text = await run(body, request.headers["x-workload"]);
      response.writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": Buffer.byteLength(text),
      });
      response.end(text);
    };
    request.on("end", () => void send());
  });
  server.listen(0, "127.0.0.1", () => report(server.address().port));
}
