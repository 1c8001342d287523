import type { AuthDeps } from '../accounts/auth/index.ts'
import type { Config, EffectiveSetting, Loaded } from '../config/index.ts'
import { type Ids, idGenerator } from '../platform/ids.ts'
import {
  type Log,
  type LogRing,
  type LogSink,
  logger,
  logRing,
  type Redactor,
  redactor,
  stdoutSink,
} from '../platform/log/index.ts'
import { type OtlpLogs, otlpLogs } from '../platform/otlp/index.ts'
import { type Clock, systemClock } from '../platform/time/clock.ts'
import { otlpSettings, secretTexts } from './settings.ts'
import { VERSION } from './version.ts'

/** Objects that exist before the application and outlive it. */
export interface RuntimeContext {
  config: Config
  /** Every setting with its source, secrets masked. */
  settings: readonly EffectiveSetting[]
  clock: Clock
  ids: Ids
  /** `ins_…`: this process, in log records, heartbeats and leases. */
  instanceId: string
  log: Log
  logs: LogRing
  /** For secrets that become known during the start: `redactor.hide(secret)`. */
  redactor: Redactor
  /** Mail servers by domain, which sign-ins then need not search. Only the demo has one. */
  mailServers?: AuthDeps['mailServers']
  /** Log records that could not be exported over OTLP. */
  droppedLogRecords(): number
  /** Exports the last log records, for at most two seconds. Twice safely. */
  close(): Promise<void>
}

const EXPORT_END_MS = 2000

/** Makes the clock, ids and log of this process; the log goes to `output`, by default stdout as JSON. Warnings about its settings are the first log records. */
export function runtimeContext(
  { config, settings, warnings }: Loaded,
  output: LogSink = stdoutSink(),
  clock: Clock = systemClock,
): RuntimeContext {
  const ids = idGenerator(clock)
  const instanceId = ids('ins')
  const hiding = redactor()
  for (const secret of secretTexts(config)) hiding.hide(secret)
  const logs = logRing()
  const otlp = otlpSettings(config)
  const exporter: OtlpLogs | undefined =
    otlp && otlpLogs({ ...otlp, clock, version: VERSION, instance: instanceId, log: () => log })
  const log: Log = logger({
    level: config.logLevel,
    clock,
    ids,
    instance: instanceId,
    redactor: hiding,
    sinks: [output, logs.add, ...(exporter === undefined ? [] : [exporter.add])],
  })
  for (const warning of warnings) log.warn(warning, { operation: 'service.settings' })
  const close = async () => exporter?.close(EXPORT_END_MS)
  return {
    config,
    settings,
    clock,
    ids,
    instanceId,
    log,
    logs,
    redactor: hiding,
    droppedLogRecords: () => exporter?.dropped ?? 0,
    close,
  }
}
