import { text } from "node:stream/consumers";
import { type OIDCOptions, oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { clientId, clientSecret, hostileProvider } from "./hostile-provider.ts";
import { person } from "./person.ts";
import { shop } from "./provider-harness.ts";

/** The scope that a sign-in asks for, and how it sends the client secret. */
async function sentBy(options: Partial<OIDCOptions>, methods?: readonly string[]) {
  const { issuer, answers } = await hostileProvider();
  const sent = { authorization: "", body: "", scope: "" };
  if (methods !== undefined) answers.metadata["token_endpoint_auth_methods_supported"] = methods;
  answers.endpoints["/token"] = async (request, response) => {
    sent.authorization = request.headers.authorization ?? "";
    sent.body = await text(request);
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
  };
  const { url } = await shop([oidc({ name: "acme", issuer, clientId, clientSecret, ...options })]);
  const browser = person();
  const begun = await browser.send(`${url}/account/providers/acme`);
  const asked = begun.headers.get("location") ?? "";
  sent.scope = new URL(asked).searchParams.get("scope") ?? "";
  expect((await browser.open(asked)).at).toBe(`${url}/sign-in?error=provider_sign_in_failed`);
  return { ...sent, method: sent.authorization.startsWith("Basic ") ? "basic" : "post" };
}

describe("the client secret", () => {
  it.each<[string, Partial<OIDCOptions>, readonly string[] | undefined]>([
    ["basic", {}, undefined],
    ["basic", {}, ["client_secret_post", "client_secret_basic"]],
    ["post", {}, ["client_secret_post"]],
    ["post", { clientAuthentication: "client_secret_post" }, ["client_secret_basic"]],
    ["post", { clientAuthentication: "client_secret_post" }, undefined],
    ["basic", { clientAuthentication: "client_secret_basic" }, ["client_secret_post"]],
  ])("is sent as %s with %j, if the provider supports %j", async (method, options, methods) => {
    const sent = await sentBy(options, methods);

    expect(sent.method).toBe(method);
    expect(new URLSearchParams(sent.body).get("client_secret")).toBe(method === "post" ? clientSecret : null);
  });
});

it.each([
  ["openid email", {}],
  ["openid profile", { scope: "openid profile" }],
  ["openid", { scope: "openid" }],
])("the scope is %j with %j", async (scope, options) => {
  expect((await sentBy(options)).scope).toBe(scope);
});
