import type { Loaded } from './config.ts'
import { logger, logRing, redactor, stdoutSink } from './infra/log/index.ts'
import { systemClock } from './lib/clock.ts'
import { idGenerator } from './lib/ids.ts'
import type { Ground } from './lifecycle.ts'

/** Clock, ids and log of this process; warnings about its settings are the first records. */
export function ground({ config, warnings }: Loaded): Ground {
  const clock = systemClock
  const ids = idGenerator(clock)
  const instanceId = ids('ins')
  const hiding = redactor()
  for (const secret of [
    ...[config.serviceApiKey, config.adminPassword, config.encryptionKeys, config.licenceKey],
    ...[config.googleClientSecret, config.microsoftClientSecret],
  ]) {
    if (secret !== undefined) hiding.hide(secret)
  }
  const logs = logRing()
  const log = logger({
    level: config.logLevel,
    clock,
    ids,
    instance: instanceId,
    redactor: hiding,
    sinks: [stdoutSink(), logs.add],
  })
  for (const warning of warnings) log.warn(warning, { operation: 'service.settings' })
  return { config, clock, ids, instanceId, log, logs, redactor: hiding }
}
