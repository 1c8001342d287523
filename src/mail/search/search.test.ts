import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { buildContent, searching } from '../../../test/kit/messages/searching.ts'
import { random } from '../../../test/kit/random/random.ts'
import { EVENTS_TOPIC } from '../../events/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { labelStore } from '../labels/index.ts'
import { messageRoutes, messageStore } from '../messages/index.ts'
import { indexer } from './indexer.ts'
import { postgresIndex } from './postgres.ts'
import { sqliteIndex } from './sqlite/index.ts'

const MAX_PAGES = 100
/** The ways in which the engines search: small lists as a whole, and many matches on PostgreSQL by reading the list. */
const LISTS = [
  ['small list', {}],
  ['large list', { smallList: -1 }],
  ['many matches', { smallList: -1, sortLimit: -1 }],
] as const
const PAGED = LISTS.flatMap((list, index) => [[index === 0 ? 'gmail' : 'imap', ...list] as const])

describeEachDatabase('a search in stored messages', (open, engine) => {
  it.each(PAGED)(
    'pages by cursor through messages of the same second, newest first (%s, %s)',
    async (provider, _, search) => {
      const { mailbox } = searching(await open(), { features: { search } })
      const { add, find } = await mailbox(provider)
      const choose = random()
      const rows = await add(
        ...Array.from({ length: 60 }, (_, index) => ({
          subject: index % 3 === 0 ? 'other' : 'word',
          receivedAt: 50_000 + Math.floor(choose() * 4) * 400,
          folder: index % 2 === 0 ? 'INBOX' : 'Work',
        })),
      )
      const expected = rows
        .filter(({ subject }) => subject === 'word')
        .sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1))
        .map(({ id }) => id)
      for (const limit of [1, 7, 40]) {
        const found: string[] = []
        let cursor: string | undefined
        for (let page = 1; page < MAX_PAGES; page += 1) {
          const { ids, pagination } = await find({ q: 'wor', limit, ...(cursor !== undefined && { cursor }) })
          expect(pagination).toMatchObject({ total: 40, page })
          expect(await find({ q: 'wor', limit, page })).toMatchObject({ ids })
          found.push(...ids)
          cursor = pagination.nextCursor
          expect(pagination.hasNext).toBe(cursor !== undefined)
          if (cursor === undefined) break
        }
        expect(found).toEqual(expected)
      }
      const { pagination } = await find({ q: 'wor', limit: 1 })
      await expect(find({ q: 'other', cursor: pagination.nextCursor })).rejects.toMatchObject({
        code: 'invalid_cursor',
      })
    },
  )

  it.each(LISTS)('finds what the filters allow, by the current labels and flags: %s', async (_, search) => {
    const db = await open()
    const { mailbox } = searching(db, { features: { search } })
    const { add, find, labels, change } = await mailbox()
    const [plain, unread, attached, other] = await add(
      { subject: 'a word', receivedAt: 1500 },
      { subject: 'a word', receivedAt: 2500, unread: true },
      { subject: 'a word', receivedAt: 3500, attachments: ['x.pdf'] },
      { subject: 'a word', receivedAt: 4500, folder: 'Work' },
    )
    const idsOf = (...rows: (typeof plain)[]) => rows.map((row) => row?.id)
    for (const labelId of [undefined, labels.INBOX]) {
      const everywhere = labelId === undefined ? [other] : []
      const search = async (query: object) => (await find({ q: 'word', labelId, ...query })).ids
      expect(await search({})).toEqual(idsOf(...everywhere, attached, unread, plain))
      expect(await search({ unread: true })).toEqual(idsOf(unread))
      expect(await search({ unread: false })).toEqual(idsOf(...everywhere, attached, plain))
      expect(await search({ hasAttachments: true })).toEqual(idsOf(attached))
      expect(await search({ after: 2500 })).toEqual(idsOf(...everywhere, attached, unread))
      expect(await search({ before: 3500 })).toEqual(idsOf(unread, plain))
      expect(await search({ after: 1501, before: 2501 })).toEqual(idsOf(unread))
    }
    expect((await find({ q: 'word', labelId: labels.Work })).ids).toEqual(idsOf(other))
    expect((await find({ q: '-' })).pagination).toMatchObject({ total: 0, hasNext: false })
    await db.transaction((tx) => labelStore(tx).update(labels.Work ?? '', { role: 'trash' }))
    expect((await find({ q: 'word' })).ids).toEqual(idsOf(attached, unread, plain))

    if (unread === undefined || other === undefined) throw new Error('messages are missing')
    await change((writer) => writer.setFlags([{ row: unread, unread: 0, starred: 0 }]))
    await change((writer) =>
      writer.relocate([
        {
          row: other,
          folderId: labels.INBOX ?? '',
          uidValidity: '7',
          uid: 99,
          providerMessageId: 'p',
          unread: 1,
          starred: 0,
        },
      ]),
    )
    expect((await find({ q: 'word', unread: true })).ids).toEqual(idsOf(other))
    expect((await find({ q: 'word', labelId: labels.Work })).ids).toEqual([])
  })

  it.each(LISTS.slice(1))('pages through thousands of matches, many of one second: %s', async (_, search) => {
    const { mailbox } = searching(await open(), { features: { search } })
    const { add, find } = await mailbox()
    const rows = await add(
      ...Array.from({ length: 1400 }, (_, index) => ({
        subject: 'word',
        receivedAt: 60_000 + (index < 1200 ? index % 7 : index * 1000),
      })),
    )
    const expected = rows.sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id)
    const found: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { ids, pagination } = await find({ q: 'word', limit: 200, ...(cursor !== undefined && { cursor }) })
      expect(pagination).toMatchObject({ total: 1000, totalCapped: true })
      found.push(...ids)
      cursor = pagination.nextCursor
      if (cursor === undefined) break
    }
    expect(found).toEqual(expected)
    expect((await find({ q: 'word', limit: 100, page: 13 })).ids).toEqual(expected.slice(1200, 1300))
    expect((await find({ q: 'word', limit: 100, page: 3 })).ids).toEqual(expected.slice(200, 300))
  })

  it('finds the new words of a rewritten message, and no deleted one', async () => {
    const { mailbox } = searching(await open())
    const { add, find, change } = await mailbox('gmail')
    const [draft, other] = await add({ subject: 'first version' }, { subject: 'another version' })
    if (draft === undefined || other === undefined) throw new Error('messages are missing')
    expect((await find({ q: 'version' })).ids).toEqual([other.id, draft.id])
    const rewritten = { ...draft, ...buildContent({ subject: 'second version' }), receivedAt: 999_999 }
    await change((writer) =>
      writer.update([{ row: rewritten, rewritten: true, labelIds: [draft.folderId ?? '', draft.accountId] }]),
    )
    expect((await find({ q: 'first' })).ids).toEqual([])
    expect((await find({ q: 'second version' })).ids).toEqual([draft.id])
    expect((await find({ q: 'version' })).ids).toEqual([draft.id, other.id])
    await change((writer) => writer.remove([draft.id]))
    expect((await find({ q: 'version' })).ids).toEqual([other.id])
  })

  it.each(LISTS)('equals a search of every message after random changes: %s', async (_, search) => {
    const { mailbox, composition } = searching(await open(), { features: { search } })
    const { add, find, change, accountId } = await mailbox('gmail')
    const choose = random()
    const some = (count: number) => Array.from({ length: count }, () => WORDS[Math.floor(choose() * WORDS.length)])
    const { db } = composition.infrastructure
    for (let round = 0; round < 15; round += 1) {
      await add(...Array.from({ length: 1 + Math.floor(choose() * 8) }, () => ({ subject: some(3).join(' ') })))
      const rows = await stored(db, accountId)
      const changed = rows.filter(() => choose() < 0.2)
      await change((writer) =>
        writer.update(
          changed.map((row) => ({
            row: { ...row, subject: some(3).join(' ') },
            rewritten: true,
            labelIds: [row.folderId ?? '', accountId],
          })),
        ),
      )
      await change((writer) => writer.remove(rows.filter(() => choose() < 0.1).map((row) => row.id)))
      const now = await stored(db, accountId)
      const [one = '', two = ''] = some(2)
      const expected = now.filter(({ subject }) => {
        const words = subject.split(' ')
        return words.includes(one) && words.some((word) => word.startsWith(two))
      })
      const { ids, pagination } = await find({ q: `${one} ${two}`, limit: 200 })
      expect([...ids].sort()).toEqual(expected.map(({ id }) => id).sort())
      expect(pagination.total).toBe(expected.length)
    }
  })

  it('indexes messages that were stored before the index, and says so meanwhile', async () => {
    const place = await open.place()
    const db = await open(place)
    const first = searching(db)
    const { add, accountId, find } = await first.mailbox()
    await add(...Array.from({ length: 1200 }, (_, index) => ({ subject: index === 0 ? 'oldest word' : 'word' })))
    expect((await find({ q: 'oldest' })).pagination.total).toBe(1)
    await first.composition.close()

    // As after an update of a version without search, or with a lost file.
    rmSync(join(place.dataDir, 'search.db'), { force: true })
    await db.transaction(async (tx) => {
      await tx.deleteFrom('serviceState').where('name', '=', 'search.index').execute()
      if (engine === 'postgres') await tx.deleteFrom('messageTerms').execute()
    })
    const second = searching(db)
    const again = async () => second.composition.features.reader.list(accountId, { q: 'oldest' })
    await second.search.start()
    await eventually(async () => expect((await again()).pagination).toMatchObject({ total: 1 }))
    expect((await again()).pagination.partial).toBeUndefined()
    expect(await second.composition.features.reader.list(accountId, { q: 'word' })).toMatchObject({
      pagination: { total: 1000, totalCapped: true },
    })
  })

  it('indexes each message once, although new messages wait for a new index', async () => {
    const db = await open()
    const { mailbox, composition } = searching(db)
    const { add } = await mailbox()
    await add(...Array.from({ length: 700 }, () => ({ subject: 'word' })))
    const index = db.file === undefined ? postgresIndex(db) : sqliteIndex(db, db.file)
    onTestFinished(() => index.close())
    let indexed = 0
    const counted = {
      ...index,
      async indexChanges(limit: number) {
        const changes = await index.indexChanges(limit)
        indexed += changes
        return changes
      },
    }
    await indexer({ db, bus: composition.infrastructure.bus, log: silentLog, clock: systemClock, index: counted }).run()
    expect(indexed).toBe(700)
  })

  it('does not open the index for events that are about no message', async () => {
    const db = await open()
    const { mailbox, composition } = searching(db)
    const { bus } = composition.infrastructure
    const index = db.file === undefined ? postgresIndex(db) : sqliteIndex(db, db.file)
    onTestFinished(() => index.close())
    let opened = 0
    const counted = {
      ...index,
      identity() {
        opened += 1
        return index.identity()
      },
    }
    const timing = { quietMs: 1, sweepMs: 60_000 }
    const following = indexer({ db, bus, log: silentLog, clock: systemClock, index: counted, timing })
    onTestFinished(() => following.stop())
    await following.start()
    const { add } = await mailbox()
    bus.publish(EVENTS_TOPIC)
    await sleep(100)
    expect(opened).toBe(0)
    await add({ subject: 'word' })
    bus.publish(EVENTS_TOPIC)
    await eventually(() => expect(opened).toBeGreaterThan(0))
  })

  it('forgets a deleted account', async () => {
    const db = await open()
    const { mailbox, composition } = searching(db)
    const { add, find, accountId } = await mailbox()
    const { accounts, search, parts } = composition.features
    await add({ subject: 'secret word' })
    expect((await find({ q: 'secret' })).ids).toHaveLength(1)
    for (const part of parts) await part.start?.()
    await db.transaction((tx) => accounts.remove(tx, accountId))
    await eventually(async () => expect(await db.read.selectFrom('accountErasures').selectAll().execute()).toEqual([]))
    expect(await db.read.selectFrom('unindexedMessages').selectAll().execute()).toEqual([])
    const page = { after: undefined, offset: 0, limit: 5 }
    const query = { accountId, labelIds: [accountId], words: { q: 'secret' }, filter: {}, ...page }
    expect((await search.find(query)).hits).toEqual([])
    if (engine === 'postgres') expect(await db.read.selectFrom('messageTerms').selectAll().execute()).toEqual([])
  })

  it('rejects long and unknown parameters, and needs the key', async () => {
    const { mailbox, composition } = searching(await open())
    const { add, accountId } = await mailbox()
    await add({ subject: 'word' })
    const app = testServer()
    messageRoutes(app, { reader: composition.features.reader })
    await app.ready()
    const get = async (query: string, headers = { authorization: 'Bearer good' }) =>
      (await app.inject({ url: `/accounts/${accountId}/messages?${query}`, headers })).statusCode
    expect(await get('q=word')).toBe(200)
    expect(await get('q=')).toBe(200)
    expect(await get(`q=${'x'.repeat(257)}`)).toBe(400)
    expect(await get('q=word', { authorization: 'Bearer wrong' })).toBe(401)
    expect(
      (await app.inject({ url: '/accounts/acc_x/messages?q=x', headers: { authorization: 'Bearer good' } })).statusCode,
    ).toBe(404)
    await app.close()
  })
})

const WORDS = ['ape', 'apes', 'bear', 'bears', 'cat', 'dog', 'doge', 'eel', 'fox']

async function stored(db: Db, accountId: string) {
  const rows = await db.read.selectFrom('messages').select('id').where('accountId', '=', accountId).execute()
  return messageStore(db.read).byIds(rows.map((row) => row.id))
}
