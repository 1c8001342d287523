import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import service from '../../package.json' with { type: 'json' }
import sdk from '../package.json' with { type: 'json' }
import { describeReadme, installSdk } from './installed-sdk.ts'

const run = promisify(execFile)
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

let project: string
beforeAll(async () => {
  project = await installSdk()
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

// On other versions: `npm run test:soak -- test/soak/sdk.soak.ts`.
describeReadme(
  () => project,
  [process.versions.node],
  async () => ({ program: process.execPath, version: process.version, close: async () => {} }),
)
