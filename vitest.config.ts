import { defineConfig } from 'vitest/config'

/** `npm test` runs everything but soak; `npm run test:soak` runs test/soak. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/kit/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/servers/**/*.test.ts'],
    globalSetup: ['test/kit/postgres-server.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
