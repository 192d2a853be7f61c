/** A path of the document, `/books/{id}`, with the parameters in it. */
export interface PathTemplate {
  readonly path: string;
  readonly parameters: readonly PathTemplateParameter[];
  /** The optional parameter that this one of two paths goes without. */
  readonly without?: string;
}

export interface PathTemplateParameter {
  /** Its name in the document. */
  readonly name: string;
  /** Its name in the route, and in its `path` schema. */
  readonly key: string;
  /** The regular expression that the route gives it. */
  readonly pattern?: string;
}

/**
 * The paths of the document that a route's path stands for: `/books/:id` is `/books/{id}`, `/files/*` is
 * `/files/{wildcard}`. OpenAPI has no optional path parameters, so `/books/:id?` is `/books/{id}` and `/books`.
 */
export function pathTemplates(path: string): readonly PathTemplate[] {
  const optional = /^(.*)\/:([^/(?]+)(\(.*\))?\?$/.exec(path);
  if (optional === null) return [template(path)];
  return [template(path.slice(0, -1)), { ...template(optional[1] || "/"), without: optional[2] as string }];
}

function template(path: string): PathTemplate {
  const parameters: PathTemplateParameter[] = [];
  const add = (key: string, wanted: string, pattern?: string): string => {
    let name = wanted;
    while (parameters.some((parameter) => parameter.name === name)) name += "_";
    parameters.push({ name, key, ...(pattern === undefined ? {} : { pattern }) });
    return `{${name}}`;
  };
  let written = "";
  for (let at = 0; at < path.length; ) {
    const rest = path.slice(at);
    const named = /^:([^/(:.\-?]+)/.exec(rest);
    if (rest.startsWith("::")) {
      // The router's way to write a colon.
      written += ":";
      at += 2;
    } else if (named !== null) {
      const pattern = bracketed(rest.slice(named[0].length));
      at += named[0].length + pattern.length;
      written += add(named[1] as string, named[1] as string, pattern === "" ? undefined : wholeMatch(pattern));
    } else {
      written += rest.startsWith("*") ? add("*", "wildcard") : rest[0];
      at += 1;
    }
  }
  return { path: written, parameters };
}

/** The brackets that a text begins with, to the one that closes the first; empty when it begins with none. */
function bracketed(text: string): string {
  if (!text.startsWith("(")) return "";
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) return text.slice(0, at + 1);
  }
  return text;
}

/** The router matches the whole segment, with or without `^` and `$`; JSON Schema needs them to. */
function wholeMatch(brackets: string): string {
  const inner = brackets.slice(1, -1).replace(/^\^/, "").replace(/\$$/, "");
  return inner.includes("|") ? `^(?:${inner})$` : `^${inner}$`;
}
