import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { app } from '../app/app.ts'
import { type RuntimeContext, runtimeContext } from '../app/runtime-context.ts'
import { loadConfig } from '../config/index.ts'

export interface DemoService {
  url: string
  key: string
  /** The password of the portal's user `admin`. */
  password: string
  stop(): Promise<void>
}

interface DemoServiceOptions {
  /** The only port to try. Default: 8080, or a free one while it is in use. */
  port?: string | undefined
  settings?: Record<string, string>
  /** The servers that detection finds, by domain. */
  mailServers?: RuntimeContext['mailServers']
}

const USUAL_PORT = 8080
const ATTEMPTS = 5

/** Starts the service on a file store in this folder. Ignores the environment. */
export async function startDemoService(folder: string, options: DemoServiceOptions = {}): Promise<DemoService> {
  const { settings, mailServers } = options
  const [key, password] = [randomBytes(24).toString('base64url'), randomBytes(24).toString('base64url')]
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? String((attempt === 1 && (await freePort(USUAL_PORT))) || (await freePort(0)))
    const environment = {
      ...settings,
      PORT: port,
      HOST: '127.0.0.1',
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      DATA_DIR: folder,
      SERVICE_API_KEY: key,
      ADMIN_PASSWORD: password,
      AUTH_SCREEN_NAME: 'Posthorn demo',
      LOG_LEVEL: 'error',
    }
    const service = app({ ...runtimeContext(loadConfig({ environment, folder })), mailServers })
    try {
      const { url } = await service.start(new AbortController().signal)
      return { url, key, password, stop: service.stop }
    } catch (error) {
      await service.stop()
      // Another process, such as a second demo, took the port after it was found free.
      if (attempt === ATTEMPTS || options.port !== undefined || !isPortInUse(error)) throw error
    }
  }
}

function isPortInUse(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
}

/** The port when it is free, otherwise undefined. 0 selects any free port. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(undefined))
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}
