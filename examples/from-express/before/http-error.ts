import type { NextFunction, Request, Response } from "express";

export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function sendError(error: unknown, _request: Request, response: Response, _next: NextFunction): void {
  const known = error instanceof HttpError ? error : new HttpError(500, "Internal server error");
  if (known.status === 500) console.error(error);
  response.status(known.status).json({ error: known.message });
}
