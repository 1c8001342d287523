import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { operations } from '../kit/api/api-document.ts'

/** The settings of a new project, with the types of Node and without those of browsers. */
const SETTINGS = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
  },
}

/** `api-examples.test.ts` sends them. */
it('the TypeScript samples have no type errors in strict mode', async () => {
  const root = resolve(import.meta.dirname, '../..')
  // Inside, so that the compiler finds the types of Node.
  await mkdir(join(root, 'node_modules/.samples'), { recursive: true })
  const folder = await mkdtemp(join(root, 'node_modules/.samples/'))
  try {
    const samples = [...operations.values()].flatMap(({ operation }) =>
      operation['x-codeSamples'].filter(({ lang }) => lang === 'TypeScript'),
    )
    expect(samples.length).toBeGreaterThan(operations.size)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...SETTINGS, include: ['*.ts'] }))
    for (const [index, { source }] of samples.entries()) {
      await writeFile(join(folder, `sample-${index}.ts`), `${source}\nexport {}\n`)
    }
    const compiler = join(root, 'node_modules/.bin/tsc')
    const { stdout } = await promisify(execFile)(compiler, ['-p', folder]).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
