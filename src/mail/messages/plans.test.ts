import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { messageRow } from '../../../test/kit/messages/message-row.ts'
import { pageRequest } from '../../platform/formats/pagination.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { addPendingBodies, bodyStore, countFailedAttempt, storeBody } from './bodies/store.ts'
import { clearLocations } from './ingest/removal.ts'
import { type ListFilter, readPage } from './read/stored-list.ts'
import { eraseMessages } from './rows/erasure.ts'
import { eraseHorizons, mailHorizons } from './rows/horizons.ts'
import { locatedMessages } from './rows/located-messages.ts'
import { addMissingTexts } from './rows/stored-json.ts'
import { messageWriter } from './rows/writer.ts'
import { allMail, messageStore } from './store.ts'
import { currentThreads, findPendingMerge, recordMerge, threadSize, updateMerge } from './threads/merges.ts'
import { eraseThreadReferences } from './threads/references.ts'
import { threadStore } from './threads/store.ts'

const TABLES =
  'accounts|labels|messages|messageLabels|messageTexts|messageCounters|messageBodies|threadLabels|threadReferences|threadMerges|mailHorizons'
/** A partial index of few rows may be read from its beginning. */
const FULL_SCAN = new RegExp(
  String.raw`SCAN "?(${TABLES})\b(?! USING (COVERING )?INDEX \w+_partial)|Seq Scan on "?(${TABLES})\b`,
)
const SORTED = /TEMP B-TREE FOR ORDER BY|^\s*(->\s*)?Sort\b/m

describeEachDatabase('the statements of messages', (open) => {
  it('pages for sync to compare are read in index order', async () => {
    const db = await open()
    for (const of of [{ accountId: 'acc_1' }, { accountId: 'acc_1', labelId: 'lbl_1' }]) {
      const plans = await readPlans(db, (tx) => messageStore(tx).newestFirst(of, 500, { receivedAt: 1, id: 'msg_1' }))
      expect(plans).toHaveLength(1)
      for (const plan of plans) expect(plan).not.toMatch(SORTED)
    }
  })

  it('never scan a table', async () => {
    const db = await open()
    const ids = idGenerator(systemClock)
    const row = messageRow(ids('msg'))
    const plans = await readPlans(db, async (tx) => {
      const store = messageStore(tx)
      const located = locatedMessages(tx)
      const writer = messageWriter(tx, { dialect: db.dialect, accountId: 'acc_1', nowMs: 2 })
      await writer.insert([row])
      await addPendingBodies(tx, 'acc_1', [row.id])
      await bodyStore(tx).pending('acc_1', 20)
      await bodyStore(tx).accountsWithPending()
      await bodyStore(tx).find(row.id)
      await countFailedAttempt(tx, row.id)
      await storeBody(tx, { messageId: row.id, version: 1 }, { text: '', html: null, headers: [] })
      await store.find('acc_1', row.id)
      await store.byIds([row.id, 'msg_2'])
      await located.byLocation('lbl_1', '7', [1, 2, 3])
      await located.idsByLocation('lbl_1', '7', [1, 2, 3])
      await located.knownMessages('lbl_1', '7', 1, 1000)
      await store.candidates('acc_1', [row])
      await located.idsWithLocation('lbl_1', 500)
      await located.idsWithoutLocation('lbl_1', 500)
      await located.isFolderEmpty('lbl_1')
      await store.missing('acc_1', 5, 500)
      await store.missingSince('acc_1', { fromMs: 1, beforeMs: 5, after: { ...row, goneAt: 2 } }, 500)
      await store.missingTimes('acc_1')
      await store.labelIds([row.id])
      await store.byProviderIds('acc_1', ['p', 'q'])
      await store.oldestReceivedAt('acc_1')
      await located.lowestListedUid('lbl_1')
      await mailHorizons(tx).all('acc_1')
      await eraseHorizons(tx, 'acc_1')
      for (const of of [{ accountId: 'acc_1' }, { accountId: 'acc_1', labelId: 'lbl_1' }]) {
        await store.newestFirst(of, 500)
        await store.newestFirst(of, 500, { receivedAt: 1, id: row.id })
      }
      await store.count('acc_1', 'lbl_1')
      await addMissingTexts(tx, db.dialect, [row.id, 'msg_2'])
      const [changed = row] = await writer.setFlags([{ row, unread: 0, starred: 1 }])
      const location = { folderId: 'lbl_2', uidValidity: '8', uid: 4, providerMessageId: 'x', unread: 1, starred: 0 }
      const [relocated = row] = await writer.relocate([{ row: changed, ...location }])
      await writer.update([{ row: relocated, rewritten: true, labelIds: ['lbl_1', 'lbl_2', allMail('acc_1')] }])
      await writer.update([{ row: relocated, rewritten: false }])
      await clearLocations(tx, 'lbl_2', 500)
      await writer.markMissing([relocated.id])
      await writer.remove([relocated.id])
      await eraseMessages(tx, 'acc_1', 500)
      await threadStore(tx).page('lbl_1', pageRequest({ limit: 50 }, '', ['integer', 'text']))
      await threadStore(tx).summaries('acc_1', ['thr_1', 'thr_2'])
      await threadSize(tx, 'thr_1')
      await recordMerge(tx, 'acc_1', { threadId: 'thr_1', intoThreadId: 'thr_2' }, true)
      await currentThreads(tx, ['thr_1', 'thr_2'])
      await findPendingMerge(tx)
      await writer.moveThread({ threadId: 'thr_1', intoThreadId: 'thr_2' }, 100)
      await updateMerge(tx, { threadId: 'thr_1', intoThreadId: 'thr_2' }, false)
      await eraseThreadReferences(tx, 'acc_1', 500)
    })
    expect(plans.length).toBeGreaterThan(20)
    for (const plan of plans) expect(plan).not.toMatch(FULL_SCAN)
  })

  it('every filtered list is read in index order', async () => {
    const db = await open()
    const filters: ListFilter[] = [
      {},
      { after: 5, before: 10 },
      { unread: true },
      { unread: false },
      { hasAttachments: true },
      { unread: true, hasAttachments: true, after: 5 },
    ]
    const scope = { provider: 'imap' as const, labelId: 'lbl_1', folder: 'INBOX' }
    for (const filter of filters) {
      const plans = await readPlans(db, async (tx) => {
        const first = pageRequest({ limit: 50 }, filter, ['integer', 'text'])
        for (const list of [
          { accountId: 'acc_1', filter },
          { accountId: 'acc_1', scope, filter },
        ]) {
          await readPage(tx, db.dialect, list, first)
          await readPage(tx, db.dialect, list, { ...first, after: [7, 'msg_1'] })
        }
      })
      expect(plans).toHaveLength(4)
      for (const plan of plans) {
        expect(plan).not.toMatch(FULL_SCAN)
        expect(plan).not.toMatch(SORTED)
      }
    }
  })
})
