import { accessSync, constants, statSync } from "node:fs";
import { tmpdir } from "node:os";
import {
  flag,
  type OptionRule,
  optional,
  optionRule,
  positiveInteger,
  resolveOptions,
} from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";
import { type ContentType, contentTypeList } from "./content-type.ts";

/** The files that an operation may have, and where they are stored until it ends. */
export interface UploadsOptions {
  /** Whether multipart requests are accepted. @default false */
  readonly enabled?: boolean;
  /** The maximum size of one file. @default "10mb" */
  readonly maxSize?: Size;
  /** The maximum number of files in one request. @default 10 */
  readonly maxFiles?: number;
  /** The maximum size of all files in one request. @default "50mb", or `maxSize` if that is more */
  readonly maxTotal?: Size;
  /**
   * The media types that a file may declare: `image/png`, or a family such as `image/*`. The content is not checked.
   * @default [] (any)
   */
  readonly contentTypes?: readonly ContentType[];
  /** The part of each request that is kept in memory; the rest goes to disk. @default "1mb" */
  readonly spillAbove?: Size;
  /** The directory for unnamed temporary files. @default the system's temporary directory */
  readonly directory?: string;
}

const directory: OptionRule<string> = optionRule("a writable directory", isWritable);

const MAX_TOTAL = 50 * 1024 ** 2;

const uploadsRules = {
  enabled: optional(flag, false),
  maxSize: optional(size, 10 * 1024 ** 2),
  maxFiles: optional(positiveInteger, 10),
  maxTotal: size,
  contentTypes: optional(contentTypeList, []),
  spillAbove: optional(size, 1024 ** 2),
  directory,
};

/**
 * The uploads of an endpoint. An invalid value throws `ConfigurationError`.
 *
 * @example
 * ```ts
 * import { Uploads } from "portico/graphql";
 *
 * export const uploads = new Uploads({ enabled: true, maxSize: "2mb", contentTypes: ["image/*"] });
 * ```
 */
export class Uploads implements Required<UploadsOptions> {
  readonly enabled: boolean;
  /** In bytes. */
  readonly maxSize: number;
  readonly maxFiles: number;
  /** In bytes. */
  readonly maxTotal: number;
  /** In lower case. */
  readonly contentTypes: readonly ContentType[];
  /** In bytes. */
  readonly spillAbove: number;
  readonly directory: string;

  constructor(options: UploadsOptions = {}) {
    const resolved = resolveOptions("Uploads", options, uploadsRules);
    this.enabled = resolved.enabled;
    this.maxSize = resolved.maxSize;
    this.maxFiles = resolved.maxFiles;
    this.maxTotal = resolved.maxTotal ?? Math.max(MAX_TOTAL, resolved.maxSize);
    this.contentTypes = resolved.contentTypes;
    this.spillAbove = resolved.spillAbove;
    this.directory = resolved.directory ?? tmpdir();
  }

  /** Accepts a plain object with the same options too. */
  static from(value: Uploads | UploadsOptions): Uploads {
    return value instanceof Uploads ? value : new Uploads(value);
  }
}

function isWritable(path: unknown): boolean {
  if (typeof path !== "string") return false;
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
