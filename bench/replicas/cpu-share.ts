import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'

/** A process that may use only a part of a core, on all cores together. */
export interface CpuLimit {
  /** Call it when the process has ended. */
  remove(): Promise<void>
}

const ROOT = '/sys/fs/cgroup'
/** Short, so that no response waits long for the next period. */
const PERIOD_US = 20_000

/** Moves the process with all its threads to a control group of its own. `share`: of a core, such as 0.1. Needs root. */
export async function limitCpu(pid: number, share: number): Promise<CpuLimit> {
  const name = `posthorn-bench-${pid}`
  const quotaUs = Math.round(PERIOD_US * share)
  const isSecond = existsSync(`${ROOT}/cgroup.controllers`)
  const folder = isSecond ? `${ROOT}/${name}` : `${ROOT}/cpu/${name}`
  if (isSecond) await writeFile(`${ROOT}/cgroup.subtree_control`, '+cpu')
  await mkdir(folder)
  if (isSecond) await writeFile(`${folder}/cpu.max`, `${quotaUs} ${PERIOD_US}`)
  else {
    await writeFile(`${folder}/cpu.cfs_period_us`, String(PERIOD_US))
    await writeFile(`${folder}/cpu.cfs_quota_us`, String(quotaUs))
  }
  await writeFile(`${folder}/cgroup.procs`, String(pid))
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8')
  if (!groups.includes(name)) throw new Error(`The process ${pid} is not in the control group ${name}: ${groups}`)
  return { remove: () => rmdir(folder) }
}
