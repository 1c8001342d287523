// `openapi.json`, as a service with default settings returns it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { app } from '../../src/app/app.ts'
import { runtimeContext } from '../../src/app/runtime-context.ts'
import { loadConfig } from '../../src/config/index.ts'

export async function openApiFile() {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-openapi-'))
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'http://localhost:8080',
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
  }
  const service = app(runtimeContext(loadConfig({ environment, folder })))
  try {
    const { url } = await service.start(new AbortController().signal)
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
    if (!response.ok) throw new Error(`GET /openapi.json returned ${response.status}`)
    return `${JSON.stringify(await response.json(), null, 2)}\n`
  } finally {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
