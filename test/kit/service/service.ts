import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { app } from '../../../src/app/app.ts'
import { runtimeContext } from '../../../src/app/runtime-context.ts'
import { loadConfig } from '../../../src/config/index.ts'
import type { Log, LogSink } from '../../../src/platform/log/index.ts'
import type { Clock } from '../../../src/platform/time/clock.ts'
import { checkRows, type Place } from '../database/database.ts'

/** The complete service inside the test process, on a free port. */
export interface Service {
  url: string
  key: string
  log: Log
  /** Idempotent. Removes the data folder unless a place was given. */
  stop(): Promise<void>
}

const KEY = 'test-key-0123456789abcdef0123456789'

export interface ServiceOptions {
  /** Default: a new file store. */
  place?: Place
  environment?: Record<string, string>
  clock?: Clock
  /** Receives the log. Default: stdout. */
  output?: LogSink
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const folder = options.place?.dataDir ?? (await mkdtemp(join(tmpdir(), 'posthorn-service-')))
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    DATABASE_URL: options.place?.databaseUrl,
    SERVICE_API_KEY: KEY,
    LOG_LEVEL: 'fatal',
    OUTBOX_COPY_WAIT_SECONDS: '0',
    ...options.environment,
  }
  const context = runtimeContext(loadConfig({ environment, folder }), options.output, options.clock)
  const service = app(context)
  let ran = false
  const stop = async () => {
    await service.stop()
    await context.close()
    if (options.place !== undefined) return
    try {
      if (ran) await checkRows({ dataDir: folder, databaseUrl: undefined })
    } finally {
      ran = false
      await rm(folder, { recursive: true, force: true })
    }
  }
  try {
    const { url } = await service.start(new AbortController().signal)
    ran = true
    return { url, key: KEY, log: context.log, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
