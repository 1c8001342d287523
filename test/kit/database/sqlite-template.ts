import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrations } from '../../../src/migrations/index.ts'
import { migrateUp } from '../../../src/platform/db/index.ts'
import { openDatabase } from './open-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated SQLite file that `open()` copies. */
    sqliteTemplate: string
  }
}

/** Provides one migrated SQLite file for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-sqlite-'))
  const db = openDatabase({ dataDir: folder })
  await migrateUp(db, migrations, () => {})
  await db.close()
  project.provide('sqliteTemplate', join(folder, 'posthorn.db'))
  return () => rm(folder, { recursive: true, force: true })
}
