const BOUNDARY = "boundary-of-the-soak";

export const uploadHeaders: Readonly<Record<string, string>> = {
  "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
};

/** A mutation with one file of this many bytes. */
export function uploadForm(query: string, bytes: number): Buffer {
  return Buffer.concat([
    part("operations", JSON.stringify({ query, variables: { file: null } })),
    part("map", JSON.stringify({ 0: ["variables.file"] })),
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="0"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    ),
    Buffer.alloc(bytes, "x"),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

function part(name: string, text: string): Buffer {
  return Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`);
}
