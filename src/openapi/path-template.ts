/** A path of the document, such as `/books/{id}`, with its parameters. */
export interface PathTemplate {
  readonly path: string;
  readonly parameters: readonly PathTemplateParameter[];
  /** The optional parameter that is missing in this variant of the path. */
  readonly without?: string;
}

export interface PathTemplateParameter {
  /** Its name in the document. */
  readonly name: string;
  /** Its name in the route and in the `path` schema. */
  readonly key: string;
  /** The regular expression of the parameter in the route. */
  readonly pattern?: string;
}

/**
 * Returns the document paths of a route path: `/books/:id` is `/books/{id}`, `/files/*` is `/files/{wildcard}`. OpenAPI
 * has no optional path parameters, so `/books/:id?` is `/books/{id}` and `/books`.
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
      // The router writes a literal colon as two colons.
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

/** Returns the text from a leading bracket to its closing bracket, or an empty string if there is none. */
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

/** The router always matches the whole segment, but JSON Schema needs `^` and `$` for that. */
function wholeMatch(brackets: string): string {
  const inner = brackets.slice(1, -1).replace(/^\^/, "").replace(/\$$/, "");
  return inner.includes("|") ? `^(?:${inner})$` : `^${inner}$`;
}
