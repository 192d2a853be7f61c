import type { NextFunction, Request, Response } from "express";
import { HttpException } from "portico";

export function sendError(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  if (response.headersSent) return next(error);
  const known = error instanceof HttpException ? error : new HttpException(500, "Internal server error");
  if (known.status === 500) console.error(error);
  response.status(known.status).json({ error: known.message });
}
