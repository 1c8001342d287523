import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { expectedThreads, openThreads, present } from '../../../../test/kit/messages/threads.ts'
import { random } from '../../../../test/kit/random/random.ts'
import type { Db } from '../../../platform/db/index.ts'
import { parseFields } from '../rows/row.ts'
import type { MessageRow } from '../store.ts'
import type { Thread } from './api.ts'

/** A message and what its header says of the conversation. */
interface Sent {
  id: string
  inReplyTo?: string | null
  references?: string[]
}

describeEachDatabase('threads by references', (open) => {
  it('are one for a conversation, in whatever order its messages arrive', async () => {
    const db = await open()
    const choose = random()
    for (let round = 0; round < 8; round += 1) {
      const { box, arrive, lists } = await mailbox(db)
      const conversations = Array.from({ length: 3 }, (_, index) => conversation(`c${round}${index}`, 9, choose))
      const queue = shuffled(conversations.flat(), choose)
      while (queue.length > 0) {
        // Two folders store what they received at the same time.
        const some = () => queue.splice(0, 1 + Math.floor(choose() * 4))
        await Promise.all([arrive('INBOX', some()), arrive('Work', some())])
      }
      const threads = await threadsByMessage(db, box.accountId)
      const distinct = conversations.map((messages) => [...new Set(messages.map(({ id }) => threads.get(id)))])
      expect(distinct).toEqual([[expect.any(String)], [expect.any(String)], [expect.any(String)]])
      expect(new Set(distinct.flat()).size).toBe(3)
      await lists()
    }
  })

  it('keep the id of the larger thread; the other id continues to work', async () => {
    const db = await open()
    const { box, arrive, get, lists } = await mailbox(db)
    await arrive('INBOX', [
      { id: 'one', inReplyTo: 'parent', references: ['parent'] },
      { id: 'two', references: ['lost', 'one'] },
    ])
    await arrive('Work', [{ id: 'other', references: ['root'] }])
    const before = await threadsByMessage(db, box.accountId)
    await arrive('Work', [{ id: 'parent', references: ['root'] }])
    const after = await threadsByMessage(db, box.accountId)
    expect(new Set(after.values())).toEqual(new Set([before.get('one')]))
    expect(await get(`/threads/${before.get('other')}`)).toMatchObject({
      id: before.get('one'),
      messageCount: 4,
      messages: [{ threadId: before.get('one') }, {}, {}, {}],
    })
    const versions = (await present(db, box.accountId)).map(({ version }) => version)
    expect(versions).toEqual([1, 1, 1, 1])
    await lists()
  })

  it('are not joined by a message that names stored messages of both', async () => {
    const db = await open()
    const { box, arrive } = await mailbox(db)
    await arrive('INBOX', [{ id: 'one' }, { id: 'two' }, { id: 'three', references: ['two', 'one'] }])
    // Another copy of the message "one", as a stranger would forge it.
    await arrive('Work', [{ id: 'one', references: ['two'] }])
    const threads = await threadsByMessage(db, box.accountId)
    expect(threads.get('three')).toBe(threads.get('one'))
    expect(threads.get('two')).not.toBe(threads.get('one'))
  })

  it('are joined in small transactions when they are large', async () => {
    const db = await open()
    const { box, arrive, get, lists, composition } = await mailbox(db)
    const replies = (to: string) => Array.from({ length: 250 }, (_, index) => ({ id: `${to}${index}`, inReplyTo: to }))
    await arrive('INBOX', replies('a'))
    await arrive('Work', replies('b'))
    const [one, other] = [...new Set((await threadsByMessage(db, box.accountId)).values())].sort()
    await arrive('INBOX', [{ id: 'a', inReplyTo: 'b' }])
    expect(countValue(await threadsByMessage(db, box.accountId), one)).toBe(351)
    await composition.features.merger.run()
    expect(countValue(await threadsByMessage(db, box.accountId), one)).toBe(501)
    expect(await get(`/threads/${other}?limit=1`)).toMatchObject({ id: one, messageCount: 501 })
    await lists()
  })

  it('have ids in the order in which they were opened', async () => {
    const db = await open()
    const { box, arrive } = await mailbox(db)
    const names = Array.from({ length: 20 }, (_, index) => `${index}`)
    await arrive('INBOX', [...names.slice(0, 9).map((id) => ({ id })), { id: 'reply', inReplyTo: '0' }])
    await arrive(
      'Work',
      names.slice(9).map((id) => ({ id, references: [`root of ${id}`] })),
    )
    const threads = await threadsByMessage(db, box.accountId)
    const opened = names.map((id) => threads.get(id))
    expect(opened).toEqual([...new Set(opened)].sort())
    expect(threads.get('reply')).toBe(threads.get('0'))
  })

  it('are forgotten with their last message', async () => {
    const db = await open()
    const { box, arrive } = await mailbox(db)
    await arrive('INBOX', [{ id: 'a', references: ['root'] }, { id: 'b', references: ['root', 'a'] }, { id: 'c' }])
    const idsByMessage = new Map((await present(db, box.accountId)).map((row) => [readMessageId(row), row.id]))
    const remembered = async () => (await db.read.selectFrom('threadReferences').selectAll().execute()).length
    expect(await remembered()).toBe(4)
    await box.write((writer) => writer.remove([idsByMessage.get('a') ?? '', idsByMessage.get('c') ?? '']))
    expect(await remembered()).toBe(3)
    await box.write((writer) => writer.remove([idsByMessage.get('b') ?? '']))
    expect(await remembered()).toBe(0)
  })
})

async function mailbox(db: Db) {
  const threads = await openThreads(db)
  const { box, get, composition } = threads
  const { accounts } = composition.features
  return {
    ...threads,
    /** Stores messages as sync does: in one transaction that holds the account. */
    async arrive(folder: string, messages: readonly Sent[]): Promise<void> {
      const rows = messages.map((message) => ({
        ...box.row({ subject: message.id, folder }),
        fields: buildFields(message),
      }))
      await box.write(async (writer, tx) => {
        await accounts.hold(tx, box.accountId)
        await writer.insert(rows)
      })
    },
    /** Expects the lists of all labels to be those of the messages. */
    async lists(): Promise<void> {
      for (const labelId of Object.values(box.labels)) {
        const { threads, pagination } = await get(`/threads?limit=200&labelId=${labelId}`)
        const expected = await expectedThreads(db, box.accountId, labelId)
        expect(threads.map((thread: Thread) => thread.id)).toEqual(expected)
        expect(pagination.total).toBe(expected.length)
      }
      const rows = await db.read
        .selectFrom('threadLabels')
        .selectAll()
        .where('labelId', 'in', Object.values(box.labels))
        .orderBy('labelId')
        .orderBy('threadId')
        .execute()
      expect(rows).toEqual(await countedThreads(db, box.accountId))
    },
  }
}

/** Counts `threadLabels` again from the messages themselves. */
async function countedThreads(db: Db, accountId: string) {
  const rows = await db.read
    .selectFrom('messages')
    .innerJoin('messageLabels', 'messageLabels.messageId', 'messages.id')
    .select(({ fn }) => [
      'labelId',
      'threadId',
      fn.max('messages.receivedAt').as('lastReceivedAt'),
      fn.countAll().as('messages'),
    ])
    .where('accountId', '=', accountId)
    .groupBy(['labelId', 'threadId'])
    .orderBy('labelId')
    .orderBy('threadId')
    .execute()
  return rows.map((row) => ({ ...row, messages: Number(row.messages) }))
}

function buildFields({ id, inReplyTo = null, references = [] }: Sent): string {
  return JSON.stringify({
    messageId: id,
    inReplyTo,
    references,
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    attachments: [],
  })
}

/** Every reply names its parent; programs differ in what else they name. */
function conversation(name: string, size: number, choose: () => number): Sent[] {
  const messages: Sent[] = [{ id: name }]
  const ancestorsByMessage = new Map<string, string[]>([[name, []]])
  while (messages.length < size) {
    const parent = messages[Math.floor(choose() * messages.length)] ?? { id: name }
    const id = `${name}-${messages.length}`
    const all = [...(ancestorsByMessage.get(parent.id) ?? []), parent.id]
    ancestorsByMessage.set(id, all)
    const styles: Omit<Sent, 'id'>[] = [
      { references: all, inReplyTo: parent.id },
      { references: all },
      { references: all.slice(-2) },
      { inReplyTo: parent.id },
      { references: all.slice(0, -1), inReplyTo: parent.id },
      { references: [...new Set([name, parent.id])], inReplyTo: parent.id },
    ]
    messages.push({ id, ...styles[Math.floor(choose() * styles.length)] })
  }
  return messages
}

function shuffled<T>(list: readonly T[], choose: () => number): T[] {
  return list
    .map((item) => ({ one: item, at: choose() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one: item }) => item)
}

async function threadsByMessage(db: Db, accountId: string): Promise<Map<string, string | null>> {
  return new Map((await present(db, accountId)).map((row) => [readMessageId(row), row.threadId]))
}

function readMessageId({ fields }: MessageRow): string {
  return String(parseFields(fields).messageId)
}

function countValue<T>(map: ReadonlyMap<string, T>, value: T): number {
  return [...map.values()].filter((candidate) => candidate === value).length
}
