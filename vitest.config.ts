import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { groupBy } from './src/platform/group-by.ts'

/**
 * Files that wait for services and processes run beside files that compute: each group is spread over the run, so that at no time all
 * workers wait. Whole services take longest, and are begun before the last fifth: none is left over when everything else is done.
 */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groups = groupBy(await super.sort(files), (file) => groupOf(file.moduleId))
    const placed = [...groups].flatMap(([group, members]) =>
      members.map((file, index) => ({ file, at: (END[group] * index) / members.length })),
    )
    return placed.sort((left, right) => left.at - right.at).map(({ file }) => file)
  }
}

/** Where the last file of a group is begun, as a part of the run. */
const END = { service: 0.8, process: 1, plain: 1 }

function groupOf(file: string): keyof typeof END {
  if (file.includes('/test/e2e/')) return 'service'
  return STARTS_PROCESSES.test(readFileSync(file, 'utf8')) ? 'process' : 'plain'
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
    maxWorkers: mode === 'soak' ? 1 : 4,
    sequence: { sequencer: Mixed },
  },
}))
