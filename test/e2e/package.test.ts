import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { fetchNode, type OtherNode } from '../servers/other-node.ts'

const run = promisify(execFile)
const NPM_MS = 300_000
const DEMO_MS = 300_000
const INSTALLED_MB = 40
/** The oldest that package.json allows, and the newest of the later ones. */
const VERSIONS = ['20.19.0', '22', '24']
const INSTALL = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--silent']

/** A folder of a user, who has installed the package that `npm publish` would upload. */
let folder: string
let archive: string
let nodes: OtherNode[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-package-'))
  // dist is built; `prepack` would build it again.
  const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const installed = run('npm', packing, { timeout: NPM_MS }).then(async ({ stdout }) => {
    archive = join(folder, stdout.trim())
    await mkdir(join(folder, 'app'))
    await writeFile(join(folder, 'app', 'package.json'), '{ "name": "app", "private": true }')
    await run('npm', [...INSTALL, archive], { cwd: join(folder, 'app'), timeout: NPM_MS })
  })
  nodes = await Promise.all(VERSIONS.map((version) => fetchNode(version)))
  await installed
})

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  await rm(folder, { recursive: true, force: true })
})

const packageFolder = () => join(folder, 'app', 'node_modules', 'posthorn')

describe('the installed package', () => {
  it('is built before it is packed, and is published with its provenance', () => {
    expect(manifest.scripts.prepack).toBe('node scripts/build.mjs --quiet')
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true })
    expect(manifest).not.toHaveProperty('private')
  })

  it(`takes at most ${INSTALLED_MB} MB with everything that it needs`, async () => {
    const { stdout } = await run('du', ['-sk', '--apparent-size', join(folder, 'app', 'node_modules')])
    expect(Number.parseInt(stdout, 10) / 1000).toBeLessThan(INSTALLED_MB)
  })

  it('has what the service serves and the licences of what is bundled, and nothing of development', async () => {
    const files = await readdir(packageFolder(), { recursive: true })
    const needed = [
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'SECURITY.md',
      'dist/LICENSES.txt',
      'dist/admin/LICENSES.txt',
    ]
    const served = ['dist/admin/manifest.json', 'dist/docs/openapi.json', 'dist/embed/posthorn-scheduler.js']
    expect(files).toEqual(expect.arrayContaining([...needed, ...served, 'dist/demo-application']))
    expect(files.filter((name) => /\.map$|\.ts$|bench|emulator|^(src|test|scripts|node_modules)\b/.test(name))).toEqual(
      [],
    )
    expect(await readFile(join(packageFolder(), 'dist/LICENSES.txt'), 'utf8')).toMatch(/^fastify \S+ \(MIT\)$/m)
  })

  it('names no folder of the machine that built it', async () => {
    const grep = run('grep', ['-rlF', `${process.cwd()}/`, packageFolder()])
    await expect(grep).rejects.toMatchObject({ code: 1, stdout: '' })
  })

  it('runs with npx in an empty folder', async () => {
    const empty = await mkdtemp(join(folder, 'empty-'))
    const args = ['--yes', '--prefer-offline', `--package=${archive}`, 'posthorn', '--version']
    const { stdout } = await run('npx', args, { cwd: empty, timeout: NPM_MS })
    expect(stdout).toBe(`${manifest.version}\n`)
    expect(await readdir(empty)).toEqual([])
  })
})

describe.each(VERSIONS.map((version, index) => [version, index] as const))('on Node %s', (version, index) => {
  let service: ServiceProcess
  const node = () => {
    const found = nodes[index]
    if (found === undefined) throw new Error(`Node ${version} was not fetched.`)
    return found
  }
  const program = () => join(packageFolder(), manifest.bin.posthorn)

  beforeAll(async () => {
    const empty = await mkdtemp(join(folder, 'start-'))
    service = await startServiceProcess({
      node: node().program,
      program: [program(), 'start'],
      folder: empty,
      dataDir: join(empty, 'data'),
      env: { ADMIN_PASSWORD: 'a password of the test' },
    })
  })
  afterAll(() => service?.kill())

  it('is that version', () => {
    expect(`${node().version}.`).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}\\.`))
  })

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
    const empty = await mkdtemp(join(folder, 'demo-'))
    const env = { PATH: `${dirname(node().program)}:${process.env.PATH}`, TMPDIR: empty }
    const command = join(folder, 'app', 'node_modules', '.bin', 'posthorn')
    const { stdout, stderr } = await run(command, ['demo', '--once'], { cwd: empty, env, timeout: DEMO_MS })
    expect(stdout).toContain('Done: the application connected a mailbox')
    expect(stderr).toBe('')
    expect(await readdir(empty)).toEqual([])
  })
})
