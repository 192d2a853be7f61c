import { quote, uploadInvalid, uploadTooLarge } from "./upload-invalid.ts";

/** A place for a file in `operations`: `holder[key]` is null. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
}

/** The places of each file, by the name of its part. */
export type UploadMap = ReadonlyMap<string, readonly Place[]>;

const MAX_SEGMENTS = 64;
/** In addition to one path per file. */
const MAX_EXTRA_PATHS = 256;
const RESERVED: readonly string[] = ["operations", "map"];

/**
 * Reads the part `map` and finds all of its places before a file is read. Responds with 413 to more than `maxFiles` files, and
 * with 400 if the map is malformed or a path does not point to a null below the `variables` of an operation.
 */
export function readUploadMap(map: unknown, operations: object, maxFiles: number): UploadMap {
  if (typeof map !== "object" || map === null || Array.isArray(map)) throw uploadInvalid('"map" must be an object');
  const entries = Object.entries(map);
  if (entries.length > maxFiles)
    throw uploadTooLarge(`The upload has ${entries.length} files; the limit is ${maxFiles}`);
  const taken = new Set<string>();
  return new Map(
    entries.map(([name, paths]) => {
      if (RESERVED.includes(name)) throw uploadInvalid(`"map" must not name a file ${quote(name)}`);
      if (Array.isArray(paths) && taken.size + paths.length > maxFiles + MAX_EXTRA_PATHS)
        throw uploadInvalid('"map" has too many paths');
      if (!isListOfPaths(paths)) throw uploadInvalid(`"map" must list at least one path for the file ${quote(name)}`);
      return [name, paths.map((path) => findPlace(path, operations, taken))];
    }),
  );
}

function isListOfPaths(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((path) => typeof path === "string");
}

function findPlace(path: string, operations: object, taken: Set<string>): Place {
  const segments = path.split(".", MAX_SEGMENTS + 1);
  if (segments.length > MAX_SEGMENTS) throw uploadInvalid('"map" has a path that is too long');
  const below = segments.indexOf("variables");
  // In a batch, a path begins with the index of the operation.
  if (below !== (Array.isArray(operations) ? 1 : 0) || segments.length === below + 1)
    throw uploadInvalid(`The path ${quote(path)} must point below "variables"`);
  if (taken.has(path)) throw uploadInvalid(`The path ${quote(path)} is listed twice`);
  taken.add(path);

  const key = segments.pop() as string;
  let holder: unknown = operations;
  for (const segment of segments) holder = hasPlace(holder, segment) ? holder[segment] : undefined;
  if (!hasPlace(holder, key) || holder[key] !== null)
    throw uploadInvalid(`The path ${quote(path)} must point to a null in "operations"`);
  return { holder, key };
}

/** Accepts own properties only, so that a path cannot leave the data that the client sent. */
function hasPlace(holder: unknown, key: string): holder is Record<string, unknown> {
  if (typeof holder !== "object" || holder === null || key === "__proto__") return false;
  if (Array.isArray(holder) && !/^(?:0|[1-9]\d*)$/.test(key)) return false;
  return Object.hasOwn(holder, key);
}
