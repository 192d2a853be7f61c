import { expect, it, onTestFinished, vi } from "vitest";
import { accountHarness, ann, password, tokenOf } from "./account-harness.ts";
import { accountsIn, EVERYWHERE } from "./account-places.ts";
import { memoryUsers } from "./memory-users.ts";

const register = (email: string, username: string) => ({ email, username, password });

accountsIn(EVERYWHERE, (accounts) => {
  it("an unfinished registration takes no username, and the first user who verifies the address gets it", async () => {
    const { post, mails, users } = accounts({ account: { verifyEmail: true } });
    const tokenFor = async (address: string): Promise<string> => {
      const sent = () => mails.filter(({ to }) => to === address);
      await vi.waitFor(() => expect(sent()).toHaveLength(1), 60_000);
      return tokenOf(sent(), "verify");
    };
    const nameOf = async (email: string) => (await users.objects.get({ email }))?.username;
    await post("/register", register("mallory@evil.example", "mallory"));
    for (const name of ["support", "acme"])
      expect((await post("/register", register("mallory@evil.example", name))).status).toBe(202);
    expect((await post("/register", register("squatter@evil.example", "acme"))).status).toBe(202);

    expect((await post("/register", register("acme@acme.example", "acme"))).status).toBe(202);
    const [hers, others] = [await tokenFor("acme@acme.example"), await tokenFor("squatter@evil.example")];
    expect(await nameOf("acme@acme.example")).toBe("acme@acme.example");
    expect((await post("/verify", { token: hers, password })).status).toBe(204);
    expect((await post("/verify", { token: others, password })).status).toBe(204);

    expect(await nameOf("acme@acme.example")).toBe("acme");
    expect(await nameOf("squatter@evil.example")).toBe("squatter@evil.example");
    expect((await post("/login", { identifier: "acme", password })).status).toBe(200);
    expect((await post("/register", register("late@acme.example", "ACME"))).status).toBe(409);
  });

  it("a registration with a known address takes no username without verifyEmail either", async () => {
    const { post } = accounts();
    await post("/register", ann);
    expect((await post("/register", register(ann.email, "acme"))).status).toBe(202);

    expect((await post("/register", register("acme@acme.example", "acme"))).status).toBe(202);
    expect((await post("/login", { identifier: "acme", password })).status).toBe(200);
  });
});

it("verifyEmail requires a user model that can set usernames", () => {
  const make = () => {
    const users = memoryUsers();
    Reflect.deleteProperty(users.objects, "setUsername");
    const { app } = accountHarness({ users, account: { verifyEmail: true } });
    onTestFinished(() => app.close());
  };

  expect(make).toThrow("requires userModel.objects.setUsername");
});
