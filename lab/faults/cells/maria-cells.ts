import type { Cell, Seen } from "../cell.ts";
import { sceneOf, tcpCells } from "../scenes/behind-proxy.ts";
import { keepTaking } from "../scenes/keep-taking.ts";
import { mariaPlace } from "../scenes/sql-places.ts";

const nothing: Seen = {};
/** Portico does not open MariaDB itself, so an error of the pool is an unexpected error of the application. */
const noMariaDb: Seen = {
  probes: { read: 500, write: 500 },
  ready: 503,
  checks: ["database"],
  doctor: "failed health",
};
/** The pool of `mysql2` does not end while a server is silent. */
const silentMariaDb: Seen = { ...noMariaDb, isForced: true };

export const mariaCells: readonly Cell[] = [
  ...tcpCells("MariaDB", mariaPlace, {
    gone: noMariaDb,
    frozen: silentMariaDb,
    slow: nothing,
    partitioned: silentMariaDb,
    flapping: nothing,
    "answering wrongly": silentMariaDb,
  }),
  {
    resource: "MariaDB",
    fault: "full",
    sees: noMariaDb,
    start: sceneOf(mariaPlace, ({ server, proxy }) =>
      keepTaking(
        () => server.connect(),
        (connection) => connection.end(),
        () => proxy.reset(),
      ),
    ),
  },
  {
    resource: "MariaDB",
    fault: "refusing",
    sees: noMariaDb,
    start: async () => {
      const place = await mariaPlace();
      await place.server.query("create user app@'127.0.0.1'");
      await place.server.query("grant all on shop.* to app@'127.0.0.1'");
      const url = Object.assign(new URL(place.settings.database ?? ""), { username: "app" }).href;
      return sceneOf(
        async () => ({ ...place, settings: { database: url } }),
        async ({ server, proxy }) => {
          await server.query("alter user app@'127.0.0.1' account lock");
          proxy.reset();
        },
      )();
    },
  },
];
