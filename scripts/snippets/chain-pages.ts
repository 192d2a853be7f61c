/** The guide pages whose snippets use libraries of `tools/client-chain`. `npm run test:chain` compiles them. */
export const chainPages: readonly string[] = ["docs/guide/other-clients.md"];
