import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { explain } from '../../../test/kit/database/explain.ts'
import type { Handle } from '../db/index.ts'
import { jobStore } from './job-store.ts'

type Store = ReturnType<typeof jobStore>

const STATEMENTS: Record<string, (store: Store) => Promise<unknown>> = {
  add: (store) => store.add([{ queue: 'q', key: 'k', delayMs: 0 }]),
  claim: (store) => store.claim('q', 10, 'lease', 1000, 'ins'),
  finish: (store) => store.finish('q', [{ key: 'k', lease: 'x', outcome: 'completed', nextMs: null }]),
  renew: (store) => store.renew('q', [{ key: 'k', lease: 'x' }], 1000),
  releaseExpired: (store) => store.releaseExpired(),
  hasExpired: (store) => store.hasExpired(),
  dueInMs: (store) => store.dueInMs('q'),
}

/** Every row of the table, or every row of the queue by its key. */
const SCANS_ON_SQLITE = /SCAN jobs|SEARCH jobs USING .*autoindex_jobs_1 \(queue=\?\)$/m
const SCANS_ON_POSTGRES = /Seq Scan on jobs|jobs_key.*\n.*Index Cond: \(queue = '[a-z]+'::text\)$/m

describeEachDatabase('the statements of the queue', (open, engine) => {
  it.each(Object.entries(STATEMENTS))('%s finds its rows by an index and does not scan a queue', async (_name, run) => {
    const db = await open()
    const plan = await explain(db, (handle: Handle) => run(jobStore(handle, db.dialect)))
    expect(plan).not.toBe('')
    expect(plan).not.toMatch(engine === 'sqlite' ? SCANS_ON_SQLITE : SCANS_ON_POSTGRES)
  })
})
