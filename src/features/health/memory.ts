import { totalmem } from 'node:os'

export interface Memory {
  /** Of what this process may use: the container's limit, else the machine's memory. */
  percentage: number
  rssBytes: number
  heapUsedBytes: number
  limitBytes: number
}

export function memory(): Memory {
  const { rss, heapUsed } = process.memoryUsage()
  const limitBytes = memoryLimit()
  return {
    percentage: Math.round((rss / limitBytes) * 1000) / 10,
    rssBytes: rss,
    heapUsedBytes: heapUsed,
    limitBytes,
  }
}

/** Without a limit the kernel reports 0 or a number beyond all memory. */
function memoryLimit(): number {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}
