import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'

const run = promisify(execFile)
export const NPM_MS = 300_000
const DEMO_MS = 300_000
const INSTALL = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--silent']

/** The package in a folder of a user, who has installed what `npm publish` would upload. */
export interface InstalledPackage {
  /** Contains `app`, where it is installed, and the archive. */
  folder: string
  archive: string
  packageFolder: string
  remove(): Promise<void>
}

export async function installPackage(): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-package-'))
  const app = join(folder, 'app')
  // dist is built; `prepack` would build it again.
  const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', packing, { timeout: NPM_MS })
  const archive = join(folder, stdout.trim())
  await mkdir(app)
  await writeFile(join(app, 'package.json'), '{ "name": "app", "private": true }')
  await run('npm', [...INSTALL, archive], { cwd: app, timeout: NPM_MS })
  return {
    folder,
    archive,
    packageFolder: join(app, 'node_modules', 'posthorn'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The service and the demo of the package on one Node. `node`: its program. */
export function describePackage(title: string, installed: () => InstalledPackage, node: () => string): void {
  describe(title, () => {
    let service: ServiceProcess
    beforeAll(async () => {
      const empty = await mkdtemp(join(installed().folder, 'start-'))
      service = await startServiceProcess({
        node: node(),
        program: [join(installed().packageFolder, manifest.bin.posthorn), 'start'],
        folder: empty,
        dataDir: join(empty, 'data'),
        env: { ADMIN_PASSWORD: 'a password of the test' },
      })
    })
    afterAll(() => service?.kill())

    it('serves the API, the portal, the documentation and the widget', async () => {
      const get = async (path: string) => {
        const headers = { authorization: `Bearer ${service.key}` }
        const response = await fetch(`${service.url}${path}`, { headers, signal: AbortSignal.timeout(60_000) })
        return [response.status, await response.text()]
      }
      expect(await get('/health/detailed')).toEqual([200, expect.stringContaining(`"version":"${manifest.version}"`)])
      expect(await get('/accounts')).toEqual([200, expect.stringContaining('"accounts":[]')])
      expect(await get('/admin')).toEqual([200, expect.stringContaining('<title>')])
      expect(await get('/docs')).toEqual([200, expect.stringContaining('</html>')])
      expect(await get('/embed/v1/posthorn-scheduler.js')).toEqual([200, expect.stringContaining('customElements')])
    })

    it('stops with code 0 on SIGTERM', async () => {
      expect(await service.stop()).toBe(0)
    })

    it('plays the demo in an empty folder', async () => {
      const empty = await mkdtemp(join(installed().folder, 'demo-'))
      const env = { PATH: `${dirname(node())}:${process.env.PATH}`, TMPDIR: empty }
      const command = join(installed().folder, 'app', 'node_modules', '.bin', 'posthorn')
      const { stdout, stderr } = await run(command, ['demo', '--once'], { cwd: empty, env, timeout: DEMO_MS })
      expect(stdout).toContain('Done: the application connected a mailbox')
      expect(stderr).toBe('')
      expect(await readdir(empty)).toEqual([])
    })
  })
}
