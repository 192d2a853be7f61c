import { oidc } from "portico/auth";
import { manualClock } from "portico/testing";
import { expect, it } from "vitest";
import { checkedFetch, describedResponses } from "../../scripts/clients/checked-fetch.ts";
import { clientId, clientSecret, hostileProvider } from "../auth/providers/hostile-provider.ts";
import { type Person, person } from "../auth/providers/person.ts";
import { shop } from "../auth/providers/provider-harness.ts";

const password = "correct horse battery staple";

function post(browser: Person, url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const given = { "content-type": "application/json", ...headers };
  return browser.send(url, { method: "POST", headers: given, body: JSON.stringify(body) });
}

it("the routes of identity providers respond as the document says, with each status that it lists", async () => {
  const clock = manualClock();
  const hostile = await hostileProvider();
  const provider = oidc({ name: "acme", issuer: hostile.issuer, clientId, clientSecret });
  const { app, url, users } = await shop([provider], {}, { clock });
  const document = app.openapi();
  const checked = checkedFetch(document);
  const isOwn = (request: Request): boolean => /\/account\//.test(request.url) && request.url.startsWith(url);
  const browser = person((request) => (isOwn(request) ? checked.fetch(request) : fetch(request)));
  const providers = `${url}/account/providers`;
  const anonymous = { cookie: "none=1" };
  const other = { origin: "https://elsewhere.example" };

  await browser.send(`${providers}?email=ann@acme.com`);
  await browser.send(`${providers}?email=a&email=b`);
  for (const query of ["?return_to=//x", "?remember=1", ""]) await browser.send(`${providers}/acme${query}`);
  await browser.send(`${providers}/unknown`);
  await browser.send(`${providers}/unknown/callback`);
  await browser.send(`${providers}/acme/callback?state=a&state=b`);
  await browser.open(`${providers}/acme`);
  await browser.send(`${providers}/linked`);
  await browser.send(`${providers}/linked`, { headers: anonymous });
  for (const headers of [anonymous, other, {}]) await browser.send(`${providers}/acme`, { method: "DELETE", headers });
  await browser.send(`${providers}/unknown`, { method: "DELETE" });
  const bob = await users.objects.createUser({ email: "bob@example.org", username: "bob", password });
  await users.objects.markVerified(bob);
  await post(browser, `${url}/account/login`, { identifier: bob.email, password });
  for (const headers of [anonymous, other, {}]) await post(browser, `${providers}/acme/link`, {}, headers);
  await post(browser, `${providers}/acme/link`, []);
  await post(browser, `${providers}/unknown/link`, {});
  hostile.answers.claims["sub"] = "bob";
  const begun = (await (await post(browser, `${providers}/acme/link`, {})).json()) as { url: string };
  await browser.open(begun.url);
  await browser.send(`${providers}/acme`, { method: "DELETE" });
  clock.advance(601_000);
  await post(browser, `${providers}/acme/link`, { password: "x".repeat(2_000) });
  for (let count = 0; count < 12; count++) await post(browser, `${providers}/acme/link`, { password: "wrong horse" });
  for (let count = 0; count < 101; count++) await browser.send(`${providers}/acme`);

  const described = describedResponses(document).filter((entry) => /Provider/.test(entry));
  expect(described.filter((entry) => !checked.seen.has(entry)).toSorted()).toEqual(
    [
      // Every gate may reject a signed-in caller, but the gate of this one does not.
      "accountListProviderLinks 403",
      // Outages.
      ...described.filter((entry) => entry.endsWith(" 503")),
    ].toSorted(),
  );
});
