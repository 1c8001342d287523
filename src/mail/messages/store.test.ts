import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { rejectSubject } from '../../../test/kit/messages/reject-subject.ts'
import type { Db } from '../../platform/db/index.ts'
import { MAX_LIMIT, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { RemoteMessage } from '../../providers/contract/index.ts'
import { type ListFilter, listStored } from './read/stored-list.ts'
import { eraseMessages } from './rows/erasure.ts'
import { locatedMessages } from './rows/located-messages.ts'
import { incomingRow, newMessageRow } from './rows/row.ts'
import { messageWriter } from './rows/writer.ts'
import { type MessageRow, messageStore } from './store.ts'

const ids = idGenerator(systemClock)
const accountId = 'acc_1'
const INBOX = 'lbl_inbox'
const WORK = 'lbl_work'

function message(uid: number, changes: Partial<RemoteMessage> = {}): RemoteMessage {
  return {
    location: { uidValidity: '7', uid },
    providerMessageId: `1.7.${uid}`,
    isNew: true,
    emailId: null,
    threadId: null,
    messageId: `<${uid}@example.test>`,
    inReplyTo: null,
    references: [],
    subject: `mail ${uid}`,
    from: { name: 'Ann', email: 'ann@example.test' },
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    receivedAt: 1_700_000_000_000 + Math.floor(uid / 2) * 1000,
    sizeBytes: 100,
    unread: true,
    starred: false,
    snippet: '',
    text: '',
    attachments: [],
    headerHash: `header ${uid}`,
    error: null,
    ...changes,
  }
}

function row(uid: number, changes: Partial<RemoteMessage> = {}, labelId = INBOX): MessageRow {
  return newMessageRow(incomingRow(message(uid, changes), { accountId, labelId, nowMs: 1 }), {
    accountId,
    labelId,
    id: ids('msg'),
    nowMs: 1,
  })
}

function write<T>(db: Db, work: (writer: ReturnType<typeof messageWriter>) => Promise<T>): Promise<T> {
  return db.transaction((tx) => work(messageWriter(tx, { dialect: db.dialect, accountId, nowMs: 5 })))
}

const counts = async (db: Db) => ({
  inbox: await messageStore(db.read).count(accountId, INBOX),
  work: await messageStore(db.read).count(accountId, WORK),
})

async function inboxPage(db: Db, filter: ListFilter, query: PageQuery) {
  const list = { accountId, filter, scope: { provider: 'imap' as const, labelId: INBOX, folder: 'INBOX' } }
  const { items, pagination } = await listStored(db, list, pageRequest(query, filter, ['integer', 'text']), filter)
  return { ids: items.map(({ source, start, end }) => JSON.parse(source.toString('utf8', start, end)).id), pagination }
}

describeEachDatabase('the message store', (open) => {
  it('updates labels and counters with every kind of change', async () => {
    const db = await open()
    const written = Array.from({ length: 450 }, (_, n) => row(n + 1))
    const rows = await write(db, (writer) => writer.insert(written))
    expect((await counts(db)).inbox).toEqual({ total: 450, unread: 450 })

    await write(db, (writer) => writer.setFlags(rows.slice(0, 300).map((row) => ({ row, unread: 0, starred: 1 }))))
    expect((await counts(db)).inbox).toEqual({ total: 450, unread: 150 })

    const read = await messageStore(db.read).byIds(rows.slice(0, 10).map((row) => row.id))
    await write(db, (writer) => writer.markMissing(read.map((row) => row.id)))
    expect((await counts(db)).inbox).toEqual({ total: 440, unread: 150 })
    expect(await messageStore(db.read).find(accountId, read[0]?.id ?? '')).toBeUndefined()

    const missing = await messageStore(db.read).missing(accountId, 6, 100)
    expect(missing).toHaveLength(10)
    const relocated = await write(db, (writer) =>
      writer.relocate(
        missing.map((row, n) => ({
          row,
          folderId: WORK,
          uidValidity: '9',
          uid: n + 1,
          providerMessageId: `9.${n}`,
          unread: 1,
          starred: 1,
        })),
      ),
    )
    expect(await counts(db)).toEqual({ inbox: { total: 440, unread: 150 }, work: { total: 10, unread: 10 } })
    const found = await locatedMessages(db.read).byLocation(WORK, '9', [1, 2, 3])
    expect(found).toHaveLength(3)
    expect(relocated).toEqual(expect.arrayContaining(found))

    await write(db, (writer) => writer.remove(relocated.map((row) => row.id)))
    expect((await counts(db)).work).toEqual({ total: 0, unread: 0 })
  })

  it('returns only the rows whose flags changed', async () => {
    const db = await open()
    const [first, second] = await write(db, (writer) => writer.insert([row(1), row(2, { unread: false })]))
    if (first === undefined || second === undefined) throw new Error('not stored')
    const changed = await write(db, (writer) =>
      writer.setFlags([
        { row: first, unread: 1, starred: 0 },
        { row: second, unread: 1, starred: 0 },
      ]),
    )
    expect(changed.map(({ id, version, unread }) => ({ id, version, unread }))).toEqual([
      { id: second.id, version: 2, unread: 1 },
    ])
  })

  it('pages through a label by cursor without duplicates or gaps while messages arrive', async () => {
    const db = await open()
    const rows = Array.from({ length: 25 }, (_, n) => row(n + 1))
    await write(db, (writer) => writer.insert(rows))
    const seen: string[] = []
    let cursor: string | undefined
    for (let uid = 100; ; uid += 1) {
      const page = await inboxPage(db, {}, { limit: 4, cursor })
      seen.push(...page.ids)
      cursor = page.pagination.nextCursor
      expect(page.pagination.hasNext).toBe(cursor !== undefined)
      if (cursor === undefined) break
      await write(db, (writer) => writer.insert([row(uid)]))
    }
    const expected = rows.toSorted((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id)
    expect(seen).toEqual(expected)
  })

  it('filters by time, unread and attachments, with exact totals', async () => {
    const db = await open()
    const file = { id: '2', filename: 'a.pdf', contentType: 'a/b', sizeBytes: 1, inline: false, contentId: null }
    await write(db, (writer) =>
      writer.insert(
        Array.from({ length: 20 }, (_, n) =>
          row(n + 1, { unread: n % 4 === 0, attachments: n % 5 === 0 ? [file] : [] }),
        ),
      ),
    )
    const total = async (filter: object) => {
      const page = await inboxPage(db, filter, { limit: MAX_LIMIT })
      expect(page.ids).toHaveLength(page.pagination.total)
      return page.pagination.total
    }
    expect(await total({ unread: true })).toBe(5)
    expect(await total({ unread: false })).toBe(15)
    expect(await total({ hasAttachments: true })).toBe(4)
    expect(await total({ hasAttachments: true, unread: true })).toBe(1)
    expect(await total({ after: 1_700_000_005_000 })).toBe(11)
    expect(await total({ before: 1_700_000_005_000 })).toBe(9)
  })

  it('stores a refused row stripped, and the other rows complete', async () => {
    const db = await open()
    await rejectSubject(db, 'mail 13')
    const stored = await write(db, (writer) => writer.insert(Array.from({ length: 40 }, (_, n) => row(n + 1))))
    expect(stored).toHaveLength(40)
    const refused = stored.filter((row) => row.error !== null)
    expect(refused).toHaveLength(1)
    expect(refused[0]).toMatchObject({ uid: 13, subject: '', error: expect.stringContaining('refused') })
    expect((await counts(db)).inbox.total).toBe(40)
  })

  it('erases one account in small batches, and no other account', async () => {
    const db = await open()
    await write(db, (writer) => writer.insert(Array.from({ length: 30 }, (_, n) => row(n + 1))))
    const other = { ...row(1), id: ids('msg'), accountId: 'acc_2', folderId: 'lbl_2' }
    await db.transaction((tx) =>
      messageWriter(tx, { dialect: db.dialect, accountId: 'acc_2', nowMs: 1 }).insert([other]),
    )
    let batches = 0
    while ((await db.transaction((tx) => eraseMessages(tx, accountId, 10))) > 0) batches += 1
    expect(batches).toBe(4)
    expect(await messageStore(db.read).find('acc_2', other.id)).toBeDefined()
    expect(await messageStore(db.read).count('acc_2', 'lbl_2')).toEqual({ total: 1, unread: 1 })
    expect((await counts(db)).inbox).toEqual({ total: 0, unread: 0 })
  })
})
