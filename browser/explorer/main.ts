import type { HtmlOptions } from "../../src/graphql/ide/html-options.ts";
import { byId } from "../elements.ts";

// Starts GraphiQL where the page loads it from a CDN. The scripts of the CDN have run before.

declare const GraphiQL: { readonly createFetcher: (options: object) => object };
declare const React: { readonly createElement: (component: object, props: object) => object };
declare const ReactDOM: { readonly createRoot: (place: HTMLElement) => { readonly render: (element: object) => void } };

const { title, query, hasSocket } = JSON.parse(byId("options").textContent) as HtmlOptions;
document.title = title;
const url = location.origin + location.pathname;
const fetcher = GraphiQL.createFetcher({
  url,
  enableIncrementalDelivery: false,
  ...(hasSocket ? { subscriptionUrl: url.replace("http", "ws") } : {}),
});
const explorer = React.createElement(GraphiQL, {
  fetcher,
  defaultEditorToolsVisibility: true,
  ...(query === null ? {} : { defaultQuery: query }),
});
ReactDOM.createRoot(byId("explorer")).render(explorer);
