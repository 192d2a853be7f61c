import { randomUUID } from "node:crypto";

export const secret = process.env["SECRET"] ?? randomUUID();
