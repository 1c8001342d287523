import { idGenerator } from '../../../src/platform/ids.ts'
import { type Log, type LogEntry, logger, redactor } from '../../../src/platform/log/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'

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
