import { memoryStores } from "portico";
import { expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { RecordingStore } from "../sessions/recording-store.ts";
import { factorHarness, type Problem } from "./factor-harness.ts";
import { optionsIn, passkeyHarness } from "./passkey-harness.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";

it("recovery codes are offered until the last one is used", async () => {
  const { login, prove, enrol, client } = await factorHarness();
  const { recovery, headers } = await enrol(cookieHeader(await login()));
  const methods: unknown[] = [];
  for (const code of recovery) {
    const problem = (await login()).json() as Problem;
    methods.push(problem.methods.join());
    expect((await prove({ pending: problem.pending, code })).status).toBe(200);
  }

  expect(new Set(methods)).toEqual(new Set(["totp,recovery"]));
  expect(((await login()).json() as Problem).methods).toEqual(["totp"]);
  expect((await client.get("/account/factors", { headers })).json()).toMatchObject({ recovery_codes: 0 });
});

it("passkeys belong to localhost in an application without a URL that does not listen", async () => {
  const { byPassword, registrationOptions, post } = await passkeyHarness({ app: { publicUrl: undefined as never } });
  const headers = await byPassword();
  const add = async (origin: string): Promise<number> => {
    const options = await registrationOptions(headers);
    const credential = new SoftwareAuthenticator().create(options, { origin });
    return (await post("/passkeys", { credential }, undefined, headers)).status;
  };

  expect(optionsIn(await post("/passkeys/sign-in/options"))).toMatchObject({ rpId: "localhost" });
  expect([await add("http://localhost:3000"), await add("http://localhost")]).toEqual([401, 201]);
});

it("a session that is signed out while it is raised does not continue under a new id", async () => {
  const durable = new RecordingStore();
  const { login, prove, enrol, client, post } = await factorHarness({ stores: { ...memoryStores(), durable } });
  const { headers, recovery } = await enrol(cookieHeader(await login()));
  const weak = cookieHeader(await post("/second-factor", { code: recovery[0] }, undefined, headers));
  let isFirst = true;
  durable.before = async (operation, key) => {
    if (operation !== "delete" || !key.startsWith("session:") || !isFirst) return;
    isFirst = false;
    await durable.delete(key);
  };
  const raised = await prove({ code: recovery[1] }, weak);

  expect([raised.status, raised.cookies]).toEqual([401, []]);
  durable.before = () => {};
  expect((await client.get("/account/me", { headers: weak })).status).toBe(401);
  expect([...durable.entries.keys()].filter((key) => key.startsWith("session:"))).toEqual([]);
});

it("an unknown passkey is neither renamed nor removed", async () => {
  const { byPassword, add, signIn, client } = await passkeyHarness();
  const passkey = new SoftwareAuthenticator();
  await add(await byPassword(), passkey);
  const headers = cookieHeader(await signIn(passkey));
  const refusal = { status: 404, detail: "Passkey not found" };

  expect((await client.patch("/account/passkeys/x", { headers, body: { name: "x" } })).json()).toMatchObject(refusal);
  expect((await client.delete("/account/passkeys/x", { headers })).json()).toMatchObject(refusal);
});
