import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { bundle } from '../../../scripts/bundle.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the bundled workers of this run. */
    workers: string
  }
}

const WORKERS = 'test/kit/workers'

/**
 * Bundles the processes that tests kill. Started from TypeScript each would take a second or more of a core,
 * and a kill test starts dozens.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Inside node_modules, so that packages resolve and a build of dist/ leaves it alone. As deep as src/platform/threads, from where
  // worker-file.ts finds dist/.
  const folder = join(project.config.root, 'node_modules', '.test-workers', String(process.pid))
  await bundle({
    absWorkingDir: project.config.root,
    entryPoints: readdirSync(join(project.config.root, WORKERS)).flatMap((name) =>
      name.endsWith('-worker.ts') ? join(WORKERS, name) : [],
    ),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    // An uncaught error shows its line.
    lineLimit: 500,
  })
  project.provide('workers', folder)
  return () => rm(folder, { recursive: true, force: true })
}
