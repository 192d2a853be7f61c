import { HttpException, identify, PorticoApp } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";

it("a gate that requires a second factor rejects with an exception that says so", async () => {
  const names: string[] = [];
  const app = (): PorticoApp =>
    new PorticoApp({ logger: false })
      .use(async (ctx, next) => {
        identify(ctx, { user: new SimpleUser("ann"), auth: "session" });
        await next();
      })
      .get("/", { auth: useAuth({ level: "mfa" }) }, () => "paid");
  const handled = app().addExceptionHandler(HttpException, (_request, response, error) => {
    names.push(error.name);
    return response.status(error.status).empty();
  });

  const answer = await testClient(app()).get("/");
  await testClient(handled).get("/");

  expect([answer.status, answer.json()]).toEqual([
    403,
    {
      type: "about:blank",
      title: "Forbidden",
      status: 403,
      detail: "A second factor is required. Sign in with your second factor.",
      code: "second_factor_required",
    },
  ]);
  expect(names).toEqual(["SecondFactorRequired"]);
});
