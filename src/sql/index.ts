export { namedStatements } from "./named-statements.ts";
export { TableHandler, type TableHandlerArguments, type TableHandlerOptions, tableHandler } from "./table-handler.ts";
export { type TotalsCache, type TotalsCacheOptions, totalsCache } from "./totals-cache.ts";
