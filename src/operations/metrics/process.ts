import { readdir } from 'node:fs/promises'
import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics of the process, under the names that Prometheus clients share. */
export function processMetrics(registry: Registry): void {
  const registers = [registry]
  const startedAt = Math.round(performance.timeOrigin / 1000)
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read())
      },
    })
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss())
  gauge('process_heap_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed)
  gauge('process_start_time_seconds', 'Start of the process, as Unix time.', () => startedAt)
  // Only Linux has the folder.
  gauge('process_open_fds', 'Open file descriptors.', () =>
    readdir('/proc/self/fd').then(
      (files) => files.length,
      () => 0,
    ),
  )
}
