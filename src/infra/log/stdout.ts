import { type DestinationStream, destination, pino } from 'pino'
import type { LogSink } from './logger.ts'

/** One JSON object per line, written synchronously: the last record before a crash is the one that is needed. */
export function stdoutSink(stream: DestinationStream = destination({ fd: 1, sync: true })): LogSink {
  // The level was decided already, and the record is complete: pino only serialises and writes.
  const writer = pino(
    {
      level: 'trace',
      base: null,
      timestamp: false,
      messageKey: 'message',
      formatters: { level: (level) => ({ level }) },
    },
    stream,
  )
  return ({ level, message, ...rest }) => writer[level](rest, message)
}
