import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Whole services take longest, then what starts servers or processes: begun first, none is left over when everything else is done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranks = new Map(files.map((file) => [file, rankOf(file.moduleId)]))
    const rank = (file: TestSpecification) => ranks.get(file) ?? 0
    return (await super.sort(files)).sort((left, right) => rank(left) - rank(right))
  }
}

function rankOf(file: string): number {
  if (file.includes('/test/e2e/')) return 1
  return STARTS_PROCESSES.test(readFileSync(file, 'utf8')) ? 2 : 3
}

const STARTS_PROCESSES = /\b(start[A-Z]\w+|run[A-Z]\w+|describe(OneDatabase|Postgres|Redis))\(/

/** Suites that `npm test` runs on one engine; the long tests run them on both. */
function onOneEngine(): string[] {
  const files = ['src', 'test/e2e'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  return files.filter(
    (file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('describeOneDatabase('),
  )
}

/** `npm test` runs everything but soak; `npm run test:soak` (mode soak) runs test/soak, one file after the other. */
export default defineConfig(({ mode }) => ({
  // As `paths` of tsconfig.json: the sources, which need no build.
  resolve: { alias: { '@posthorn/sdk': new URL('sdk/src/index.ts', import.meta.url).pathname } },
  test: {
    include:
      mode === 'soak'
        ? ['test/soak/**/*.soak.ts', ...onOneEngine()]
        : [
            'scripts/**/*.test.mjs',
            'sdk/test/**/*.test.ts',
            'src/**/*.test.ts',
            'bench/**/*.test.ts',
            'test/kit/**/*.test.ts',
            'test/e2e/**/*.test.ts',
            'test/mail/**/*.test.ts',
            'test/servers/**/*.test.ts',
          ],
    provide: { isSoak: mode === 'soak' },
    globalSetup: 'test/kit/global-setup.ts',
    // Deadlines end what hangs; they judge no speed. A machine with other work to do takes ten times as long. Tests set a
    // longer one where they need it, and never a shorter one.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    // Tests allocate much that lives shortly: a larger young generation saves a tenth of their CPU time. All cores are busy with other
    // files: more threads that collect garbage would only wait for each other.
    execArgv: ['--max-semi-space-size=32', '--single-threaded-gc'],
    // The files of a worker share its modules, because loading them anew for each file takes a second of a core.
    isolate: false,
    // More than two cores can run, because most files wait for servers, processes and timers. Each worker loads all modules.
    maxWorkers: mode === 'soak' ? 1 : 5,
    sequence: { sequencer: LongestFirst },
  },
}))
