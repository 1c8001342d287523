import { describe, expect, it } from 'vitest'
import {
  type ScriptedGraphRequest,
  type ScriptedGraphResponse,
  scriptedGraph,
} from '../../../test/servers/scripted-graph.ts'
import type { MailboxSession, MailboxStep, ScopeSyncRequest } from '../contract/index.ts'

const LONG_ID = `AAMk/${'x'.repeat(1500)}+==`
const received = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString().replace('.000', '')

function message(id: string, more: object = {}) {
  return {
    id,
    parentFolderId: 'inbox',
    subject: `mail ${id}`,
    receivedDateTime: received(5),
    isDraft: false,
    isRead: false,
    flag: { flagStatus: 'notFlagged' },
    hasAttachments: false,
    ...more,
  }
}

const page = (value: object[], token = 'end') => ({
  body: { value, '@odata.deltaLink': `/v1.0/me/mailFolders('inbox')/messages/delta?$deltatoken=${token}` },
})
const gone = { status: 404, body: { error: { code: 'ErrorItemNotFound', message: 'secret words' } } }

/** A mailbox with one message that is a thousand seconds old. `more` overrides responses. */
function standard(more: (asked: ScriptedGraphRequest) => ScriptedGraphResponse | undefined) {
  return (asked: ScriptedGraphRequest): ScriptedGraphResponse => {
    const overridden = more(asked)
    if (overridden !== undefined) return overridden
    if (asked.path === '/me/messages') return { body: { value: [{ id: 'x', receivedDateTime: received(0) }] } }
    return gone
  }
}

async function steps(session: MailboxSession, request: Partial<ScopeSyncRequest> = {}): Promise<MailboxStep[]> {
  const all: MailboxStep[] = []
  const { signal } = new AbortController()
  const whole = { scope: 'inbox', cursor: null, initialMessages: 10, oldest: async () => null, signal, ...request }
  for await (const step of session.syncScope(whole)) all.push(step)
  return all
}

describe('unusual responses of Graph', () => {
  it('requests immutable ids in every request and every batch item', async () => {
    const graph = await scriptedGraph(
      standard(({ path }) => {
        if (path === '/me/mailFolders') return { body: { value: [{ id: 'inbox', displayName: 'Inbox' }] } }
        if (path === '/me/mailFolders/inbox') return { body: { id: 'inbox' } }
        if (path.endsWith('/delta')) return page([message('a', { hasAttachments: true })])
        return path === '/me' ? { body: { id: 'u' } } : undefined
      }),
    )
    const session = graph.session()
    await graph.mail.verify(graph.access, new AbortController().signal)
    await session.listFolders()
    const [step] = await steps(session)
    await session.changedScopes?.([{ scope: 'inbox', cursor: step?.cursor ?? null }], new AbortController().signal)
    await graph.mail
      .liveReads(graph.access)
      .getBody({ providerMessageId: LONG_ID })
      .catch(() => {})
    expect(graph.asked.length).toBeGreaterThan(20)
    for (const { prefer } of graph.asked) expect(prefer).toContain('IdType="ImmutableId"')
    const deltas = graph.asked.filter(({ path }) => path.endsWith('/delta'))
    for (const { prefer } of deltas) expect(prefer).toMatch(/odata\.maxpagesize=\d+/)
    expect(graph.asked.some(({ path }) => path === `/me/messages/${LONG_ID}`)).toBe(true)
  })

  it('stores messages with texts of any length, and lists the attachments that the rest of a text may name', async () => {
    const long = { contentType: 'text', content: `first words ${'é'.repeat(20_000_000)} cid:image` }
    const attachments = { value: [{ id: 'one', name: 'image.png', isInline: true, size: 5 }] }
    const graph = await scriptedGraph(
      standard(({ path }) => {
        if (path.endsWith('/delta')) return page([message('a', { body: long }), message('b', { body: long })])
        return path.endsWith('/attachments') ? { body: attachments } : undefined
      }),
    )
    const [step] = await steps(graph.session())
    expect(step?.found.map(({ message: { text, attachments } }) => [text.slice(0, 12), attachments.length])).toEqual([
      ['first words ', 1],
      ['first words ', 1],
    ])
  })

  it('reads the thread from the header where messages have no properties', async () => {
    const header = [{ name: 'In-Reply-To', value: '<first@x>' }]
    const refused = { status: 400, body: { error: { code: 'BadRequest', message: 'secret words' } } }
    const graph = await scriptedGraph(
      standard(({ path, part, query }) => {
        if (path.endsWith('/delta')) return page([message('a'), message('b', { isRead: true })])
        if (!part || !path.startsWith('/me/messages/')) return undefined
        return query.has('$expand') ? refused : { body: { id: 'a', internetMessageHeaders: header } }
      }),
    )
    const [step] = await steps(graph.session())
    expect(step?.found.map(({ message: { inReplyTo, sizeBytes, error } }) => [inReplyTo, sizeBytes, error])).toEqual([
      ['<first@x>', 0, null],
      ['<first@x>', 0, null],
    ])
  })

  it('fetches a message when Graph returns only its changed properties', async () => {
    const graph = await scriptedGraph(
      standard(({ path, part }) => {
        if (path.endsWith('/delta'))
          return page([
            { id: 'a', subject: 'draft' },
            { id: 'b', subject: 'away' },
          ])
        return part && path === '/me/messages/a' ? { body: message('a', { subject: 'draft, whole' }) } : undefined
      }),
    )
    const [step] = await steps(graph.session())
    expect(step?.found.map(({ message: { subject } }) => subject)).toEqual(['draft, whole'])
    expect(step?.changed).toEqual([])
  })

  it('uses the last of several items for one message', async () => {
    const removed = (id: string) => ({ id, '@removed': { reason: 'deleted' } })
    const items = [message('a'), message('b'), removed('a'), removed('c'), message('c'), message('b', { isRead: true })]
    const graph = await scriptedGraph(standard(({ path }) => (path.endsWith('/delta') ? page(items) : undefined)))
    const [step] = await steps(graph.session())
    expect(step?.removed).toEqual(['a'])
    expect(step?.found.map(({ message: { providerMessageId, unread } }) => [providerMessageId, unread])).toEqual([
      ['c', true],
      ['b', false],
    ])
  })

  it.each([
    [410, 'resyncRequired'],
    [410, 'syncStateNotFound'],
    [404, 'SyncStateNotFound'],
    [400, 'SyncStateInvalid'],
  ])('throws cursor_expired for %i %s', async (status, code) => {
    let isOld = false
    const graph = await scriptedGraph(
      standard(({ path }) => {
        if (!path.endsWith('/delta')) return undefined
        return isOld ? { status, body: { error: { code } } } : page([])
      }),
    )
    const session = graph.session()
    const [step] = await steps(session)
    isOld = true
    const cursor = step?.cursor ?? null
    expect(await session.changedScopes?.([{ scope: 'inbox', cursor }], new AbortController().signal)).toEqual(['inbox'])
    await expect(steps(session, { cursor })).rejects.toMatchObject({ kind: 'cursor_expired' })
  })

  it('lists a folder again without filter when Graph ends the filtered listing at 5,000 messages', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => message(`m${index}`))
    const graph = await scriptedGraph(
      standard(({ path, query }) => {
        if (!path.endsWith('/delta')) return undefined
        return query.has('$filter')
          ? page(many, 'cut')
          : page([message('late'), message('old', { receivedDateTime: received(-60) })])
      }),
    )
    const all = await steps(graph.session())
    expect(all).toHaveLength(2)
    expect(all[1]?.found.map(({ message: { providerMessageId } }) => providerMessageId)).toEqual(['late'])
    expect(all[1]?.changed).toEqual([{ providerMessageId: 'old', unread: true, starred: false, folders: ['inbox'] }])
    // From the cursor in between, the listing continues without the filter.
    const [again] = await steps(graph.session(), { cursor: all[0]?.cursor ?? null })
    expect(again?.found).toHaveLength(1)
  })

  it('throws unavailable when a page links to itself or has no next link', async () => {
    const link = '/v1.0/me/mailFolders/inbox/messages/delta?$skiptoken=same'
    const circle = await scriptedGraph(
      standard(({ path }) => (path.endsWith('/delta') ? { body: { value: [], '@odata.nextLink': link } } : undefined)),
    )
    await expect(steps(circle.session())).rejects.toMatchObject({ kind: 'unavailable' })
    const endless = await scriptedGraph(
      standard(({ path }) => (path.endsWith('/delta') ? { body: { value: [] } } : undefined)),
    )
    await expect(steps(endless.session())).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('stores a message with an error when its attachments cannot be listed', async () => {
    const graph = await scriptedGraph(
      standard(({ path }) => {
        if (path.endsWith('/delta')) return page([message('a', { hasAttachments: true })])
        return path.endsWith('/attachments')
          ? { status: 403, body: { error: { code: 'ErrorAccessDenied' } } }
          : undefined
      }),
    )
    const [step] = await steps(graph.session())
    expect(step?.found[0]?.message).toMatchObject({ attachments: [], error: expect.stringContaining('attachments') })
  })

  it('sends only the throttled items of a batch again', async () => {
    let refusals = 2
    const graph = await scriptedGraph(
      standard(({ path }) => {
        if (path.endsWith('/delta')) {
          return page(['a', 'b', 'c'].map((id) => message(id, { hasAttachments: true })))
        }
        if (!path.endsWith('/attachments')) return undefined
        if (path.includes('/c/') || refusals === 0) return { body: { value: [{ id: 'f', name: 'f.txt', size: 1 }] } }
        refusals -= 1
        return { status: 429, headers: { 'Retry-After': '0' }, body: { error: { code: 'TooManyRequests' } } }
      }),
    )
    const [step] = await steps(graph.session())
    expect(step?.found.map(({ message: { attachments } }) => attachments.length)).toEqual([1, 1, 1])
    const lists = graph.asked.filter(({ path }) => path.endsWith('/attachments')).map(({ path }) => path.split('/')[3])
    expect(lists).toEqual(['a', 'b', 'c', 'a', 'b'])
  })

  it('does not remove a message that a shifting list leaves out', async () => {
    const graph = await scriptedGraph(
      standard(({ path, part }) => {
        if (path.endsWith('/delta')) return page([message('seen')])
        if (path === '/me/mailFolders/inbox/messages') return { body: { value: [message('seen')] } }
        if (part && path === '/me/messages/shifted') return { body: { parentFolderId: 'inbox' } }
        return part && path === '/me/messages/moved' ? { body: { parentFolderId: 'archive' } } : undefined
      }),
    )
    const stored = ['seen', 'shifted', 'moved', 'deleted'].map((providerMessageId) => ({
      providerMessageId,
      receivedAt: Date.UTC(2026, 0, 1) + 5000,
      unread: true,
      starred: false,
      folders: ['inbox'],
    }))
    const comparing = { listStored: async (after?: unknown) => (after === undefined ? stored : []) }
    const all = await steps(graph.session(), { comparison: comparing })
    expect(all.flatMap((step) => step.removed)).toEqual(['moved', 'deleted'])
    expect(all.every((step) => step.refetched)).toBe(true)
  })

  it('throws not_found for a deleted folder, without quoting Graph', async () => {
    const graph = await scriptedGraph(standard(() => undefined))
    await expect(steps(graph.session())).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.not.stringContaining('secret'),
    })
  })

  it('reads both forms of a body in one request, and refuses a link attachment', async () => {
    const graph = await scriptedGraph(({ path, prefer }) => {
      if (path.endsWith('/attachments/link')) {
        return { body: { '@odata.type': '#microsoft.graph.referenceAttachment', id: 'link', name: 'plan' } }
      }
      const isText = prefer.includes('outlook.body-content-type="text"')
      const body = isText ? { contentType: 'text', content: 'Hi\r\n' } : { contentType: 'html', content: '<p>Hi</p>' }
      return { body: { body, internetMessageHeaders: [{ name: 'X-One', value: '1' }] } }
    })
    const live = graph.mail.liveReads(graph.access)
    const mail = { providerMessageId: 'a' }
    expect(await live.getBody(mail)).toEqual({
      text: 'Hi\n',
      html: '<p>Hi</p>',
      headers: [{ name: 'X-One', value: '1' }],
    })
    expect(graph.asked.filter(({ part }) => !part)).toHaveLength(1)
    await expect(live.openAttachment(mail, 'link')).rejects.toMatchObject({ kind: 'rejected' })
  })
})
