import { expect, it, onTestFinished } from 'vitest'
import { imapUser, testAccounts } from '../../../../test/kit/accounts/accounts.ts'
import { type Databases, describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { testServer } from '../../../../test/kit/http/server.ts'
import { messageRow } from '../../../../test/kit/messages/message-row.ts'
import { random } from '../../../../test/kit/random/random.ts'
import type { Tx } from '../../../platform/db/index.ts'
import { jsonWriter } from '../../../platform/formats/json-schema.ts'
import { cleanText } from '../../../platform/formats/text.ts'
import { listSchema } from '../../../platform/http/index.ts'
import { idGenerator } from '../../../platform/ids.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import { labelStore, newLabelRow } from '../../labels/index.ts'
import { messageSchema, messageView, shownLabelIds } from '../api.ts'
import { messageReader, messageRoutes } from '../index.ts'
import { type MessageWriter, messageWriter } from '../rows/writer.ts'
import { allMail, type MessageRow, messageStore } from '../store.ts'

const ids = idGenerator(systemClock)
const schemaText = jsonWriter(listSchema('messages', messageSchema))
const PARTS = [
  '"',
  '\\',
  '\n',
  '\r\n',
  '\u0001',
  '\u2028',
  '\u007f',
  'Grüße',
  '会議',
  '😀',
  '</script>',
  ' ',
  'a,b}',
  '',
]

describeEachDatabase('a list of messages', (open) => {
  it.each(['imap', 'gmail', 'microsoft'] as const)('has the bytes that the schema makes (%s)', async (provider) => {
    const { get, box } = await served(open)
    const { accountId, labels, step, expected } = await box(provider, random())
    for (let round = 0; round < 5; round += 1) {
      for (let change = 0; change < 6; change += 1) await step()
      for (const labelId of [undefined, ...labels]) {
        const list = `/accounts/${accountId}/messages?limit=7${labelId === undefined ? '' : `&labelId=${labelId}`}`
        for (const filter of ['', '&unread=true']) {
          const { body } = await get(list + filter)
          expect((await get(list + filter)).body, 'read again, from memory').toBe(body)
          const { pagination } = JSON.parse(body)
          const messages = await expected(
            labelId ?? (provider === 'imap' ? labels[0] : allMail(accountId)),
            filter !== '',
          )
          expect(body).toBe(schemaText({ messages: messages.slice(0, 7), pagination }))
          expect(pagination).toMatchObject({ total: messages.length, hasNext: messages.length > 7 })
        }
      }
    }
  })

  it('adds the texts of messages that an earlier version stored', async () => {
    const { db, get, box } = await served(open)
    const { accountId, insert, change } = await box('imap', random())
    await insert(7)
    const list = `/accounts/${accountId}/messages`
    const before = (await get(list)).body
    await change((tx) => tx.deleteFrom('messageTexts').execute())
    expect((await get(list)).body).toBe(before)
    expect(await db.read.selectFrom('messageTexts').select('messageId').execute()).toHaveLength(7)
    expect((await get(list)).body).toBe(before)
  })

  it('keeps its cursors while messages change, move and vanish', async () => {
    const { get, box } = await served(open)
    const { accountId, write, insert } = await box('imap', random())
    const rows = await insert(30)
    const shown: string[] = []
    const gone: string[] = []
    let cursor = ''
    for (;;) {
      const { messages, pagination } = JSON.parse((await get(`/accounts/${accountId}/messages?limit=5${cursor}`)).body)
      shown.push(...messages.map((message: { id: string }) => message.id))
      if (pagination.nextCursor === undefined) break
      cursor = `&cursor=${pagination.nextCursor}`
      // The last message of the page, which the cursor names, and a later one vanish.
      const left = rows.filter((row) => !shown.includes(row.id)).map((row) => row.id)
      const vanishing = [shown.at(-1) ?? '', left[0] ?? '']
      await write((writer) => writer.remove(vanishing))
      gone.push(...vanishing)
      await insert(1)
    }
    expect(new Set(shown).size).toBe(shown.length)
    const stayed = rows.map((row) => row.id).filter((id) => !gone.includes(id))
    expect(shown.filter((id) => !gone.includes(id)).sort()).toEqual(stayed.sort())
    expect(gone.length).toBeGreaterThan(5)
  })

  it('shows an account only its own messages, by id and by alias', async () => {
    const { get, box } = await served(open)
    const [one, two] = [await box('imap', random(), 'alias-1'), await box('imap', random(), 'alias-2')]
    const [mine, others] = [await one.insert(3), await two.insert(3)]
    const shown = async (path: string) => {
      const { messages } = JSON.parse((await get(path)).body)
      return messages.map((message: { id: string; accountId: string }) => [message.id, message.accountId]).sort()
    }
    const expected = (rows: MessageRow[], accountId: string) => rows.map((row) => [row.id, accountId]).sort()
    expect(await shown(`/accounts/${one.accountId}/messages`)).toEqual(expected(mine, one.accountId))
    expect(await shown('/accounts/alias-2/messages')).toEqual(expected(others, two.accountId))
    const { nextCursor } = JSON.parse((await get('/accounts/alias-1/messages?limit=1')).body).pagination
    expect(await shown(`/accounts/alias-1/messages?limit=2&cursor=${nextCursor}`)).toHaveLength(2)
    expect(await shown(`/accounts/${one.accountId}/messages?limit=2&cursor=${nextCursor}`)).toHaveLength(2)
    expect((await get(`/accounts/${two.accountId}/messages?cursor=${nextCursor}`)).statusCode).toBe(400)
    expect((await get(`/accounts/${one.accountId}/messages?labelId=${two.labels[0]}`)).statusCode).toBe(404)
    expect((await get('/accounts/acc_unknown/messages')).statusCode).toBe(404)
  })
})

async function served(open: Databases) {
  const db = await open()
  const { accounts, link } = testAccounts(db)
  const app = testServer()
  const search = {
    find: () => Promise.reject(new Error('no words were given')),
    providerWords: () => undefined,
    mayContain: () => false,
  }
  messageRoutes(app, {
    reader: messageReader({
      db,
      accounts,
      clock: systemClock,
      ids,
      mail: () => undefined,
      search,
      log: silentLog,
      events: { record: async () => [] },
    }),
  })
  await app.ready()
  onTestFinished(() => app.close())
  const get = (url: string) => app.inject({ url, headers: { authorization: 'Bearer good' } })

  /** An account with three labels, whose messages change by random steps. */
  async function box(provider: ProviderName, choose: () => number, customUserId: string | null = null) {
    const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(choose() * list.length)] ?? list[0]
    const some = <T>(list: readonly T[]): T[] => list.filter(() => choose() < 0.3)
    const text = () => cleanText(Array.from({ length: 4 }, () => pick(['x', ...PARTS])).join(''))
    const { id: accountId } = await link({ ...imapUser(ids('ses')), provider, customUserId })
    const folders = ['INBOX', 'Work', 'Später'].map((path, index) => ({
      ...newLabelRow(
        { path, name: path, role: null, delimiter: '/', mailboxId: null, selectable: true },
        { id: ids('lbl'), accountId, provider, nowMs: 1 },
      ),
      syncedAs: provider === 'imap' ? `${index === 0 ? 'main' : 'folder'}:${path}` : 'mailbox',
    }))
    await db.transaction((tx) => labelStore(tx).insert(folders))
    const [first = '', ...rest] = folders.map((folder) => folder.id)
    const labels: [string, ...string[]] = [first, ...rest]
    let uid = 0
    const change = <T>(work: (tx: Tx) => Promise<T>) =>
      db.transaction(async (tx) => {
        await accounts.hold(tx, accountId)
        return work(tx)
      })
    const write = <T>(work: (writer: MessageWriter) => Promise<T>) =>
      change((tx) => work(messageWriter(tx, { dialect: db.dialect, accountId, nowMs: 1000 + uid })))
    const stored = () =>
      db.read.selectFrom('messages').selectAll().where('accountId', '=', accountId).orderBy('id').execute()
    const chooseLabelIds = (row: MessageRow) => {
      if (provider === 'imap') return row.folderId === null ? [] : [row.folderId]
      if (provider === 'microsoft') return [row.folderId ?? first, allMail(accountId)]
      return [...new Set([...some(labels), row.folderId ?? first, allMail(accountId)])]
    }
    const insert = (count: number) => {
      const rows = Array.from({ length: count }, () => {
        uid += 1
        return {
          ...messageRow(ids('msg'), uid),
          accountId,
          folderId: first,
          subject: text(),
          snippet: text(),
          receivedAt: Math.floor(uid / 2) * 1000,
          ...(provider !== 'imap' && { uid: null, uidValidity: null, providerMessageId: `p${uid}` }),
          fields: JSON.stringify({
            messageId: text(),
            inReplyTo: null,
            references: some([text(), text()]),
            date: pick([null, uid * 1000]),
            from: pick([null, { name: text(), email: text() }]),
            to: [{ name: text(), email: 'a@b.c' }],
            cc: [],
            bcc: [],
            replyTo: [],
            attachments: some([
              {
                id: '2',
                filename: text(),
                contentType: 'a/b',
                sizeBytes: 7,
                inline: false,
                contentId: pick([null, text()]),
              },
            ]),
          }),
          threadId: pick([null, 'thr_1']),
          error: pick([null, text()]),
        }
      })
      return write((writer) => writer.insert(rows, chooseLabelIds))
    }
    const flags = () => ({ unread: pick([0, 1]), starred: pick([0, 1]) })
    const move = (row: MessageRow) => {
      uid += 1
      return { row, folderId: pick(labels), uidValidity: '8', uid }
    }
    const relabel = (row: MessageRow) => {
      const rewritten = choose() < 0.5
      const changed = { ...row, ...flags(), folderId: pick(labels), ...(rewritten && { subject: text() }) }
      return { row: changed, labelIds: chooseLabelIds(changed), rewritten }
    }
    const changes: Record<string, (rows: MessageRow[]) => Promise<unknown>> = {
      insert: () => insert(1 + Math.floor(choose() * 4)),
      flags: (rows) => write((writer) => writer.setFlags(rows.map((row) => ({ row, ...flags() })))),
      rename: () => change((tx) => labelStore(tx).update(pick(labels), { name: text() })),
      remove: (rows) => write((writer) => writer.remove(rows.slice(0, 1).map((row) => row.id))),
      miss: (rows) => write((writer) => writer.markMissing(rows.slice(0, 1).map((row) => row.id))),
      forget: (rows) =>
        change((tx) =>
          tx
            .deleteFrom('messageTexts')
            .where('messageId', 'in', ['', ...rows.map((row) => row.id)])
            .execute(),
        ),
      ...(provider === 'imap'
        ? {
            relocate: (rows) =>
              write((writer) =>
                writer.relocate(rows.map((row) => ({ ...move(row), ...flags(), providerMessageId: text() }))),
              ),
          }
        : {
            relabel: (rows) => write((writer) => writer.update(rows.map(relabel))),
            star: (rows) =>
              write((writer) =>
                writer.update(rows.map((row) => ({ row: { ...row, starred: pick([0, 1]) }, rewritten: false }))),
              ),
          }),
    }
    return {
      accountId,
      labels,
      change,
      write,
      insert,
      step: async () => {
        const rows = some((await stored()).filter((row) => row.goneAt === null))
        await changes[pick(['insert', ...Object.keys(changes)])]?.(rows)
      },
      /** The messages of a label in the order of its list, from their rows. */
      async expected(labelId: string, unreadOnly: boolean) {
        const listed = await db.read.selectFrom('messageLabels').selectAll().where('labelId', '=', labelId).execute()
        const rows = (await messageStore(db.read).byIds(listed.map((entry) => entry.messageId)))
          .filter((row) => !unreadOnly || row.unread === 1)
          .sort((a, b) => b.receivedAt - a.receivedAt || (a.id < b.id ? 1 : -1))
        const names = await labelStore(db.read).byIds(labels)
        const labelIds = await messageStore(db.read).labelIds(rows.map((row) => row.id))
        return rows.map((row) =>
          messageView(row, {
            provider,
            labelIds: shownLabelIds(row, labelIds.get(row.id) ?? []),
            folder: names.get(row.folderId ?? '')?.name ?? null,
          }),
        )
      },
    }
  }
  return { db, get, box }
}
