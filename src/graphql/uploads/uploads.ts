import { accessSync, constants, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { flag, optional, positiveInteger, type Rule, resolveOptions, rule } from "../../core/resolve-options.ts";
import { type Size, size } from "../../core/size.ts";
import { type ContentType, contentTypeList } from "./content-type.ts";

/** Which files may come with an operation, and where they are kept until it has been answered. */
export interface UploadsOptions {
  /** Whether multipart requests are taken. @default false */
  readonly enabled?: boolean;
  /** The largest size of one file. @default "10mb" */
  readonly maxSize?: Size;
  /** The most files in one request. @default 10 */
  readonly maxFiles?: number;
  /** The largest size of all files of a request together. @default "50mb", or `maxSize` where that is more */
  readonly maxTotal?: Size;
  /**
   * The types a file may declare: `image/png`, or a family, `image/*`. The content is not looked at.
   * @default [] (any)
   */
  readonly contentTypes?: readonly ContentType[];
  /** How much of one request is held in memory; what is above it goes to disk. @default "1mb" */
  readonly spillAbove?: Size;
  /** Where files are on disk meanwhile, without a name. @default the system's directory for temporary files */
  readonly directory?: string;
}

const directory: Rule<string> = rule("a writable directory", isWritable);

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
 * The uploads of an endpoint. A wrong value throws `ConfigurationError` here.
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

  /** Takes a plain object of the same shape too. */
  static from(value: Uploads | UploadsOptions): Uploads {
    return value instanceof Uploads ? value : new Uploads(value);
  }
}

function isWritable(path: unknown): boolean {
  if (typeof path !== "string" || path === "") return false;
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
