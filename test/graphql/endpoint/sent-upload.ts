import { once } from "node:events";
import { request } from "node:http";
import { BOUNDARY, CONTENT_TYPE, form, json, map } from "../uploads/multipart-form.ts";
import type { MeasuredServer } from "./measured-server.ts";

export const piece: Buffer = Buffer.alloc(65_536, "portico ");
/** What comes before the bytes of the file. */
export const head = (field: "add" | "hold"): Buffer =>
  Buffer.concat([
    form(
      [
        json("operations", { query: `mutation ($file: Upload!) { ${field}(file: $file) }`, variables: { file: null } }),
        map({ 0: ["variables.file"] }),
      ],
      "\r\n",
    ),
    Buffer.from(
      'Content-Disposition: form-data; name="0"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n',
    ),
  ]);
export const TAIL: Buffer = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

/** Sends a file of so many bytes, as fast as it is taken. */
export async function upload(
  { port }: MeasuredServer,
  bytes: number,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const outgoing = request({
    port,
    method: "POST",
    path: "/graphql",
    agent: false,
    headers: { "content-type": CONTENT_TYPE },
  });
  const answered = once(outgoing, "response");
  outgoing.write(head("add"));
  for (let sent = 0; sent < bytes; sent += piece.length) if (!outgoing.write(piece)) await once(outgoing, "drain");
  outgoing.end(TAIL);
  const [answer] = await answered;
  return { status: answer.statusCode, body: Buffer.concat(await answer.toArray()).toString("utf8") };
}
