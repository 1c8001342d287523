import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databases, describePostgres } from '../../../test/kit/database/database.ts'
import { explain } from '../../../test/kit/database/explain.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import type { Tx } from '../../platform/db/index.ts'
import type { IndexQuery } from './contract.ts'
import { postgresIndex } from './postgres.ts'
import { finder } from './sqlite/find.ts'
import { openIndexFile } from './sqlite/index-file.ts'

const FIRST: IndexQuery = {
  accountId: 'acc_1',
  labelIds: ['lbl_1'],
  filter: {},
  after: undefined,
  offset: 0,
  limit: 50,
  terms: [
    { term: 'xxxxxaone', isPrefix: false },
    { term: 'xxxxxatwo', isPrefix: true },
  ],
}
const EVERYWHERE = { ...FIRST, labelIds: ['lbl_1', 'lbl_2', 'lbl_3'] }
const AFTER: IndexQuery['after'] = [7000, 'msg_1']
const QUERIES: IndexQuery[] = [FIRST, EVERYWHERE].flatMap((query) => [
  query,
  { ...query, after: AFTER },
  { ...query, filter: { unread: true, before: 9000 } },
  { ...query, offset: 5000 },
])

describe('a search in the index file', () => {
  const open = databases('sqlite')

  /** The statements that a search prepares, each with its plan. */
  async function prepared(query: IndexQuery, smallList: number): Promise<string[]> {
    const { dataDir } = await open.place()
    const paths = { store: join(dataDir, 'posthorn.db'), file: join(dataDir, 'search.db') }
    openIndexFile({ ...paths, smallList }).close()
    const database = new Database(paths.file)
    onTestFinished(() => void database.close())
    database.prepare('attach database ? as "store"').run([paths.store])
    const plans: string[] = []
    const recorded = new Proxy(database, {
      get(target, name) {
        if (name !== 'prepare') return Reflect.get(target, name).bind(target)
        return (text: string) => {
          const steps = target.prepare(`explain query plan ${text}`).all([]) as { detail: string }[]
          plans.push([text, ...steps.map(({ detail }) => detail)].join('\n'))
          return target.prepare(text)
        }
      },
    })
    finder(recorded, smallList)(query)
    return plans.filter((plan) => plan.includes('messageLabels'))
  }

  it('reads matches newest first, with one lookup by key in each other table', async () => {
    for (const query of QUERIES) {
      // Fewer messages than none: every list is a large one.
      const [count = '', ...plans] = await prepared(query, -1)
      expect(count).toMatch(/SEARCH listed USING (COVERING INDEX|PRIMARY KEY)/)
      expect(plans.length).toBeGreaterThan(0)
      for (const plan of plans) {
        expect(plan).toMatch(/SCAN words VIRTUAL TABLE INDEX/)
        expect(plan).toMatch(/SEARCH entries USING INTEGER PRIMARY KEY/)
        expect(plan).toMatch(
          query.labelIds.length === 1
            ? /SEARCH listed USING .*labelId=\? AND receivedAt=\?/
            : /SEARCH listed USING .*\(messageId=\?\)/,
        )
        expect(plan).not.toMatch(/SCAN (listed|entries)/)
        if (plan.includes('order by "words"."rowid" desc')) expect(plan).not.toMatch(/TEMP B-TREE/)
      }
    }
  })

  it('reads a small list, and the matches of the words once', async () => {
    for (const query of QUERIES) {
      const plans = await prepared(query, 2000)
      expect(plans).toHaveLength(2)
      expect(plans[1]).toMatch(/SEARCH listed USING/)
      expect(plans[1]).toMatch(/SEARCH entries USING .*\(messageId=\?\)/)
      expect(plans[1]).toMatch(/LIST SUBQUERY/)
      expect(plans[1]).not.toMatch(/SCAN (listed|entries)/)
    }
  })
})

describePostgres('a search in PostgreSQL', (open) => {
  it('reads the index of the words and joins by key, or reads the list in its order', async () => {
    const db = await open()
    for (const query of QUERIES) {
      const find = (limits: object) => async (tx: Tx) => {
        await postgresIndex({ ...db, read: tx }, limits).find(query)
      }
      const plan = await explain(db, find({ smallList: -1 }))
      expect(plan).toMatch(/Bitmap Index Scan on "messageTerms_terms"/)
      expect(plan).toMatch(/Nested Loop .*\n *-> {2}CTE Scan on matches/)
      expect(plan).not.toMatch(/Seq Scan/)
      const walk = (await readPlans(db, find({ smallList: -1, sortLimit: -1 }))).at(-1)
      expect(walk).toMatch(
        query.labelIds.length === 1
          ? /Index.* Scan Backward using "messageLabels_\w+"/
          : /Index Scan Backward using "messages_accountId_receivedAt_id"/,
      )
      expect(walk).toMatch(/Index Scan using "messageTerms_pkey"/)
      expect(walk).not.toMatch(/Seq Scan|Sort/)
      for (const small of await readPlans(db, find({ smallList: 2000 }))) {
        expect(small).toMatch(/Index.* Scan.* using "messageLabels_\w+"/)
        expect(small).not.toMatch(/Seq Scan/)
      }
    }
  })
})
