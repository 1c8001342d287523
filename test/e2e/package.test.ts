import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { describePackage, type InstalledPackage, installPackage, NPM_MS } from '../scenarios/installed-package.ts'

const run = promisify(execFile)
const INSTALLED_MB = 40

let installed: InstalledPackage
beforeAll(async () => {
  installed = await installPackage()
})
afterAll(() => installed?.remove())

describe('the installed package', () => {
  it('is built before it is packed, and is published with its provenance', () => {
    expect(manifest.scripts.prepack).toBe('node scripts/build.mjs --quiet')
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true })
    expect(manifest).not.toHaveProperty('private')
  })

  it(`takes at most ${INSTALLED_MB} MB with everything that it needs`, async () => {
    const { stdout } = await run('du', ['-sk', '--apparent-size', join(installed.folder, 'app', 'node_modules')])
    expect(Number.parseInt(stdout, 10) / 1000).toBeLessThan(INSTALLED_MB)
  })

  it('has what the service serves and the licences of what is bundled, and nothing of development', async () => {
    const files = await readdir(installed.packageFolder, { recursive: true })
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
    expect(await readFile(join(installed.packageFolder, 'dist/LICENSES.txt'), 'utf8')).toMatch(/^fastify \S+ \(MIT\)$/m)
  })

  it('names no folder of the machine that built it', async () => {
    const grep = run('grep', ['-rlF', `${process.cwd()}/`, installed.packageFolder])
    await expect(grep).rejects.toMatchObject({ code: 1, stdout: '' })
  })

  it('runs with npx in an empty folder', async () => {
    const empty = await mkdtemp(join(installed.folder, 'empty-'))
    const args = ['--yes', '--prefer-offline', `--package=${installed.archive}`, 'posthorn', '--version']
    const { stdout } = await run('npx', args, { cwd: empty, timeout: NPM_MS })
    expect(stdout).toBe(`${manifest.version}\n`)
    expect(await readdir(empty)).toEqual([])
  })
})

// On other versions: `npm run test:soak -- test/soak/package.soak.ts`.
describePackage(
  'on the Node of the tests',
  () => installed,
  () => process.execPath,
)
