import { setTimeout as sleep } from 'node:timers/promises'

/** Between two reports. A server may announce thousands of changes a second, and each report costs time on both threads. */
const PAUSE_MS = 20

/**
 * Reports changed folders: the first at once, then those of each pause together, each folder once. `report` must not throw; the other
 * thread may be gone when it rejects.
 */
export function mergedChanges(
  report: (folderPath: string | undefined) => Promise<void>,
): (folderPath: string | undefined) => void {
  const changed = new Set<string | undefined>()
  let isReporting = false
  async function reportAll(): Promise<void> {
    isReporting = true
    while (changed.size > 0) {
      const paths = [...changed]
      changed.clear()
      await Promise.allSettled(paths.map(report))
      await sleep(PAUSE_MS, undefined, { ref: false })
    }
    isReporting = false
  }
  return (path) => {
    changed.add(path)
    if (!isReporting) void reportAll()
  }
}
