import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";

const PERIOD_US = 100_000;
const FIRST = "/sys/fs/cgroup/cpu";
const SECOND = "/sys/fs/cgroup";

/**
 * Leaves a process a share of one core, as the limit of a container does. The returned function ends that, when the process has
 * ended.
 */
export function cpuQuota(pid: number, share: number): () => void {
  const isFirst = existsSync(`${FIRST}/cpu.cfs_quota_us`);
  const group = `${isFirst ? FIRST : SECOND}/portico-${pid}`;
  const quota = String(share * PERIOD_US);
  if (!isFirst) writeFileSync(`${SECOND}/cgroup.subtree_control`, "+cpu");
  mkdirSync(group);
  if (isFirst) writeFileSync(`${group}/cpu.cfs_period_us`, String(PERIOD_US));
  writeFileSync(`${group}/${isFirst ? "cpu.cfs_quota_us" : "cpu.max"}`, isFirst ? quota : `${quota} ${PERIOD_US}`);
  writeFileSync(`${group}/cgroup.procs`, String(pid));
  return () => rmdirSync(group);
}
