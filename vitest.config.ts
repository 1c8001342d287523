import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Whole services take longest: begun first, none of them is left over when everything else is done. */
class EndToEndFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isEndToEnd = ({ moduleId }: TestSpecification) => Number(moduleId.includes('/test/e2e/'))
    return (await super.sort(files)).sort((left, right) => isEndToEnd(right) - isEndToEnd(left))
  }
}

/** `npm test` runs everything but soak; `npm run test:soak` (mode soak) runs test/soak, one file after the other. */
export default defineConfig(({ mode }) => ({
  test: {
    include:
      mode === 'soak'
        ? ['test/soak/**/*.soak.ts']
        : [
            'scripts/**/*.test.mjs',
            'src/**/*.test.ts',
            'test/kit/**/*.test.ts',
            'test/e2e/**/*.test.ts',
            'test/servers/**/*.test.ts',
          ],
    globalSetup: ['test/kit/random-seed.ts', 'test/kit/postgres-server.ts', 'test/kit/worker-bundles.ts'],
    // Deadlines end what hangs; they judge no speed. A machine with other work to do takes ten times as long.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    pool: 'forks',
    maxWorkers: mode === 'soak' ? 1 : 2,
    sequence: { sequencer: EndToEndFirst },
  },
}))
