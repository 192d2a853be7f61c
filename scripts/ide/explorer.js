/* oxlint-disable import/default -- the workers have one once vite has made them */
import "graphiql/style.css";
import "./explorer.css";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL, HISTORY_PLUGIN } from "graphiql";
import EditorWorker from "monaco-editor/esm/vs/editor/editor.worker.js?worker&inline";
import JsonWorker from "monaco-editor/esm/vs/language/json/json.worker.js?worker&inline";
import GraphqlWorker from "monaco-graphql/esm/graphql.worker.js?worker&inline";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

// Everything is in the page: the editor's workers are made from blobs of it.
globalThis.MonacoEnvironment = {
  getWorker(_id, label) {
    if (label === "json") return new JsonWorker();
    return label === "graphql" ? new GraphqlWorker() : new EditorWorker();
  },
};

/** Called by the last script of the page, after the options that the server wrote into it. */
globalThis.startExplorer = function startExplorer() {
  const options = JSON.parse(document.getElementById("options").textContent);
  document.title = options.title;
  // The page explores the address that it was loaded from.
  const url = location.origin + location.pathname;
  const subscriptionUrl = options.hasSocket ? url.replace(/^http/, "ws") : undefined;
  const explorer = createElement(
    GraphiQL,
    {
      fetcher: createGraphiQLFetcher({ url, subscriptionUrl, enableIncrementalDelivery: false }),
      plugins: [HISTORY_PLUGIN],
      defaultEditorToolsVisibility: true,
      ...(options.query === null ? {} : { defaultQuery: options.query }),
    },
    createElement(GraphiQL.Logo, null, options.title),
  );
  createRoot(document.getElementById("explorer")).render(explorer);
};
