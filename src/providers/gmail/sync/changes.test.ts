import { afterEach, describe, expect, it } from 'vitest'
import { MailboxMirror } from '../../../../test/kit/mailbox/mailbox-mirror.ts'
import { type ScriptedRequest, type ScriptedResponse, startScripted } from '../../../../test/servers/scripted-http.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { gmailProvider } from '../index.ts'

/** Exceeds the precision of a number; the last digits must survive. */
const BEGIN = '90071992547409931234'
const AFTER = '90071992547409931299'

describe('the history of a Gmail mailbox', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close()
  })

  async function mailbox(respond: (request: ScriptedRequest) => ScriptedResponse) {
    const server = await startScripted(respond)
    const { mail } = gmailProvider({ apiUrl: server.url, clock: systemClock })
    open.push({ close: () => mail.closeConnections() }, server)
    const access = {
      accountId: 'acc_1',
      email: 'a@gmail.test',
      settings: {},
      secrets: {},
      accessToken: async () => 'good',
    }
    return { server, session: mail.openSession(access) }
  }

  /** A mailbox with two messages whose history is `pages`. */
  function respondWith(pages: object[]) {
    return ({ path, body }: ScriptedRequest): ScriptedResponse => {
      if (path.includes('/labels')) return { body: { labels: [{ id: 'INBOX', name: 'INBOX', type: 'system' }] } }
      if (path.includes('/profile')) return { body: { emailAddress: 'a@gmail.test', historyId: BEGIN } }
      if (path.includes('/messages?')) return { body: { messages: [{ id: 'm1' }, { id: 'm2' }] } }
      if (path.includes('/history')) return { body: pages.shift() ?? { historyId: AFTER } }
      return buildBatch(body)
    }
  }

  /** Every requested message, with the label of its current state. */
  function buildBatch(body: string): ScriptedResponse {
    const asked = [...body.matchAll(/GET \S*\/messages\/(\w+)\?(\S*)/g)]
    const parts = asked.map(([, id = '', query = ''], index) => {
      const payload = query.includes('format=full') ? { payload: { mimeType: 'text/plain', headers: [] } } : {}
      const message = { id, internalDate: '1000', labelIds: ['INBOX', 'NOW'], ...payload }
      const status = id === 'gone' ? '404 Not Found' : '200 OK'
      return `--b\r\nContent-ID: <response-item-${index}>\r\n\r\nHTTP/1.1 ${status}\r\n\r\n${JSON.stringify(message)}\r\n`
    })
    return { headers: { 'content-type': 'multipart/mixed; boundary=b' }, body: `${parts.join('')}--b--` }
  }

  const change = (id: string, labelIds?: string[]) => ({ message: { id, ...(labelIds && { labelIds }) } })

  it('treats history ids as text', async () => {
    const { server, session } = await mailbox(respondWith([]))
    const mirror = new MailboxMirror()
    await mirror.sync(session)
    await mirror.sync(session)
    const asked = server.asked
      .filter(({ path }) => path.includes('/history'))
      .map(({ query }) => query.get('startHistoryId'))
    expect(asked).toEqual([BEGIN, AFTER])
    const types = server.asked.find(({ path }) => path.includes('/history'))?.query.getAll('historyTypes')
    expect(types).toEqual(['messageAdded', 'messageDeleted', 'labelAdded', 'labelRemoved'])
  })

  it('fetches the labels of a message when the history omits them', async () => {
    const records = [
      { id: '91', labelsAdded: [change('m1', ['INBOX', 'UNREAD'])] },
      { id: '92', labelsRemoved: [change('m2')] },
      { id: '93', labelsRemoved: [change('gone')] },
    ]
    const { session } = await mailbox(respondWith([{ historyId: AFTER }, { history: records, historyId: AFTER }]))
    const mirror = new MailboxMirror()
    await mirror.sync(session)
    const [step] = await mirror.sync(session)
    expect(step?.changed).toEqual([
      { providerMessageId: 'm1', unread: true, starred: false, folders: ['INBOX'] },
      { providerMessageId: 'm2', unread: false, starred: false, folders: ['INBOX', 'NOW'] },
    ])
    expect(step?.removed).toEqual(['gone'])
  })

  it('continues after the last record of a page, and reports messages that arrive during the listing as new', async () => {
    const pages = [
      { history: [{ id: '91', messagesAdded: [change('m3')] }], historyId: AFTER, nextPageToken: 'more' },
      { history: [{ id: '95', messagesAdded: [change('m4'), change('gone')] }], historyId: AFTER },
    ]
    const { server, session } = await mailbox(respondWith(pages))
    const mirror = new MailboxMirror()
    const steps = await mirror.sync(session)
    expect(steps.map(({ cursor }) => JSON.parse(cursor).history)).toEqual([BEGIN, '91', AFTER])
    expect([...mirror.rows].map(([id, { announced }]) => [id, announced])).toEqual([
      ['m1', false],
      ['m2', false],
      ['m3', true],
      ['m4', true],
    ])
    expect(
      server.asked.filter(({ path }) => path.includes('/history')).map(({ query }) => query.get('pageToken')),
    ).toEqual([null, null])
  })

  it('continues after an empty page', async () => {
    const pages = [
      { historyId: AFTER, nextPageToken: 'more' },
      { history: [{ id: '91', messagesAdded: [change('m3')] }], historyId: AFTER },
    ]
    const { server, session } = await mailbox(respondWith(pages))
    const mirror = new MailboxMirror()
    await mirror.sync(session)
    expect([...mirror.rows.keys()]).toEqual(['m1', 'm2', 'm3'])
    const tokens = server.asked
      .filter(({ path }) => path.includes('/history'))
      .map(({ query }) => query.get('pageToken'))
    expect(tokens).toEqual([null, 'more'])
  })

  it.each([
    ['no number', { historyId: 'abc' }],
    ['none', {}],
    ['a record without id', { history: [{ messagesAdded: [] }], historyId: AFTER }],
    ['a mail without id', { history: [{ id: '91', messagesAdded: [{ message: {} }] }], historyId: AFTER }],
    ['no list', { history: 'x', historyId: AFTER }],
  ])('a malformed one is unavailable: %s', async (_name, page) => {
    const { session } = await mailbox(respondWith([page]))
    await expect(new MailboxMirror().sync(session)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
