import { BadRequest, HttpException, PorticoApp } from "portico";
import { AuthenticationFailed, AuthenticationMiddleware, limitLogin } from "portico/auth";
import { Graph } from "portico/graphql";
import { z } from "zod";
import { isPasswordRight } from "../database/passwords.ts";
import { prisma } from "../database/prisma.ts";
import { PersonUser } from "./person-user.ts";
import { schema } from "./schema.ts";
import { allTickets, newest, visibleTickets } from "./tickets.ts";
import { issueToken, tokenBackend } from "./tokens.ts";

export const app: PorticoApp = new PorticoApp();
app.use(new AuthenticationMiddleware({ userModel: PersonUser, backend: tokenBackend }));
// Clients of the old routes know this body.
app.addExceptionHandler(HttpException, (_request, response, { status, message }) =>
  response.status(status).json({ error: message }),
);

app.post("/login", async ({ request }) => {
  const { email, password } = (await request.json()) as Record<string, unknown>;
  if (typeof email !== "string" || typeof password !== "string")
    throw new BadRequest("email and password are required");
  const user = await limitLogin(email, async () => {
    const person = await prisma.person.findUnique({ where: { email } });
    return person !== null && (await isPasswordRight(password, person.passwordHash)) ? new PersonUser(person) : null;
  });
  if (user === null) throw new AuthenticationFailed("Incorrect email or password");
  return { token: await issueToken(user) };
});

const item = z.object({ id: z.int(), title: z.string(), status: z.string() });
app.get("/tickets", { auth: true, paginated: { strategy: newest, item, rule: visibleTickets } }, ({ response }) =>
  response.apaginate(allTickets(), { strategy: newest }),
);

new Graph(schema, {
  rules: { Ticket: visibleTickets, "Query.ticket": true, "Query.tickets": true, "Mutation.createTicket": true },
  context: ({ user }) => ({ person: user.isAuthenticated ? user.person : null }),
}).mount(app);
