import type { Kysely, KyselyPlugin } from "kysely";
import { actingHandles } from "../guard/acting-handles.ts";
import { CallerPlugin, LAST_OF_HANDLE } from "../guard/guard-caller.ts";
import { guardOfHandle } from "../guard/guarded-dialect.ts";
import type { Database } from "./database.ts";

/**
 * Makes `withPlugin` return a database as well: its transactions have the plugin, and its current transaction is that
 * of the database. Kysely's own method returns only Kysely.
 *
 * @param ownOf returns the methods that a copy does not share with the database
 */
export function keepingPlugins<D extends Database>(bare: D, ownOf: (copy: Kysely<any>) => object): D {
  const kyselyCopy = bare.withPlugin.bind(bare) as unknown as (plugin: KyselyPlugin) => Kysely<any>;
  const last = guardOfHandle(bare) === null ? [] : [LAST_OF_HANDLE];
  const copyWith = (plugins: readonly [KyselyPlugin, ...KyselyPlugin[]]): D => {
    const [first, ...others] = plugins;
    const all = [...plugins, ...last];
    const withPlugins = <K extends Kysely<any>>(other: K): K =>
      (other as Kysely<any>) === bare ? (copy as unknown as K) : pluggedIn(other, all);
    const copy: D = Object.assign(pluggedIn(kyselyCopy(first), [...others, ...last]) as D, {
      engine: bare.engine,
      begin: async (...args: Parameters<D["begin"]>) => pluggedIn(await bare.begin(...args), all),
      current: () => withPlugins(bare.current()),
      replica: () => withPlugins(bare.replica() as object as Kysely<any>),
      afterCommit: (work: () => unknown) => bare.afterCommit(work),
      ping: () => bare.ping(),
      check: () => bare.check(),
      ...pluginsOf(plugins),
    });
    bares.set(copy, bare);
    return Object.assign(copy, ownOf(copy));
  };
  const pluginsOf = (plugins: readonly KyselyPlugin[]): object => {
    const withPlugin = (plugin: KyselyPlugin): D =>
      copyWith([...plugins, plugin] as unknown as readonly [KyselyPlugin]);
    return {
      withPlugin,
      withoutPlugins: (): D => {
        const [caller] = plugins.filter((plugin) => plugin instanceof CallerPlugin).slice(-1);
        return caller === undefined ? bare : copyWith([caller]);
      },
      ...actingHandles(bare, withPlugin),
    };
  };
  return Object.assign(bare, pluginsOf([]));
}

const bares = new WeakMap<Database, Database>();

/** The database that the plugins of a copy were added to. */
export function bareOf(database: Database): Database {
  return bares.get(database) ?? database;
}

/** Adds plugins one by one. */
export function pluggedIn<K extends Kysely<any>>(kysely: K, plugins: readonly KyselyPlugin[]): K {
  return plugins.reduce((copy, plugin) => copy.withPlugin(plugin) as K, kysely);
}
