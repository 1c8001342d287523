import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build, transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import service from '../../package.json' with { type: 'json' }
import { eventually } from '../../test/kit/eventually.ts'
import { dovecotAvailable } from '../../test/servers/dovecot.ts'
import { fetchNode, type OtherNode } from '../../test/servers/other-node.ts'
import sdk from '../package.json' with { type: 'json' }
import { type Stage, startStage } from './stage.ts'

const run = promisify(execFile)
const NPM_MS = 300_000
/** The oldest that package.json allows, and the newest of the later ones. */
const VERSIONS = ['20.19.0', '22', '24']
const SETTINGS = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  types: ['node'],
  typeRoots: [resolve('node_modules/@types')],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
}

/** The code of the README as one module, with its imports. */
async function readmeCode(): Promise<string> {
  const text = await readFile('sdk/README.md', 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n')
}

/** The project of a user, who has installed what `npm publish` would upload. */
let project: string
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'posthorn-sdk-package-'))
  const { stdout } = await run('npm', ['pack', '--silent', '--workspace', 'sdk', '--pack-destination', project], {
    timeout: NPM_MS,
  })
  await writeFile(join(project, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
  const archive = stdout.trim().split('\n').at(-1) ?? ''
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: project, timeout: NPM_MS })
  await copyFile('sdk/test/types/usage.ts', join(project, 'usage.ts'))
  await writeFile(join(project, 'readme.ts'), await readmeCode())
})
afterAll(() => rm(project, { recursive: true, force: true }))

describe('the installed package', () => {
  it('has the version of the service', () => {
    expect(sdk.version).toBe(service.version)
  })

  it('has no dependencies, and contains what it exports, its licence and its README', async () => {
    expect(await readdir(join(project, 'node_modules'))).toEqual(['.package-lock.json', '@posthorn'])
    const folder = join(project, 'node_modules/@posthorn/sdk')
    expect((await readdir(folder)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
    const files = await readdir(join(folder, 'dist'), { recursive: true })
    expect(files.filter((file) => file.endsWith('.js')).length).toBeGreaterThan(10)
    for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name))) {
      expect(await readFile(join(folder, 'dist', file), 'utf8')).not.toMatch(/from '(node:|[^.])/)
    }
  })

  it.each(['node_modules', 'sdk/node_modules'])(
    'has types that the compiler of %s accepts in strict mode',
    async (at) => {
      const config = join(project, 'tsconfig.json')
      await writeFile(config, JSON.stringify({ compilerOptions: SETTINGS, include: ['*.ts'] }))
      const compiled = run(resolve(at, '.bin/tsc'), ['-p', config]).catch((error: { stdout: string }) => error)
      expect((await compiled).stdout).toBe('')
    },
  )

  it('is small, and an application that only verifies webhooks bundles nothing else', async () => {
    const [all, verification] = [
      await bundledBytes(`import * as sdk from '@posthorn/sdk'; console.log(sdk)`),
      await bundledBytes(`import { webhooks } from '@posthorn/sdk'; console.log(webhooks.verify)`),
    ]
    expect(all).toBeLessThan(9000)
    expect(verification).toBeLessThan(1500)
  })
})

async function bundledBytes(contents: string): Promise<number> {
  const stdin = { contents, resolveDir: project }
  const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: 'esm', write: false })
  return gzipSync(outputFiles[0]?.contents ?? '').length
}

describe.skipIf(!dovecotAvailable())('the code of the README', () => {
  let stage: Stage
  let nodes: OtherNode[] = []
  beforeAll(async () => {
    nodes = await Promise.all(VERSIONS.map((version) => fetchNode(version)))
    stage = await startStage(['first', 'second'])
    const code = (await readmeCode()).replace('http://localhost:8080', stage.service.url)
    const { code: script } = await transform(code, { loader: 'ts' })
    await writeFile(join(project, 'readme.mjs'), script)
    await writeFile(join(project, 'contract.pdf'), '%PDF-1.4')
  })
  afterAll(async () => {
    await stage?.close()
    await Promise.all(nodes.map((node) => node.close()))
  })

  it.each(VERSIONS.map((version, index) => [version, index] as const))('runs on Node %s', async (version, index) => {
    const node = nodes[index]
    expect(`${node?.version}.`).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}\\.`))
    const env = { SERVICE_API_KEY: stage.service.key }
    const { stdout, stderr } = await run(node?.program ?? '', ['readme.mjs'], { cwd: project, env })
    expect(stderr).toBe('')
    const printed = ['second', 'first', 'no such message', 'invoice.pdf 8']
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(printed))
  })

  it('has sent one message for one idempotency key, and a file each time', async () => {
    await eventually(() => expect(stage.smtp.messages).toHaveLength(1 + VERSIONS.length))
  })
})
