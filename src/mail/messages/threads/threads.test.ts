import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { expectedThreads, openThreads, present } from '../../../../test/kit/messages/threads.ts'
import { random } from '../../../../test/kit/random/random.ts'
import type { MessageRow } from '../index.ts'
import { allMail } from '../store.ts'
import type { Thread, ThreadDetail } from './api.ts'

const MAX_PAGES = 50

describeEachDatabase('threads', (open) => {
  it('group messages of all folders, with their participants and counts', async () => {
    const { get, box } = await openThreads(await open())
    const { labels, write, row } = box
    const [first, reply, sent] = [
      row({
        subject: 'Plan',
        from: { name: 'Ada', email: 'ada@x.example' },
        to: [{ name: '', email: 'Bob@x.example' }],
      }),
      row({ subject: 'Re: Plan', from: { name: 'Bob', email: 'bob@x.example' }, unread: true, attachments: ['a.pdf'] }),
      row({ subject: 'Re: Re: Plan', from: 'ada@x.example', folder: 'Work' }),
    ].map((message) => ({ ...message, threadId: 'thr_plan' }))
    const other = { ...row({ subject: 'Other' }), threadId: 'thr_other' }
    if (first === undefined || reply === undefined || sent === undefined) throw new Error('rows are missing')
    await write((writer) => writer.insert([first, reply, sent, other]))

    const { threads, pagination } = await get('/threads')
    expect(threads.map((thread: Thread) => thread.id)).toEqual(['thr_other', 'thr_plan'])
    expect(pagination).toMatchObject({ total: 2, hasNext: false })
    expect(threads[1]).toEqual({
      id: 'thr_plan',
      accountId: box.accountId,
      provider: 'imap',
      subject: 'Re: Re: Plan',
      snippet: '',
      participants: [
        { name: 'Ada', email: 'ada@x.example' },
        { name: 'Bob', email: 'bob@x.example' },
      ],
      messageCount: 3,
      unreadCount: 1,
      starred: false,
      hasAttachments: true,
      labelIds: Object.values(labels).sort(),
      firstMessageAt: '1970-01-01T00:00:01.000Z',
      lastMessageAt: '1970-01-01T00:00:03.000Z',
    })
    expect((await get(`/threads?labelId=${labels.Work}`)).threads).toMatchObject([{ id: 'thr_plan' }])
    const detail: ThreadDetail = await get('/threads/thr_plan?limit=2')
    expect(detail.messages.map((message) => message.id)).toEqual([sent.id, reply.id])
    expect(detail.messages[0]).toMatchObject({ folder: 'Work', labelIds: [labels.Work], threadId: 'thr_plan' })
    expect(detail.pagination).toMatchObject({ total: 3, hasNext: true })
    const next = await get(`/threads/thr_plan?limit=2&cursor=${detail.pagination.nextCursor}`)
    expect(next.messages.map((message: MessageRow) => message.id)).toEqual([first.id])
  })

  it('have exact lists and totals after random changes', async () => {
    const db = await open()
    const { get, box } = await openThreads(db, 'gmail')
    const { write, row, labels, accountId } = box
    const choose = random()
    const pick = <T>(list: readonly T[]) => list[Math.floor(choose() * list.length)] as T
    const chooseLabelIds = ({ folderId }: MessageRow) => [
      ...Object.values(labels).filter((id) => id === folderId || choose() < 0.4),
      allMail(accountId),
    ]
    const change = (rows: MessageRow[]) =>
      rows.map((stored) => ({
        row: { ...stored, threadId: pick(THREADS) },
        rewritten: false,
        labelIds: chooseLabelIds(stored),
      }))
    const steps = [
      (_: MessageRow[]) =>
        write((writer) =>
          writer.insert(
            Array.from({ length: 4 }, () => ({
              ...row({ receivedAt: 1000 * Math.floor(choose() * 20) }),
              threadId: pick(THREADS),
            })),
            chooseLabelIds,
          ),
        ),
      (rows: MessageRow[]) => write((writer) => writer.update(change(rows))),
      (rows: MessageRow[]) => write((writer) => writer.remove(rows.map(({ id }) => id))),
      (rows: MessageRow[]) => write((writer) => writer.markMissing(rows.map(({ id }) => id))),
    ]
    for (let round = 0; round < 12; round += 1) {
      const rows = await present(db, accountId)
      await pick(round < 4 ? steps.slice(0, 1) : steps)(rows.filter(() => choose() < 0.3))
      for (const labelId of [undefined, ...Object.values(labels)]) {
        const query = labelId === undefined ? '' : `&labelId=${labelId}`
        const expected = await expectedThreads(db, accountId, labelId ?? allMail(accountId))
        const found: string[] = []
        let cursor = ''
        for (let page = 1; page < MAX_PAGES; page += 1) {
          const { threads, pagination } = await get(`/threads?limit=2${query}${cursor}`)
          expect(pagination.total).toBe(expected.length)
          found.push(...threads.map((thread: Thread) => thread.id))
          if (pagination.nextCursor === undefined) break
          cursor = `&cursor=${pagination.nextCursor}`
        }
        expect(found).toEqual(expected)
      }
    }
  })

  it('need the key, and return 400 and 404 as lists do', async () => {
    const { send, box } = await openThreads(await open())
    const status = async (path: string, key = 'good') => (await send(path, key)).statusCode
    expect(await status('/threads', 'wrong')).toBe(401)
    expect(await status('/threads/thr_x', 'wrong')).toBe(401)
    expect(await status('/threads?limit=0')).toBe(400)
    expect(await status('/threads?cursor=x')).toBe(400)
    expect(await status('/threads?labelId=lbl_x')).toBe(404)
    expect(await status('/threads/thr_x')).toBe(404)
    expect((await box.app.inject({ url: '/accounts/acc_x/threads', headers: KEY })).statusCode).toBe(404)
  })
})

const THREADS = ['thr_a', 'thr_b', 'thr_c', 'thr_d', 'thr_e', null]
const KEY = { authorization: 'Bearer good' }
