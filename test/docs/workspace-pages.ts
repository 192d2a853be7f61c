/** The pages whose snippets are files of several packages. `test/system/recipes/installed-package.servers.test.ts` compiles and runs them. */
export const workspacePages: readonly string[] = ["docs/recipes/monorepo.md"];
