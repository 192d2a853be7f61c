import { every } from "portico";
import { z } from "zod";
import { firstUnknown } from "./graph-place.ts";
import { type Owner, statusOf } from "./model.ts";
import type { Place } from "./place.ts";
import { canaryOf, OWNERS, rowOf, rows } from "./probe.ts";
import { get, refused, revealed } from "./route-places.ts";

/** The code of a rule that could not decide. */
export const unknownCode = (error: unknown): string => `unknown ${(error as { readonly code: string }).code}`;

/** Turns any value of `auth` into a gate. */
export const gateOf = (auth: never): never => every(auth) as never;

/** Places of a handler that has an object to decide about. A gate that is `false` has no meaning there. */
const shared = {
  hasObject: true,
  transports: ["inject", "http"],
  takes: ({ kind }) => kind !== "false",
} satisfies Partial<Place>;

export const restPlaces: readonly Place[] = [
  {
    ...shared,
    name: "ctx.authorize",
    declare({ app, probe }, { gate: { auth } }) {
      app.get("/authorize/:owner", async ({ ctx, path }) => {
        const row = rowOf(path.owner as Owner);
        if (auth !== undefined) await ctx.authorize(gateOf(auth), row);
        return probe.reveal(row.owner);
      });
    },
    visit: get("/authorize"),
    expected({ verdict, owner }) {
      const found = verdict(owner);
      if (found.is === "allowed") return revealed(owner);
      return refused(found.is === "denied" ? "NOT_FOUND" : found.code);
    },
  },
  {
    ...shared,
    name: "ctx.can",
    declare({ app, probe }, { gate: { auth } }) {
      app.get("/can/:owner", async ({ ctx, path }) => {
        const row = rowOf(path.owner as Owner);
        return auth === undefined || (await ctx.can(gateOf(auth), row)) ? probe.reveal(row.owner) : "hidden";
      });
    },
    visit: get("/can", (body) => (body === "hidden" ? "hidden" : "value")),
    expected({ verdict, owner }) {
      const found = verdict(owner);
      if (found.is === "allowed") return revealed(owner);
      return found.is === "denied" ? { shown: "hidden", revealed: [] } : refused(found.code);
    },
  },
  {
    ...shared,
    name: "messages of a socket",
    isList: true,
    transports: ["upgrade"],
    declare({ app, probe }, { gate: { auth } }) {
      app.socket("/messages", async ({ ctx, socket }) => {
        const answer = async (owner: Owner): Promise<string> =>
          auth === undefined || (await ctx.can(gateOf(auth), rowOf(owner))) ? probe.reveal(owner) : "hidden";
        for await (const owner of socket) socket.send(await answer(String(owner) as Owner).catch(unknownCode));
      });
    },
    async visit({ client, identity: { headers } }) {
      const socket = await client.socket("/messages", { headers });
      const shown: string[] = [];
      for (const owner of OWNERS) {
        socket.send(owner);
        shown.push(await socket.next());
      }
      socket.close();
      return { shown, text: shown.join() };
    },
    expected: ({ verdict }) => ({
      shown: OWNERS.map((owner) => {
        const found = verdict(owner);
        if (found.is === "allowed") return canaryOf(owner);
        return found.is === "denied" ? "hidden" : `unknown ${found.code}`;
      }),
      revealed: OWNERS.filter((owner) => verdict(owner).is === "allowed"),
    }),
  },
  {
    ...shared,
    name: "response that may be cached",
    hasObject: false,
    declare({ app, probe }, { gate }) {
      app.get("/cached/:owner", { ...gate }, ({ ctx, path }) => {
        ctx.cache({ maxAge: 60, scope: "public" });
        return probe.reveal(path.owner as Owner);
      });
    },
    async visit({ client, inject, transport, identity: { headers }, owner }) {
      const response = await (transport === "http" ? client : inject).get(`/cached/${owner}`, { headers });
      return { shown: `${response.status} ${response.headers["cache-control"]}`, text: response.text() };
    },
    expected({ verdict, owner }) {
      const found = verdict(owner);
      if (found.is === "allowed") return { shown: "200 private, max-age=60", revealed: [owner] };
      return { shown: `${statusOf(found.code)} no-store`, revealed: [] };
    },
  },
  {
    ...shared,
    name: "page of a list",
    isList: true,
    declare({ app, probe }, { gate: { auth } }) {
      const rule = auth === undefined ? {} : { rule: gateOf(auth) };
      // Runs for the items that are sent.
      const item = z.object({ id: z.string() }).transform(({ id }) => ({ id, secret: probe.reveal(id as Owner) }));
      app.get("/page/:any", { paginated: { strategy: "page_number", item, ...rule } } as never, ({ response }) =>
        response.paginate(rows, { strategy: "page_number" }),
      );
    },
    visit: get("/page", (body) => (body as { readonly items: readonly unknown[] }).items),
    expected(view) {
      const unknown = firstUnknown(view);
      if (unknown !== null) return refused(unknown);
      const owners = OWNERS.filter((owner) => view.verdict(owner).is === "allowed");
      return { shown: owners.map((owner) => ({ id: owner, secret: canaryOf(owner) })), revealed: owners };
    },
  },
];
