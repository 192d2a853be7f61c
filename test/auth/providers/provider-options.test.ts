import { ConfigurationError } from "portico";
import { authentication, github, google, oidc } from "portico/auth";
import { afterEach, describe, expect, it, vi } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";
import { person } from "./person.ts";
import { shop } from "./provider-harness.ts";

const client = { clientId: "id", clientSecret: "a secret that no message shows" };
const right = { name: "acme", issuer: "https://login.acme.com", ...client };

afterEach(() => void vi.unstubAllEnvs());

describe("oidc", () => {
  it.each<[string, object, string]>([
    ["name", { name: undefined }, "must be 1 to 40 lower-case letters"],
    ["name", { name: "Acme" }, 'received "Acme"'],
    ["name", { name: "a/b" }, "must be 1 to 40 lower-case letters"],
    ["name", { name: "linked" }, "and not linked"],
    ["issuer", { issuer: undefined }, "must be an https URL"],
    ["issuer", { issuer: "http://login.acme.com" }, "must be an https URL, or an http URL on a loopback address"],
    ["issuer", { issuer: "https://login.acme.com?x=1" }, "must be an https URL"],
    ["issuer", { issuer: "https://ann:secret@login.acme.com" }, "must be an https URL"],
    ["issuer", { issuer: "ftp://127.0.0.1" }, "must be an https URL"],
    ["clientId", { clientId: "" }, "must be a non-empty string"],
    ["clientSecret", { clientSecret: 4711 }, "must be a non-empty string"],
    ["domains", { domains: ["acme"] }, 'received "acme" at [0]'],
    ["domains", { domains: ["ann@acme.com"] }, "must be a list of domains"],
    ["domainsOnly", { domainsOnly: true }, "requires domains"],
    ["timeoutSeconds", { timeoutSeconds: 0 }, "must be a number of seconds above 0, up to 60"],
    ["scope", { scope: "email" }, 'among them "openid"'],
    ["clientAuthentication", { clientAuthentication: "none" }, '"client_secret_basic" or "client_secret_post"'],
    ["signup", { signup: false }, 'Did you mean "signUp"?'],
  ])("rejects a wrong %s and names it: %j", (option, options, sentence) => {
    const act = (): unknown => oidc({ ...right, ...options });

    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(expect.objectContaining({ option: `oidc.${option}` }));
    expect(act).toThrow(sentence);
    expect(act).not.toThrow("a secret that no message shows");
  });

  it.each(["http://localhost:3000", "http://127.0.0.1:4000/realm", "http://[::1]:5000", "https://acme.com/a/"])(
    "accepts the issuer %s",
    (issuer) => {
      expect(oidc({ ...right, issuer }).name).toBe("acme");
    },
  );

  it("requires the client id and the secret", () => {
    const { clientId, clientSecret } = client;

    expect(() => oidc({ name: "acme", issuer: "https://a.example", clientSecret } as never)).toThrow(
      "oidc.clientId is missing",
    );
    expect(() => google({ clientId } as never)).toThrow("google.clientSecret is missing");
    expect(() => github({ ...client, url: "http://github.example" })).toThrow("github.url must be an https URL");
  });
});

describe("authentication.providers", () => {
  const options = { userModel: memoryUsers(), audience: "shop", secret: "a secret of the tests, which is long enough" };

  it("[auth:AU-235] rejects anything but providers, and two with one name", () => {
    expect(() => authentication({ ...options, providers: [{ name: "acme" } as never] })).toThrow(
      "authentication.providers must be a list of identity providers, such as oidc(...)",
    );
    expect(() =>
      authentication({ ...options, providers: [google(client), oidc({ ...right, name: "google" })] }),
    ).toThrow('authentication.providers has two providers called "google"');
    expect(() => authentication({ ...options, signInPage: "//evil.example" })).toThrow(
      "authentication.signInPage must be",
    );
  });

  it("adds no routes without providers, and none that are left out with except", async () => {
    const [none, left] = [await shop([]), await shop([google(client)], { except: ["providers"] })];

    expect((await fetch(`${none.url}/account/providers`)).status).toBe(404);
    expect((await fetch(`${left.url}/account/providers`)).status).toBe(404);
    expect(JSON.stringify(none.app.openapi())).not.toContain("providers");
  });

  it("[auth:AU-236] uses the publicUrl for the redirect URI, whatever Host the request has, and requires it in production", async () => {
    const { url } = await shop([github(client)], { accounts: "/my/account" }, { publicUrl: "https://shop.example" });
    const response = await person().send(`${url}/my/account/providers/github`, {
      headers: { "x-forwarded-host": "evil.example" },
    });

    const location = new URL(response.headers.get("location") ?? "");
    expect(location.origin + location.pathname).toBe("https://github.com/login/oauth/authorize");
    expect(location.searchParams.get("redirect_uri")).toBe("https://shop.example/my/account/providers/github/callback");
    expect(location.searchParams.get("code_challenge_method")).toBe("S256");
    const open = await shop([github(client)]);
    vi.stubEnv("NODE_ENV", "production");
    expect((await person().send(`${open.url}/account/providers/github`)).status).toBe(500);
  });
});
