import type { Kysely, KyselyPlugin } from "kysely";
import type { Database } from "./database.ts";

/**
 * Makes `withPlugin` return a database as well: its transactions have the plugin, and its current transaction is that
 * of the database. Kysely's own method returns only Kysely.
 *
 * @param ownOf returns the methods that a copy does not share with the database
 */
export function keepingPlugins<D extends Database>(bare: D, ownOf: (copy: Kysely<any>) => object): D {
  const kyselyCopy = bare.withPlugin.bind(bare) as unknown as (plugin: KyselyPlugin) => Kysely<any>;
  const copyWith = (plugins: readonly [KyselyPlugin, ...KyselyPlugin[]]): D => {
    const [first, ...others] = plugins;
    const withPlugins = <K extends Kysely<any>>(other: K): K =>
      (other as Kysely<any>) === bare ? (copy as unknown as K) : pluggedIn(other, plugins);
    const copy: D = Object.assign(pluggedIn(kyselyCopy(first), others) as D, {
      engine: bare.engine,
      begin: async (...args: Parameters<D["begin"]>) => pluggedIn(await bare.begin(...args), plugins),
      current: () => withPlugins(bare.current()),
      replica: () => withPlugins(bare.replica() as object as Kysely<any>),
      afterCommit: (work: () => unknown) => bare.afterCommit(work),
      ping: () => bare.ping(),
      withPlugin: (plugin: KyselyPlugin) => copyWith([...plugins, plugin]),
      withoutPlugins: () => bare,
    });
    return Object.assign(copy, ownOf(copy));
  };
  return Object.assign(bare, { withPlugin: (plugin: KyselyPlugin) => copyWith([plugin]), withoutPlugins: () => bare });
}

/** Adds plugins one by one. */
export function pluggedIn<K extends Kysely<any>>(kysely: K, plugins: readonly KyselyPlugin[]): K {
  return plugins.reduce((copy, plugin) => copy.withPlugin(plugin) as K, kysely);
}
