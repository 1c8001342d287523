import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { buildImage, type Image } from '../kit/image/build.ts'
import { type Container, startContainer } from '../kit/image/container.ts'
import { freePort } from '../servers/free-port.ts'

const BUILD_MS = 1_800_000
const LARGEST_MB = 200
const KEY = 'image-key-0123456789abcdef0123456789'
const USER = 65_532

/** Needs root and Debian's packages; the steps of the Dockerfile install from npm, so it needs the network. */
const isPossible = process.getuid?.() === 0 && existsSync('/usr/bin/mmdebstrap') && existsSync('/usr/bin/crun')

describe.skipIf(!isPossible)('the image, built by the steps of the Dockerfile', () => {
  let image: Image
  let data = ''
  let backups = ''
  let port: number
  beforeAll(async () => {
    image = await buildImage(process.cwd(), console.log)
    data = await volume()
    backups = await volume()
    port = await freePort()
  }, BUILD_MS)
  afterAll(async () => {
    for (const folder of [data, backups].filter(Boolean)) await rm(folder, { recursive: true, force: true })
    await image?.close()
  })

  const start = (command?: string[]) =>
    startContainer(image, {
      environment: { PORT: String(port), HOST: '127.0.0.1', SERVICE_API_KEY: KEY, ADMIN_PASSWORD: 'of the image test' },
      volumes: { '/data': data, '/backups': backups },
      ...(command && { command }),
    })

  async function ready(container: Container): Promise<void> {
    await eventually(async () =>
      expect([await container.checkHealth(), container.output()]).toEqual([0, expect.anything()]),
    )
  }

  it(`has at most ${LARGEST_MB} MB, and no shell`, async () => {
    console.log(`the image has ${(image.sizeBytes / 1e6).toFixed(1)} MB`)
    expect(image.sizeBytes / 1e6).toBeLessThan(LARGEST_MB)
    await expect(stat(join(image.root, 'bin/sh'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('gives the folders of its volumes to its user', async () => {
    expect(image.config.volumes).toEqual(['/data'])
    for (const name of ['data', 'backups']) {
      const { uid, gid } = await stat(join(image.root, name))
      expect([uid, gid]).toEqual([USER, USER])
    }
  })

  it('is unhealthy before the service is ready, then healthy, and stops with code 0 on SIGTERM', async () => {
    const container = await start()
    try {
      await ready(container)
      const health = await call('/health/detailed')
      expect(health).toMatchObject({ data: { version: expect.stringMatching(/^\d/) } })
      const script = `const fs = require('fs')
        const write = (file) => { try { fs.writeFileSync(file, ''); return 'written' } catch (error) { return error.code } }
        const status = fs.readFileSync('/proc/1/status', 'utf8')
        console.log([/^Uid:\\s+(\\d+)/m.exec(status)[1], write('/app/x'), write('/tmp/x'), /^CapEff:\\s+0+$/m.test(status), /^NoNewPrivs:\\s+1$/m.test(status)].join(' '))`
      expect(await container.execute(['/nodejs/bin/node', '-e', script])).toBe(`${USER} EROFS written true true\n`)
      expect(
        await container.execute(['/nodejs/bin/node', '-p', "require('fs').readFileSync('/proc/1/cmdline', 'utf8')"]),
      ).toBe('/nodejs/bin/node\0/app/dist/posthorn.js\0start\0\n')
      await expect(call('/webhooks/endpoints', { url: 'http://127.0.0.1:9/hook' })).resolves.toMatchObject({
        isActive: true,
      })
      expect([await container.stop(), container.output()]).toEqual([0, expect.stringContaining('SIGTERM')])
    } finally {
      await container.close()
    }
  })

  it('has its data on the volume after a restart, and only there', async () => {
    const container = await start()
    try {
      await ready(container)
      const { endpoints } = await call('/webhooks/endpoints')
      expect(endpoints).toMatchObject([{ url: 'http://127.0.0.1:9/hook' }])
      expect(await readdir(data)).toEqual(expect.arrayContaining(['posthorn.db', 'encryption-keys']))
      expect(await container.stop()).toBe(0)
    } finally {
      await container.close()
    }
  })

  it('writes a backup to its other volume, as the job of the compose file does', async () => {
    const job = await start(['backup', '--to', '/backups/night.backup'])
    try {
      await eventually(() => expect(job.output()).toMatch(/night\.backup: \d+ rows/))
      expect(await readdir(backups)).toEqual(['night.backup'])
    } finally {
      await job.close()
    }
  })

  /** With a body it is a POST. */
  async function call(path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    return (await response.json()) as Record<string, unknown>
  }
})

/** A new folder that belongs to the image's user, as Docker makes one for a volume. */
async function volume(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-volume-'))
  await chown(folder, USER, USER)
  return folder
}
