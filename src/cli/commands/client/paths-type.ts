import type {
  OpenAPIContent,
  OpenAPIDocument,
  OpenAPIOperation,
  OpenAPIParameter,
} from "../../../openapi/open-api-document.ts";
import { block, comment, member, schemaType } from "./schema-type.ts";

/**
 * Writes the types of a REST API in the form of openapi-typescript, which portico-client and openapi-fetch read: `paths`, and
 * the `components` that it refers to.
 */
export function pathsType({ paths, components }: OpenAPIDocument): string {
  const described = Object.entries(paths).map(([path, operations]) => {
    const methods = Object.entries(operations).map(
      ([method, operation]) => `${comment(operation.summary)}${method}: ${operationType(operation)};`,
    );
    return `${member(path, false)}: ${block(methods)};`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${member(name, false)}: ${schemaType(schema)};`,
  );
  return [
    "// Written by portico client. Do not edit.",
    `export interface paths ${block(described)}`,
    `export interface components ${block([`schemas: ${block(schemas)};`])}`,
    "",
  ].join("\n\n");
}

function operationType({ parameters = [], requestBody, responses }: OpenAPIOperation): string {
  const bodies = Object.entries(responses).map(([status, { content }]) =>
    `${member(status, false)}: ${block([contentMember(content)])};`.replace(/^"(\d+)"/, "$1"),
  );
  return block([
    `parameters: ${block(placesOf(parameters).map((place) => parametersMember(place, parameters)))};`,
    requestBody === undefined
      ? "requestBody?: never;"
      : `${member("requestBody", requestBody.required !== true)}: ${block([contentMember(requestBody.content)])};`,
    `responses: ${block(bodies)};`,
  ]);
}

type Place = OpenAPIParameter["in"];

function placesOf(parameters: readonly OpenAPIParameter[]): readonly Place[] {
  return parameters.some((parameter) => parameter.in === "header") ? ["query", "path", "header"] : ["query", "path"];
}

function parametersMember(place: Place, all: readonly OpenAPIParameter[]): string {
  const own = all.filter((parameter) => parameter.in === place);
  if (own.length === 0) return `${place}?: never;`;
  const members = own.map(
    ({ name, required, description, schema }) =>
      `${comment(description)}${member(name, required !== true)}: ${schemaType(schema)};`,
  );
  return `${member(
    place,
    own.every(({ required }) => required !== true),
  )}: ${block(members)};`;
}

function contentMember(content: OpenAPIContent | undefined): string {
  if (content === undefined) return "content?: never;";
  const types = Object.entries(content).map(([type, { schema }]) => `${member(type, false)}: ${schemaType(schema)};`);
  return `content: ${block(types)};`;
}
