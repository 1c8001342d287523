import { parse } from 'content-disposition'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { expectForgeriesRefused } from '../../../test/kit/http/cursors.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { mail, type SyncedMailboxOptions, syncedMailbox } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { attachmentMail } from '../../../test/servers/messages.ts'
import { labelRoutes } from '../labels/index.ts'
import { messageRoutes } from './routes.ts'

describe.skipIf(!dovecotAvailable())('the messages API', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('of a real mailbox', (open) => {
    async function served(options: SyncedMailboxOptions = {}) {
      const mailbox = await syncedMailbox(server, open, options)
      const app = testServer()
      messageRoutes(app, { reader: mailbox.service.reader })
      labelRoutes(app, { db: mailbox.db, accounts: mailbox.service.accounts, changer: mailbox.service.labels })
      await app.ready()
      onTestFinished(() => app.close())
      const get = async (path: string, key = 'good') => {
        const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
        const response = await app.inject({ method: 'GET', url: `/accounts/${mailbox.accountId}${path}`, headers })
        return {
          status: response.statusCode,
          headers: response.headers,
          raw: response.rawPayload,
          json: parseJson(response.body),
        }
      }
      return { ...mailbox, app, get }
    }

    it('lists, pages and filters the messages of the folder', async () => {
      const { get, box } = await served({
        before: async (box) => {
          await box.deliver('a', 'b', 'c', 'd', 'e')
          await box.flag('a', '\\Seen')
        },
      })
      const first = (await get('/messages?limit=2')).json
      expect(first.pagination).toMatchObject({
        page: 1,
        limit: 2,
        total: 5,
        totalPages: 3,
        hasNext: true,
        hasPrev: false,
      })
      expect(first.messages[0]).toMatchObject({
        folder: 'INBOX',
        provider: 'imap',
        labelIds: [expect.stringMatching(/^lbl_/)],
      })
      for (const { providerMessageId, labelIds } of first.messages) {
        expect(providerMessageId).toMatch(new RegExp(`^${labelIds[0]}\\.\\d+\\.\\d+$`))
      }
      await expectForgeriesRefused(first.pagination.nextCursor, async (query) => {
        const { status, json } = await get(`/messages?limit=2&${query}`)
        return { status, body: json }
      })
      const seen = [...first.messages]
      for (let cursor = first.pagination.nextCursor; cursor !== undefined; ) {
        await box.deliver(`later-${seen.length}`)
        const next = (await get(`/messages?limit=2&cursor=${cursor}`)).json
        seen.push(...next.messages)
        cursor = next.pagination.nextCursor
      }
      expect(seen.map((message) => message.subject).sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect((await get('/messages?page=2&maxResults=2')).json.messages).toHaveLength(2)
      expect((await get('/messages?unread=false')).json).toMatchObject({
        messages: [{ subject: 'a', unread: false }],
        pagination: { total: 1 },
      })
      const [label] = first.messages[0].labelIds
      for (const query of [`labelId=${label}`, 'labelId=INBOX', 'mailbox=inbox']) {
        expect((await get(`/messages?${query}&before=2000-01-01T00:00:00Z`)).json.pagination.total).toBe(0)
        expect((await get(`/messages?${query}&after=2000-01-01T00:00:00Z`)).json.pagination.total).toBeGreaterThan(4)
      }
    })

    it('reads a folder that is not synced live, with permanent message ids', async () => {
      const { get, box, events } = await served({
        before: async (box) => {
          await box.put('Archive/2020', 'x1', 'x2', 'x3')
        },
      })
      const path = encodeURIComponent('Archive/2020')
      const first = (await get(`/messages?mailbox=${path}&limit=2`)).json
      expect(first.messages.map((message: { subject: string }) => message.subject)).toEqual(['x3', 'x2'])
      expect(first.pagination).toMatchObject({ total: 3, hasNext: true })
      const second = (await get(`/messages?mailbox=${path}&limit=2&cursor=${first.pagination.nextCursor}`)).json
      expect(second.messages).toMatchObject([{ subject: 'x1', folder: 'Archive/2020' }])
      await expectForgeriesRefused(first.pagination.nextCursor, async (query) => {
        const { status, json } = await get(`/messages?mailbox=${path}&limit=2&${query}`)
        return { status, body: json }
      })
      expect((await get(`/messages?mailbox=${path}&limit=2&page=2`)).json.messages).toMatchObject([{ subject: 'x1' }])
      const again = (await get(`/messages?mailbox=${path}`)).json.messages
      expect(again.map((message: { id: string }) => message.id).slice(0, 2)).toEqual(
        first.messages.map((message: { id: string }) => message.id),
      )
      expect((await get(`/messages/${again[0].id}`)).json).toMatchObject({
        subject: 'x3',
        body: { text: expect.any(String) },
      })
      await box.renumber('Archive/2020', 2_100_000_000)
      const after = (await get(`/messages?mailbox=${path}`)).json.messages
      expect(after.map((message: { id: string }) => message.id)).toEqual(
        again.map((message: { id: string }) => message.id),
      )
      expect(await events()).toEqual([])
      await box.create('Brandnew')
      expect((await get('/messages?mailbox=Brandnew')).json.pagination.total).toBe(0)
    })

    it('filters a folder that is not synced by a search of the server', async () => {
      const { get } = await served({
        before: async (box) => {
          await box.put('Archive/2020', 'first report', 'second report', 'third "note\\')
        },
      })
      const found = async (query: string) => {
        const { json } = await get(`/messages?mailbox=${encodeURIComponent('Archive/2020')}&${query}`)
        return json.messages.map((message: { subject: string }) => message.subject)
      }
      const words = (text: string) => `q=${encodeURIComponent(text)}`
      expect(await found(words('report'))).toEqual(['second report', 'first report'])
      expect(await found(words('REPORT sec'))).toEqual(['second report'])
      expect(await found('subject=first&from=nobody')).toEqual([])
      expect(await found(words('"note\\'))).toEqual(['third "note\\'])
      for (const text of ['x" ALL "', 'x\r\na OR ALL', ') ALL (', '{3}', 'größe', '会議'])
        expect(await found(words(text))).toEqual([])
      expect(await found('unread=true')).toHaveLength(3)
      expect(await found('unread=false')).toEqual([])
      expect(await found('hasAttachments=true')).toEqual([])
      expect(await found('hasAttachments=false&q=third')).toHaveLength(1)
      const [{ receivedAt }] = (await get(`/messages?mailbox=${encodeURIComponent('Archive/2020')}`)).json.messages
      const next = new Date(Date.parse(receivedAt) + 1000).toISOString()
      expect(await found(`after=${receivedAt}`)).toContain('third "note\\')
      expect(await found(`after=${next}`)).toEqual([])
      expect(await found(`before=${next}`)).toHaveLength(3)
      const path = `/messages?mailbox=${encodeURIComponent('Archive/2020')}&limit=1&q=report`
      const { pagination } = (await get(path)).json
      expect(pagination).toMatchObject({ total: 2, hasNext: true })
      const second = (await get(`${path}&cursor=${pagination.nextCursor}`)).json
      expect(second).toMatchObject({ messages: [{ subject: 'first report' }], pagination: { hasNext: false } })
      expect((await get(`/messages?mailbox=INBOX.x&${words('a')}`)).status).toBe(404)
      expect((await get(`${path.replace('report', 'a+b+c+d+e+f+g+h+i')}`)).status).toBe(400)
    })

    it('returns details, the original and attachments, with headers that stop a browser from running them', async () => {
      const raw = attachmentMail({ messageId: '<files@x>', subject: 'files' })
      const { get, user } = await served({ before: (box) => server.deliverMany(box.user, [raw, mail('plain')]) })
      const list = (await get('/messages?hasAttachments=true')).json.messages
      expect(list).toMatchObject([{ subject: 'files', attachments: [{ filename: 'report.pdf', inline: false }] }])
      const id = list[0].id
      const detail = (await get(`/messages/${id}`)).json
      expect(detail.body.text).toContain('See the attachment.')
      expect(detail.headers).toContainEqual({ name: 'Subject', value: 'files' })
      const source = await get(`/messages/${id}/raw`)
      expect(source.headers).toMatchObject({
        'content-type': 'message/rfc822',
        'content-disposition': expect.stringMatching(/^attachment;/),
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
      })
      expect(source.raw.toString()).toContain('report.pdf')
      const file = await get(`/messages/${id}/attachments/${list[0].attachments[0].id}`)
      expect(file.headers).toMatchObject({ 'content-type': 'application/pdf', 'content-security-policy': 'sandbox' })
      expect(file.raw.toString()).toBe('%PDF-1.4 not really')
      expect((await get(`/messages/${id}/attachments/77`)).status).toBe(404)
      await server.doveadm('expunge', '-u', user, 'mailbox', 'INBOX', 'all')
      await eventually(async () => expect((await get(`/messages/${id}`)).status).toBe(404))
    })

    it('sends ranges of the original and of attachments', async () => {
      const content = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7) % 251))
      const files = [{ filename: 'a.bin', contentType: 'application/octet-stream', content }]
      const raw = attachmentMail({ subject: 'files', attachments: files })
      const before: SyncedMailboxOptions['before'] = (box) => server.deliverMany(box.user, [raw])
      const { app, get, accountId } = await served({ before })
      const [{ id, attachments }] = (await get('/messages')).json.messages
      const source = (await get(`/messages/${id}/raw`)).raw
      const file = `/messages/${id}/attachments/${attachments[0].id}`
      for (const [path, whole] of [[`/messages/${id}/raw`, source] as const, [file, content] as const]) {
        const size = whole.length
        const etag = String((await get(path)).headers.etag)
        const send = (headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') => {
          const url = `/accounts/${accountId}${path}`
          return app.inject({ method, url, headers: { authorization: 'Bearer good', ...headers } })
        }
        const shown = async (headers: Record<string, string>) => {
          const { statusCode, headers: sent, rawPayload } = await send(headers)
          expect(sent).toMatchObject({ 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' })
          expect(sent).toMatchObject({
            'accept-ranges': 'bytes',
            etag,
            'content-disposition': expect.stringMatching(/^attachment;/),
          })
          const { 'content-range': range = '', 'content-length': length } = sent
          if (length !== undefined) expect(Number(length)).toBe(rawPayload.length)
          const from = Number(/^bytes (\d+)/.exec(String(range))?.[1] ?? 0)
          expect(rawPayload.equals(whole.subarray(from, from + rawPayload.length))).toBe(true)
          return `${statusCode} ${range} ${rawPayload.length}`.replaceAll('  ', ' ')
        }
        const last = size - 1
        for (const [range, status] of [
          ['bytes=0-0', `206 bytes 0-0/${size} 1`],
          ['bytes=100-299', `206 bytes 100-299/${size} 200`],
          ['bytes=10-', `206 bytes 10-${last}/${size} ${size - 10}`],
          ['bytes=-7', `206 bytes ${size - 7}-${last}/${size} 7`],
          ['bytes=-999999', `206 bytes 0-${last}/${size} ${size}`],
          [`bytes=${last}-99999999999999999999`, `206 bytes ${last}-${last}/${size} 1`],
          ...['bytes=5-4', 'bytes=0-1,5-6', 'bytes=x', 'bytes=-', 'lines=0-1', ''].map((bad) => [bad, `200 ${size}`]),
        ]) {
          expect([range, await shown({ range: range ?? '' })]).toEqual([range, status])
        }
        expect(await shown({ range: 'bytes=0-9', 'if-range': etag })).toBe(`206 bytes 0-9/${size} 10`)
        for (const other of ['"other"', `W/${etag}`, 'Fri, 20 Nov 2026 07:59:57 GMT']) {
          expect(await shown({ range: 'bytes=0-9', 'if-range': other })).toBe(`200 ${size}`)
        }
        for (const range of [`bytes=${size}-`, 'bytes=-0']) {
          const { statusCode, headers, body } = await send({ range })
          expect([statusCode, headers['content-range']]).toEqual([416, `bytes */${size}`])
          expect(JSON.parse(body).error.code).toBe('range_not_satisfiable')
        }
        const head = await send({ range: 'bytes=0-9' }, 'HEAD')
        expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', etag])
        expect(head.headers['content-length']).toBe(String(size))
        const unchanged = await send({ 'if-none-match': `"x", ${etag}` })
        expect([unchanged.statusCode, unchanged.body, unchanged.headers.etag]).toEqual([304, '', etag])
      }
    })

    it('keeps any attachment name, without header injection', async () => {
      const name = '../"50%41 €"\r\nSet-Cookie: a=1\u0000;.pdf'
      const parameter = `filename*=utf-8''${encodeURIComponent(name)}`
      const raw = attachmentMail().toString().replace('filename="report.pdf"', parameter)
      const { get } = await served({ before: (box) => box.deliver(raw) })
      const [message] = (await get('/messages')).json.messages
      const { headers } = await get(`/messages/${message.id}/attachments/${message.attachments[0].id}`)
      expect(headers['set-cookie']).toBeUndefined()
      expect(parse(String(headers['content-disposition']))).toEqual({
        type: 'attachment',
        parameters: expect.objectContaining({ filename: '"50%41 €" Set-Cookie: a=1;.pdf' }),
      })
    })

    it('refuses bad input, unknown objects, a missing key and refused credentials', async () => {
      const { get, service, db, accountId } = await served({ before: (box) => box.deliver('a') })
      for (const query of ['page=0', 'limit=x', 'after=yesterday', 'cursor=nonsense', 'unread=perhaps']) {
        expect(await get(`/messages?${query}`)).toMatchObject({ status: 400, json: { error: { type: 'api' } } })
      }
      const { nextCursor } = (await get('/messages?limit=1')).json.pagination
      expect(nextCursor).toBeUndefined()
      for (const path of [
        '/messages?mailbox=Nowhere',
        '/messages?labelId=lbl_0',
        '/messages/msg_0',
        '/messages/msg_0/raw',
      ]) {
        expect(await get(path)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } })
      }
      expect((await get('/messages', '')).status).toBe(401)
      const [message] = (await get('/messages')).json.messages
      await db.transaction((tx) => service.accounts.setStatus(tx, accountId, 'auth_error', 'refused'))
      expect(await get(`/messages/${message.id}`)).toMatchObject({
        status: 502,
        json: { error: { code: 'provider_rejected', type: 'provider' } },
      })
    })

    it('lists user folders, and system folders with includeSystem', async () => {
      const { get } = await served({ before: (box) => box.create('Projekte').then() })
      await eventually(async () => {
        expect((await get('/labels')).json.labels).toMatchObject([
          { name: 'Projekte', displayName: 'Projekte', type: 'user' },
        ])
      })
      const all = (await get('/labels?includeSystem=true')).json
      expect(all.labels.map((label: { role: string | null }) => label.role)).toEqual(
        expect.arrayContaining(['inbox', 'sent', 'drafts', 'trash', 'junk', null]),
      )
    })
  })
})

function parseJson(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
