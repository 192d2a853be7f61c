/** A disk in memory that only the processes of the program see. */
const DISK = "/dev/shm";
const FOLDER = `${DISK}/portico-faults`;
const MOUNT = `mount -t tmpfs tmpfs ${DISK} && mkdir -m 1777 ${FOLDER} && exec "$@"`;

/**
 * Starts the program again with its own folder for temporary files, unless it has one. The folder is gone with the last process
 * that sees it, however that ends.
 */
export function haveOwnFolder(): void {
  if (process.env["TMPDIR"] === FOLDER) return;
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, TMPDIR: FOLDER };
  process.execve?.("/usr/bin/env", ["env", "unshare", "-m", "sh", "-c", MOUNT, "sh", ...again], env);
}
