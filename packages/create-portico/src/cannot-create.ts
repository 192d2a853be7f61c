/** Ends the command with a message for the user. */
export class CannotCreate extends Error {
  override readonly name: string = "CannotCreate";
  readonly exitCode: number = 1;
}

/** The command was called with a wrong flag or value. */
export class UsageError extends CannotCreate {
  override readonly name: string = "UsageError";
  override readonly exitCode: number = 2;
}
