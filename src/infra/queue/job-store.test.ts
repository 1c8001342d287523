import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { explain } from '../../../test/kit/explain.ts'
import type { Handle } from '../db/index.ts'
import { jobStore } from './job-store.ts'

type Store = ReturnType<typeof jobStore>

const STATEMENTS: Record<string, (store: Store) => Promise<unknown>> = {
  add: (store) => store.add([{ lane: 'l', subject: 's', delayMs: 0 }]),
  claim: (store) => store.claim('l', 10, 'lease', 1000, 'ins'),
  finish: (store) => store.finish('l', [{ subject: 's', lease: 'x', outcome: 'completed', nextMs: null, error: null }]),
  renew: (store) => store.renew('l', [{ subject: 's', lease: 'x' }], 1000),
  expire: (store) => store.expire(),
  hasExpired: (store) => store.hasExpired(),
  dueInMs: (store) => store.dueInMs('l'),
}

/** Every row of the table, or every row of the lane by its key. */
const WALKS_ON_SQLITE = /SCAN jobs|SEARCH jobs USING .*autoindex_jobs_1 \(lane=\?\)$/m
const WALKS_ON_POSTGRES = /Seq Scan on jobs|jobs_key.*\n.*Index Cond: \(lane = '[a-z]+'::text\)$/m

describeEachDatabase('the statements of the queue', (open, engine) => {
  it.each(Object.entries(STATEMENTS))('%s looks up the rows it means and walks no lane', async (_name, run) => {
    const db = await open()
    const plan = await explain(db, (handle: Handle) => run(jobStore(handle, db.dialect)))
    expect(plan).not.toBe('')
    expect(plan).not.toMatch(engine === 'sqlite' ? WALKS_ON_SQLITE : WALKS_ON_POSTGRES)
  })
})
