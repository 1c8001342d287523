import { randomFillSync } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import PostalMime, { decodeWords } from 'postal-mime'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveToLoopback } from '../../../../test/kit/service/composition.ts'
import { attachmentMail, plainMail } from '../../../../test/servers/messages.ts'
import { microsoftMailbox } from '../../../../test/servers/microsoft-mailbox.ts'
import { addressGuard } from '../../../platform/net/index.ts'
import type { OutboundDeps } from '../../../platform/outbound/index.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { sendingConformance } from '../../conformance/sending.ts'
import type { QueuedMessage } from '../../contract/index.ts'
import { composeMessage, type OutgoingMessage } from '../../shared/mime/index.ts'

const never = new AbortController().signal
const BOB = 'bob@example.test'
let count = 0

sendingConformance('Graph', async () => {
  const { graph, user, access, sending, mail, stop } = await microsoftMailbox()
  const at = { on: /\/send$/ }
  return {
    email: user,
    open: () => sending.open(access),
    submitted: () => graph.sent.map(({ raw, recipients }) => ({ raw, recipients: [...recipients] })),
    refuse(how) {
      graph.fail(how === 'permanent' ? { as: 'missing-scope', ...at } : { as: 'rate-limited', retryAfter: 60, ...at })
    },
    heal: () => mail.endPause(access.accountId),
    loseResponse: () => graph.fail({ as: 'reset', executes: true, ...at }),
    copies: async () =>
      graph.messages(user).filter(({ folderId }) => folderId === graph.folderId(user, 'sentitems')).length,
    stop,
  }
})

describe('messages of a mailbox at Graph', () => {
  async function opened(uploads?: Partial<OutboundDeps>) {
    const box = await microsoftMailbox(uploads)
    const { graph, user, access, sending } = box
    onTestFinished(() => box.stop())
    const sender = sending.open(access)
    const drafts: string[] = []
    const commits: (string | null)[] = []
    const steps = {
      onDraft: async (id: string) => void drafts.push(id),
      onCommit: async ({ providerMessageId }: { providerMessageId: string | null }) =>
        void commits.push(providerMessageId),
    }
    const compose = (more: Composed = {}) => composed(user, more)
    return {
      ...box,
      sender,
      steps,
      drafts,
      commits,
      compose,
      send: async (more: Composed = {}) => sender.send(await compose(more), steps, never),
      inFolder: (name: string) =>
        graph.messages(user).filter(({ folderId }) => folderId === graph.folderId(user, name)),
      async call(path: string) {
        const headers = { authorization: `Bearer ${await access.accessToken?.()}`, prefer: 'IdType="ImmutableId"' }
        return (await (await fetch(`${graph.url}/v1.0/me/messages/${path}`, { headers })).json()) as {
          conversationId: string
          internetMessageId: string
        }
      },
    }
  }

  it('moves the draft to Sent under its id, delivers it byte for byte, and hides Bcc', async () => {
    const { graph, drafts, commits, inFolder, compose, sender, steps } = await opened()
    graph.addUser(BOB)
    const message = await compose({ html: '<p>Grüße</p>', bcc: ['eve@example.test'] })
    const [bytes] = await collect(message)
    expect(await sender.send(message, steps, never)).toMatchObject({ sent: true, providerMessageId: drafts[0] })
    expect(commits).toEqual(drafts)
    expect(inFolder('sentitems').map(({ id }) => id)).toEqual(drafts)
    expect(inFolder('drafts')).toEqual([])
    expect(graph.sent[0]?.recipients).toEqual([BOB, 'eve@example.test'])
    expect(graph.sent[0]?.raw).toBe(bytes?.toString('latin1').replace(/^X-Posthorn-Id:.*\r\n/m, ''))
    expect(graph.sent[0]?.raw).not.toContain('eve@')
    expect(graph.messages(BOB)).toMatchObject([{ subject: 'Hello', folderId: graph.folderId(BOB, 'inbox') }])
  })

  it('delivers header fields that begin with X-, and keeps the Message-ID', async () => {
    const { graph, send, drafts, call } = await opened()
    graph.replacesMessageIds = true
    expect(await send({ headers: [{ name: 'X-Campaign', value: 'über uns' }] })).toMatchObject({ sent: true })
    const { headers, messageId } = await PostalMime.parse(graph.sent[0]?.raw ?? '')
    expect(decodeWords(headers.find(({ key }) => key === 'x-campaign')?.value ?? '')).toBe('über uns')
    expect(messageId).toBe(`<s${count}@example.test>`)
    expect(await call(drafts[0] ?? '')).toMatchObject({ internetMessageId: messageId })
  })

  it.each([100, 3_200_000])('replies in the conversation, also with %i bytes attached', async (size) => {
    const { graph, user, send, drafts, call } = await opened()
    const logo = {
      filename: 'old.png',
      contentType: 'image/png',
      content: Buffer.from('old'),
      inline: true,
      contentId: 'old',
    }
    const replied = await graph.deliver(user, attachmentMail({ messageId: '<q1@x>', attachments: [logo] }))
    const content = randomFillSync(Buffer.alloc(size))
    const sent = await send({
      repliesTo: replied,
      inReplyTo: '<q1@x>',
      references: ['<q0@x>', '<q1@x>'],
      subject: 'Re: Hello',
      html: '<p>Yes</p><img src="cid:logo">',
      attachments: [
        { filename: 'größe.bin', contentType: 'application/x-test', content, contentId: null },
        { filename: 'logo.png', contentType: 'image/png', content: Buffer.from('png'), contentId: 'logo' },
      ],
    })
    expect(sent).toMatchObject({ sent: true })
    expect(graph.sent[0]?.recipients).toEqual([BOB])
    expect((await call(drafts[0] ?? '')).conversationId).toBe((await call(replied)).conversationId)
    const mail = await PostalMime.parse(graph.sent[0]?.raw ?? '')
    expect(mail).toMatchObject({ subject: 'Re: Hello', inReplyTo: '<q1@x>', references: '<q0@x> <q1@x>' })
    expect(mail.to).toMatchObject([{ address: BOB }])
    expect(mail.html?.trim()).toBe('<p>Yes</p><img src="cid:logo">')
    const files = mail.attachments.map((file) => [file.filename, file.contentId ?? null, file.content])
    const readBytes = (name: string) => Buffer.from(files.find(([fileName]) => fileName === name)?.[2] as ArrayBuffer)
    expect(files.map(([name, contentId]) => [name, contentId])).toEqual(
      expect.arrayContaining([
        ['größe.bin', null],
        ['logo.png', '<logo>'],
      ]),
    )
    expect(files).toHaveLength(2)
    expect(readBytes('größe.bin').equals(content)).toBe(true)
    expect(readBytes('logo.png').toString()).toBe('png')
  })

  it.each(['deleted', 'a draft'])('sends a reply whose original is %s', async (how) => {
    const { graph, user, send } = await opened()
    const replied = await graph.deliver(user, plainMail({ messageId: '<q1@x>' }), { draft: how === 'a draft' })
    if (how === 'deleted') graph.delete(user, replied)
    expect(await send({ repliesTo: replied, inReplyTo: '<q1@x>' })).toMatchObject({ sent: true })
    expect(graph.sent[0]?.raw).toContain('In-Reply-To: <q1@x>')
  })

  it('refuses a text that no request can hold, and leaves no draft', async () => {
    const { graph, user, send } = await opened()
    expect(await send({ text: 'x'.repeat(4_200_000) })).toMatchObject({ sent: false, retry: false })
    expect(graph.messages(user)).toEqual([])
  })

  it('leaves no draft when a step fails or the message is refused', async () => {
    const { graph, user, sender, steps, send, compose, drafts } = await opened()
    const failure = new Error('not stored')
    const failing = { ...steps, onDraft: () => Promise.reject(failure) }
    await expect(sender.send(await compose(), failing, never)).rejects.toBe(failure)
    await expect(
      sender.send(await compose(), { ...steps, onCommit: () => Promise.reject(failure) }, never),
    ).rejects.toBe(failure)
    graph.fail({ as: 'missing-scope', on: /\/send$/ })
    expect(await send()).toMatchObject({ sent: false, retry: false })
    graph.fail({ as: 'server-error', on: /createUploadSession/ })
    const content = Buffer.alloc(3_200_000)
    const file = { filename: 'a', contentType: 'application/x-test', content, contentId: null }
    expect(await send({ attachments: [file] })).toMatchObject({ sent: false, retry: true })
    expect(graph.messages(user)).toEqual([])
    expect(graph.sent).toEqual([])
    expect(drafts).toHaveLength(3)
  })

  it('replaces what an earlier attempt left, and never sends what it sent', async () => {
    const { graph, user, sender, steps, compose, commits, inFolder } = await opened()
    const left = await compose()
    const [raw = Buffer.alloc(0)] = await collect(left)
    const orphan = () => graph.deliver(user, raw, { folder: 'drafts', draft: true })
    await orphan()
    const originalDraftId = await orphan()
    expect(await sender.send({ ...left, mayHaveDraft: true, originalDraftId }, steps, never)).toMatchObject({
      sent: true,
    })
    expect(inFolder('drafts')).toMatchObject([{ id: originalDraftId }])
    await graph.delete(user, originalDraftId)
    const again = { ...left, earlierDraftId: commits[0] ?? '' }
    expect(await sender.send(again, steps, never)).toMatchObject({ sent: true, providerMessageId: commits[0] })
    expect(await sender.send({ ...left, mayHaveDraft: true }, steps, never)).toMatchObject({ sent: true })
    expect(graph.sent).toHaveLength(1)
    expect(commits).toEqual([commits[0], commits[0], null])
    const unrelated = { ...(await compose()), earlierDraftId: await orphan() }
    expect(await sender.send(unrelated, steps, never)).toMatchObject({ sent: true })
    expect(inFolder('drafts')).toEqual([])
    expect(graph.sent).toHaveLength(2)
    const interrupted = await compose()
    const [bytes = Buffer.alloc(0)] = await collect(interrupted)
    const [knownId, unknown] = [0, 1].map(() => graph.deliver(user, bytes, { folder: 'drafts', draft: true }))
    const next = { ...interrupted, mayHaveDraft: true, earlierDraftId: (await knownId) ?? null }
    await unknown
    expect(await sender.send(next, steps, never)).toMatchObject({ sent: true })
    expect(inFolder('drafts')).toEqual([])
  })

  it('takes a message for sent that Graph sends although it reports to be busy', async () => {
    const { graph, mail, access, sender, steps, compose, send, commits } = await opened()
    graph.fail({ as: 'missing-scope', executes: true, on: /\/send$/ })
    expect(await send()).toMatchObject({ sent: true })
    const message = await compose()
    graph.fail({ as: 'rate-limited', retryAfter: 60, executes: true, on: /\/send$/ })
    expect(await sender.send(message, steps, never)).toMatchObject({ sent: false, retry: true })
    mail.endPause(access.accountId)
    const again = { ...message, earlierDraftId: commits[1] ?? null }
    expect(await sender.send(again, steps, never)).toMatchObject({ sent: true, providerMessageId: commits[1] })
    expect(graph.sent).toHaveLength(2)
  })

  it('finds a sent message in a mailbox that cannot serve large pages', async () => {
    const { sender, steps, graph, user, compose, commits } = await opened()
    graph.limitPages(user, 5)
    const message = await compose()
    expect(await sender.send(message, steps, never)).toMatchObject({ sent: true })
    const again = { ...message, mayHaveDraft: true }
    expect(await sender.send(again, steps, never)).toMatchObject({ sent: true })
    expect(commits).toHaveLength(2)
    expect(graph.sent).toHaveLength(1)
  })

  it('finds a message of unknown outcome by its id, and discards drafts only', async () => {
    const { sender, steps, graph, user, compose, commits, inFolder } = await opened()
    const message = await compose()
    graph.fail({ as: 'reset', on: /\/send$/ })
    await expect(sender.send(message, steps, never)).rejects.toMatchObject({ kind: 'unavailable' })
    const ref = { ...message, sentToken: 'x', providerMessageId: commits[0] ?? null, committedAt: Date.now() }
    expect(await sender.wasSent(ref, never)).toBe(false)
    await graph.move(user, commits[0] ?? '', 'archive')
    await sender.discard?.(ref, never)
    await sender.discard?.(ref, never)
    expect(graph.messages(user)).toEqual([])
    graph.fail({ as: 'reset', executes: true, on: /\/send$/ })
    await expect(sender.send(message, steps, never)).rejects.toMatchObject({ kind: 'unavailable' })
    const lost = { ...ref, providerMessageId: commits[1] ?? null }
    expect(await sender.wasSent(lost, never)).toBe(true)
    await sender.discard?.(lost, never)
    expect(inFolder('sentitems')).toHaveLength(1)
  })

  it('uploads to hosts of Outlook only, without the token of the mailbox', async () => {
    const received: [authorization: string | undefined, range: string | undefined][] = []
    const pem = await generate([{ name: 'commonName', value: 'outlook.office.com' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'outlook.office.com' }] }],
    })
    const outlook = createServer({ key: pem.private, cert: pem.cert }, (req, res) => {
      received.push([req.headers.authorization, req.headers['content-range']])
      req
        .resume()
        .on('end', () => res.writeHead(received.length < 2 ? 200 : 201).end(received.length < 2 ? PROGRESS : ''))
    })
    await new Promise<void>((resolve) => outlook.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void outlook.close())
    const guard = addressGuard({ privateTargets: 'loopback', resolve: resolveToLoopback, clock: systemClock })
    const { graph, sender, steps, compose } = await opened({ guard, ca: pem.cert })
    const content = Buffer.alloc(4_000_000)
    const file = { filename: 'a', contentType: 'application/x-test', content, contentId: null }
    const message = await compose({ attachments: [file] })
    const send = () => sender.send(message, steps, never)
    const { port } = outlook.address() as AddressInfo
    for (const origin of ['https://outlook.office.com.example', 'http://outlook.office.com', 'https://127.0.0.1']) {
      graph.uploadOrigin = `${origin}:${port}`
      const refused = await send()
      expect(refused).toMatchObject({ sent: false, error: { message: expect.stringContaining('another host') } })
      expect(JSON.stringify(refused)).not.toContain('authtoken')
    }
    expect(received).toEqual([])
    graph.uploadOrigin = `https://outlook.office.com:${port}`
    expect(await send()).toMatchObject({ sent: true })
    expect(received).toEqual([
      [undefined, 'bytes 0-3932159/4000000'],
      [undefined, 'bytes 3932160-3999999/4000000'],
    ])
  })
})

const PROGRESS = JSON.stringify({ NextExpectedRanges: ['3932160'] })

type Composed = Partial<Omit<OutgoingMessage, 'bcc'>> & { repliesTo?: string; bcc?: string[] }

async function composed(email: string, { repliesTo, bcc = [], ...more }: Composed): Promise<QueuedMessage> {
  count += 1
  const rfcMessageId = `<s${count}@example.test>`
  const content = await composeMessage({
    from: { name: '', email },
    to: [{ name: 'Bob', email: BOB }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Hello',
    text: more.html === undefined ? 'Hello Bob' : null,
    html: null,
    attachments: [],
    headers: [],
    messageId: rfcMessageId,
    inReplyTo: null,
    references: [],
    date: Date.now(),
    sentToken: `token${count}`,
    ...more,
  })
  return {
    from: email,
    recipients: [BOB, ...bcc],
    rfcMessageId,
    repliesTo: repliesTo ?? null,
    to: [{ name: 'Bob', email: BOB }],
    cc: [],
    bcc,
    sizeBytes: content.length,
    earlierDraftId: null,
    mayHaveDraft: false,
    originalDraftId: null,
    async *bytes() {
      yield content
    },
  }
}

async function collect(message: QueuedMessage): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  for await (const chunk of message.bytes()) chunks.push(chunk)
  return chunks
}
