import { type Log, type LogEntry, logger, redactor } from '../../src/infra/log/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { idGenerator } from '../../src/lib/ids.ts'

/** The real logger, with every record in `entries`. */
export function memoryLog(): { log: Log; entries: LogEntry[] } {
  const entries: LogEntry[] = []
  const log = logger({
    level: 'trace',
    clock: systemClock,
    ids: idGenerator(systemClock),
    instance: 'ins_test',
    redactor: redactor(),
    sinks: [(entry) => void entries.push(entry)],
  })
  return { log, entries }
}
