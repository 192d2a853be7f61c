import { HttpException } from "../../kernel/exceptions/http-exception.ts";

/** 400: the endpoint does not accept this batch. */
export function batchRefused(message: string): HttpException {
  return new HttpException(400, message, { code: "BATCH_REFUSED" });
}

/** Throws unless a batch contains between one and `most` operations. */
export function checkBatch({ length }: readonly unknown[], most: number): void {
  if (length === 0) throw batchRefused("A batch must contain at least one operation");
  if (length <= most) return;
  throw batchRefused(
    most === 0
      ? "This endpoint does not accept batches"
      : `A batch may contain at most ${most} operations; this one has ${length}`,
  );
}
