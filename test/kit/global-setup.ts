import type { TestProject } from 'vitest/node'
import postgresServer from './database/postgres-server.ts'
import sqliteTemplate from './database/sqlite-template.ts'
import randomSeed from './random/random-seed.ts'
import bundledWorkers from './workers/bundles.ts'

/** Vitest's global setup: prepares what all test files share, each part while the others wait for their processes. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  randomSeed(project)
  const removals = await Promise.all([postgresServer(project), sqliteTemplate(project), bundledWorkers(project)])
  return async () => {
    await Promise.all(removals.map((remove) => remove()))
  }
}
