/** Sends JSON to a route. Returns the body of the response, or throws an error with its message. */
export async function post(path, body = {}) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  const content = text === "" ? {} : JSON.parse(text);
  if (!response.ok) throw new Error(content.detail ?? `The server returned status ${response.status}`);
  return content;
}

/** Runs a query or a mutation. Returns its data, or throws an error with the message of the first error. */
export async function graphql(query, variables) {
  return dataOf(await post("/graphql", { query, variables }));
}

/** Runs a mutation with a file in `variables.file`, as the multipart convention for GraphQL defines it. */
export async function upload(query, { file, ...variables }) {
  const form = new FormData();
  form.append("operations", JSON.stringify({ query, variables: { ...variables, file: null } }));
  form.append("map", JSON.stringify({ 0: ["variables.file"] }));
  form.append("0", file);
  const response = await fetch("/graphql", { method: "POST", body: form });
  return dataOf(await response.json());
}

/** Runs a subscription over Server-Sent Events. Ends when the server ends it, or when the signal is aborted. */
export async function* subscribe(query, signal) {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const response = await fetch("/graphql", { method: "POST", headers, body: JSON.stringify({ query }), signal });
  let unread = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (unread + chunk).split("\n\n");
    unread = events.pop();
    for (const event of events) {
      const [, json] = /^data: (.+)$/m.exec(event) ?? [];
      if (json !== undefined) yield dataOf(JSON.parse(json));
    }
  }
}

function dataOf({ data, errors }) {
  if (errors !== undefined) throw new Error(errors[0].message);
  return data;
}
