import { Router } from "portico";
import { AuthenticationFailed, useAuth } from "portico/auth";
import { field } from "portico/graphql";
import { z } from "zod";
import { accessToken } from "./sign-in.ts";
import { UserType } from "./user-type.ts";

const Login = z.strictObject({ email: z.email(), password: z.string().max(72) });
const Token = z.object({ access_token: z.string() });
const Me = z.object({ id: z.int(), email: z.string(), name: z.string(), role: z.string() });

export function usersModule() {
  const routes = new Router({ auth: useAuth() });

  routes.post("/login", { auth: false, body: Login, response: Token }, async ({ body }) => {
    const access_token = await accessToken(body.email, body.password);
    if (access_token === null) throw new AuthenticationFailed("Incorrect email or password");
    return { access_token };
  });

  routes.get("/me", { response: Me }, ({ user }) => user);

  const query = {
    me: field(UserType, { auth: true })(({ ctx }) => ctx.user),
  };
  return { routes, query };
}
