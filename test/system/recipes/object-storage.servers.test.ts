import type { PorticoApp } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach, expect, it } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";

interface Storage {
  put(key: string, body: AsyncIterable<Uint8Array>, contentType: string): Promise<void>;
  linkTo(key: string): Promise<string>;
}

const { faults, load } = await pageProgram("docs/recipes/object-storage.md");
const { uploadApp } = await load<{ readonly uploadApp: (storage: Storage, maxBytes?: number) => PorticoApp }>("app.ts");

const stored = new Map<string, { readonly contentType: string; readonly bytes: number; readonly pieces: number }>();
const storage: Storage = {
  async put(key, body, contentType) {
    let [bytes, pieces] = [0, 0];
    for await (const piece of body) {
      bytes += piece.length;
      pieces++;
    }
    stored.set(key, { contentType, bytes, pieces });
  },
  linkTo: async (key) => `https://files.example/${key}`,
};

let client: LiveClient;
afterEach(async () => {
  stored.clear();
  await client.close();
});

it("compiles", async () => {
  client = await liveClient(uploadApp(storage));

  expect(faults).toEqual([]);
});

it("stores the file of a GraphQL operation", async () => {
  client = await liveClient(uploadApp(storage));
  const upload = async (type: string) =>
    client.graphql("mutation ($file: Upload!) { cover(file: $file) }", {
      file: new File([new Uint8Array(2_000_000)], "../cover.png", { type }),
    });

  const { data } = await upload("image/png");
  const { errors } = await upload("image/svg+xml");

  const [key = "", file] = [...stored][0] ?? [];
  expect(data).toEqual({ cover: `https://files.example/${key}` });
  expect(key).toMatch(/^covers\/[\da-f-]{36}$/);
  expect(file).toMatchObject({ contentType: "image/png", bytes: 2_000_000 });
  expect([errors?.[0]?.extensions?.["code"], stored.size]).toEqual(["UPLOAD_TYPE_REFUSED", 1]);
});

it("passes a body on while it arrives, up to the limit", async () => {
  client = await liveClient(uploadApp(storage, 3_000_000));
  const upload = async (size: number, type: string) =>
    (await client.post("/videos", { headers: { "content-type": type }, body: new Uint8Array(size) })).status;

  expect([
    await upload(3_000_000, "video/mp4"),
    await upload(3_000_001, "video/mp4"),
    await upload(10, "text/html"),
  ]).toEqual([201, 413, 415]);
  expect([...stored.values()]).toEqual([{ contentType: "video/mp4", bytes: 3_000_000, pieces: expect.any(Number) }]);
  expect([...stored.values()][0]?.pieces).toBeGreaterThan(3);
});
