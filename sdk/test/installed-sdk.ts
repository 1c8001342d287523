import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { dovecotAvailable } from '../../test/servers/dovecot.ts'
import type { OtherNode } from '../../test/servers/other-node.ts'
import { type Stage, startStage } from './stage.ts'

const run = promisify(execFile)
const NPM_MS = 300_000

/** The code of the README as one module, with its imports. */
async function readmeCode(): Promise<string> {
  const text = await readFile('sdk/README.md', 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n')
}

/** Makes the project of a user, who has installed what `npm publish` would upload. Returns its folder. */
export async function installSdk(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'posthorn-sdk-package-'))
  const { stdout } = await run('npm', ['pack', '--silent', '--workspace', 'sdk', '--pack-destination', project], {
    timeout: NPM_MS,
  })
  await writeFile(join(project, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
  const archive = stdout.trim().split('\n').at(-1) ?? ''
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: project, timeout: NPM_MS })
  await copyFile('sdk/test/types/usage.ts', join(project, 'usage.ts'))
  await writeFile(join(project, 'readme.ts'), await readmeCode())
  return project
}

/** Runs the code of the README in the project, on each of these versions of Node. */
export function describeReadme(
  project: () => string,
  versions: readonly string[],
  findNode: (version: string) => Promise<OtherNode>,
): void {
  describe.skipIf(!dovecotAvailable())('the code of the README', () => {
    let stage: Stage
    let nodes: OtherNode[] = []
    beforeAll(async () => {
      nodes = await Promise.all(versions.map((version) => findNode(version)))
      stage = await startStage(['first', 'second'])
      const code = (await readmeCode()).replace('http://localhost:8080', stage.service.url)
      const { code: script } = await transform(code, { loader: 'ts' })
      await writeFile(join(project(), 'readme.mjs'), script)
      await writeFile(join(project(), 'contract.pdf'), '%PDF-1.4')
    })
    afterAll(async () => {
      await stage?.close()
      await Promise.all(nodes.map((node) => node.close()))
    })

    it.each(versions.map((version, index) => [version, index] as const))('runs on Node %s', async (version, index) => {
      const node = nodes[index]
      expect(`${node?.version}.`).toMatch(new RegExp(`^v${version.replaceAll('.', '\\.')}\\.`))
      const env = { SERVICE_API_KEY: stage.service.key }
      const { stdout, stderr } = await run(node?.program ?? '', ['readme.mjs'], { cwd: project(), env })
      expect(stderr).toBe('')
      const printed = ['second', 'first', 'no such message', 'invoice.pdf 8']
      expect(stdout.split('\n')).toEqual(expect.arrayContaining(printed))
    })

    it('has sent one message for one idempotency key, and a file each time', async () => {
      await eventually(() => expect(stage.smtp.messages).toHaveLength(1 + versions.length))
    })
  })
}
