import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { type Application, startApplication } from '../test/scenarios/application.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'

/** The environment of a benchmark: the built service on a file store, a real Dovecot and an application, all on loopback. */
export interface ImapScenario {
  dovecot: Dovecot
  application: Application
  service: ServiceProcess
  api: Client
}

export async function withStage(
  run: (stage: ImapScenario) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const dovecot = await startDovecot()
  const application = await startApplication()
  const service = await startServiceProcess({ dataDir, env: { LOG_LEVEL: 'info', ...env } })
  try {
    await run({ dovecot, application, service, api: client(service.url, service.key) })
  } finally {
    await service.stop()
    await application.close()
    await dovecot.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
