import process from "node:process";

/** Node 22 cannot measure the CPU time of a thread: there it is the time of the whole process. */
const usage: () => NodeJS.CpuUsage =
  "threadCpuUsage" in process ? () => process.threadCpuUsage() : () => process.cpuUsage();

/**
 * The CPU time of this thread so far, in milliseconds. A stopped process and a busy machine do not add to it. The kernel counts
 * it in steps of about 4 ms, so only differences that are well above two steps mean anything.
 */
export function threadCpuMs(): number {
  const { user, system } = usage();
  return (user + system) / 1000;
}
