import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PorticoApp, type PorticoAppOptions } from "portico";
import {
  type AccountEvent,
  type AccountModel,
  type AuthenticationOptions,
  authentication,
  type IdentityProvider,
  type Mail,
  useAuth,
} from "portico/auth";
import { onTestFinished } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface Shop {
  readonly url: string;
  readonly app: PorticoApp;
  readonly users: AccountModel;
  readonly events: AccountEvent[];
  readonly mails: Mail[];
}

/** An application that listens, with these providers and a page for each redirect. */
export async function shop(
  providers: readonly IdentityProvider[],
  account: Partial<AuthenticationOptions> = {},
  options: PorticoAppOptions = {},
): Promise<Shop> {
  const users = account.userModel ?? memoryUsers();
  const [events, mails]: [AccountEvent[], Mail[]] = [[], []];
  const app = new PorticoApp({ logger: false, ...options });
  app.use(
    authentication({
      userModel: users,
      secret: "the-one-secret-of-the-provider-tests-0123456789",
      audience: "bookshop",
      mailer: async (mail) => void mails.push(mail),
      onEvent: (event) => void events.push(event),
      providers,
      ...account,
    }),
  );
  for (const page of ["/", "/sign-in", "/orders", "/settings"] as const) app.get(page, () => page);
  app.socket("/live", { auth: useAuth() }, async ({ socket }) => {
    for await (const text of socket) socket.send(text);
  });
  const { url } = await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  return { url, app, users, events, mails };
}

/** A server on a loopback address until the test ends. Its handler is set later, when other addresses are known. */
export async function loopbackServer(host = "127.0.0.1"): Promise<{ readonly url: string; handle: Handler }> {
  const state = { url: "", handle: ((_, response) => response.end()) as Handler };
  const server = createServer((request, response) => void state.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  state.url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return state;
}
