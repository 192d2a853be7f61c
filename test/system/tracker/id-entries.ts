import { idOf } from "./seed.ts";
import type { Shot } from "./shots.ts";

const graph = (query: string): Shot => ({
  kind: "post",
  method: "POST",
  target: "/graphql",
  body: JSON.stringify({ query }),
});
const rest = (method: "GET" | "PATCH", target: string): Shot => ({ kind: "rest", method, target, body: null });
const selection = "{ __typename }";
/** Everything in the application that takes an id. */
export const idEntries: readonly (readonly [string, (id: string) => Shot])[] = [
  ...["projects", "issues", "comments"].map(
    (list) => [`GET /api/${list}/:id`, (id: string) => rest("GET", `/api/${list}/${id}`)] as const,
  ),
  ["GET /api/issues/:id/visible", (id) => rest("GET", `/api/issues/${id}/visible`)],
  ["PATCH /api/issues/:id", (id) => rest("PATCH", `/api/issues/${id}`)],
  ...["organisation", "person", "project", "issue", "comment", "label", "node", "hit", "owned"].map(
    (name) => [`query ${name}`, (id: string) => graph(`{ it: ${name}(id: "${id}") ${selection} }`)] as const,
  ),
  ["query issuesById", (id) => graph(`{ issuesById(ids: ["${id}", "${idOf("A", "issues", 1)}"]) { id } }`)],
  ["query issuesOfProject", (id) => graph(`{ issuesOfProject(project: "${id}") { totalCount nodes { id } } }`)],
  ["query commentsOfIssue", (id) => graph(`{ commentsOfIssue(issue: "${id}") { totalCount nodes { id } } }`)],
  ["mutation renameProject", (id) => graph(`mutation { renameProject(id: "${id}", name: "x") { id } }`)],
  ["mutation renameProjects", (id) => graph(`mutation { renameProjects(ids: ["${id}"], name: "x") { id } }`)],
  ["mutation editIssue", (id) => graph(`mutation { editIssue(id: "${id}", title: "x") { id } }`)],
  ["mutation addComment", (id) => graph(`mutation { addComment(issue: "${id}", text: "x") { id } }`)],
  ["mutation deleteIssue", (id) => graph(`mutation { deleteIssue(id: "${id}") { id } }`)],
  ["mutation touch", (id) => graph(`mutation { touch(id: "${id}", text: "x") { __typename } }`)],
  [
    "mutation moveIssue",
    (id) => graph(`mutation { moveIssue(id: "${id}", project: "${idOf("A", "projects", 1)}") { id } }`),
  ],
  [
    "mutation moveIssue to",
    (id) => graph(`mutation { moveIssue(id: "${idOf("A", "issues", 1)}", project: "${id}") { id } }`),
  ],
  ["mutation createIssue", (id) => graph(`mutation { createIssue(project: "${id}", title: "x") { id } }`)],
  ["mutation editComment", (id) => graph(`mutation { editComment(id: "${id}", text: "x") { id } }`)],
];
