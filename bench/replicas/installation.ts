import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRedisBus } from '../../src/platform/bus/index.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import { silentLog } from '../../src/platform/log/index.ts'
import { openRedis } from '../../src/platform/redis/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { administer, databaseUrl } from '../../test/kit/database/postgres-server.ts'
import { type WebhookFixture, webhookFixture } from '../../test/kit/events/webhooks.ts'
import { type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../../test/kit/service/process.ts'
import { type Client, client } from '../../test/scenarios/client.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { type CpuLimit, limitCpu } from './cpu-share.ts'

/** Instances of the built service on one database and one Redis. */
export interface Installation {
  api: Client
  instances: readonly ServiceProcess[]
  /** Records events as another process of the installation would, without one of its instances. */
  recording: WebhookFixture
  /** From now on, each instance may use this part of a core. */
  limit(share: number): Promise<void>
  /** Starts a process in place of one that was killed. */
  restart(index: number): Promise<void>
  close(): Promise<void>
}

/** `serverUrl`: a PostgreSQL server, on which the installation has a database of its own. */
export async function openInstallation(serverUrl: string, count: number): Promise<Installation> {
  const name = `posthorn_bench_${randomUUID().replaceAll('-', '')}`
  const url = databaseUrl(serverUrl, name)
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const redis = await startRedis()
  await administer(serverUrl, `create database "${name}"`)
  const start = () =>
    startServiceProcess({
      dataDir,
      databaseUrl: url,
      redisUrl: redis.url,
      env: { ...SHARED_KEYS, LOG_LEVEL: 'warn' },
    })
  const instances: ServiceProcess[] = []
  while (instances.length < count) instances.push(await start())
  const [first] = instances
  if (first === undefined) throw new Error('An installation needs an instance.')
  const deps = { redis: await openRedis({ url: redis.url, log: silentLog }), log: silentLog, clock: systemClock }
  const db = openPostgres({ url, maxConnections: 4, onError: console.error })
  const recording = webhookFixture(db, { bus: await openRedisBus(deps) })
  const limits: CpuLimit[] = []
  return {
    api: client(first.url, first.key),
    instances,
    recording,
    async limit(share) {
      for (const { pid } of instances) limits.push(await limitCpu(pid, share))
    },
    async restart(index) {
      instances[index] = await start()
    },
    async close() {
      await recording.close()
      await db.close()
      await deps.redis.close()
      // With their small shares, they would take long to end by themselves.
      await Promise.all(instances.map((instance) => instance.kill()))
      for (const limit of limits) await limit.remove()
      await administer(serverUrl, `drop database "${name}" with (force)`)
      await redis.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
