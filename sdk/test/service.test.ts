import {
  BadRequestError,
  ConflictError,
  type Event,
  NotFoundError,
  Posthorn,
  WebhookVerificationError,
  webhooks,
} from '@posthorn/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { dovecotAvailable } from '../../test/servers/dovecot.ts'
import type { Received } from '../../test/servers/receiver.ts'
import { type Stage, startStage } from './stage.ts'

const SUBJECTS = ['one', 'two', 'three', 'four', 'five']

describe.skipIf(!dovecotAvailable())('the client of a running service', () => {
  let stage: Stage
  let posthorn: Posthorn
  let accountId: string
  beforeAll(async () => {
    stage = await startStage(SUBJECTS)
    posthorn = stage.posthorn
    accountId = stage.accountId
  })
  afterAll(() => stage?.close())

  /** A request to the application. */
  function received(index: number): Received {
    const request = stage.receiver.requests[index]
    if (request === undefined) throw new Error('not yet')
    return request
  }

  it('reads a list page by page, and all its items in one loop', async () => {
    const first = await posthorn.messages.list(accountId, { limit: 2 })
    expect(first.items.map(({ subject }) => subject)).toEqual(['five', 'four'])
    const second = await first.next()
    expect([second?.items.length, second?.hasNext, second?.pagination.hasPrev]).toEqual([2, true, true])
    const third = await second?.next()
    expect([third?.items.length, third?.hasNext, await third?.next()]).toEqual([1, false, undefined])

    const subjects: string[] = []
    for await (const { subject } of posthorn.messages.list(accountId, { limit: 2 })) subjects.push(subject)
    expect(subjects).toEqual([...SUBJECTS].reverse())
    expect((await posthorn.messages.list(accountId, { q: 'three', limit: undefined })).items).toHaveLength(1)
  })

  it('stops a loop over a list when the signal aborts', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const seen: string[] = []
    const loop = async () => {
      for await (const { id } of posthorn.messages.list(accountId, { limit: 2 }, { signal: controller.signal })) {
        if (seen.push(id) === 2) controller.abort(reason)
      }
    }
    await expect(loop()).rejects.toBe(reason)
    expect(seen).toHaveLength(2)
  })

  it('throws errors of their own kind, with the fields of the response', async () => {
    const list = posthorn.messages.list(accountId, { after: 'yesterday' })
    const error = await list.then(undefined, (caught: unknown) => caught)
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, code: 'validation_failed', type: 'api', field: 'query.after' })
    expect((error as BadRequestError).requestId).toMatch(/^req_/)
    await expect(posthorn.messages.get(accountId, 'msg_none')).rejects.toThrow(NotFoundError)
    const stranger = new Posthorn({ baseUrl: stage.service.url, apiKey: 'wrong' })
    await expect(stranger.accounts.list()).rejects.toMatchObject({ name: 'AuthenticationError', status: 401 })
  })

  it('changes a message and a draft, and refuses a stale version with the object as it is now', async () => {
    const { items } = await posthorn.messages.list(accountId, { limit: 1 })
    const message = await posthorn.messages.update(accountId, items[0]?.id ?? '', { starred: true })
    expect(message.starred).toBe(true)
    const draft = await posthorn.drafts.create({
      accountId,
      to: ['ar@northwind.example'],
      subject: 'Offer',
      body: 'For you.',
    })
    const changed = await posthorn.drafts.update(
      draft.id,
      { subject: 'Better offer' },
      { ifMatch: String(draft.version) },
    )
    const stale = posthorn.drafts.update(draft.id, { subject: 'Offer' }, { ifMatch: String(draft.version) })
    const error = await stale.catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ConflictError)
    expect(error).toMatchObject({ current: { id: draft.id, version: changed.version, subject: 'Better offer' } })
    await posthorn.drafts.delete(draft.id)
  })

  it('sends a message once for one idempotency key', async () => {
    const message = { to: ['ar@northwind.example'], subject: 'Once', body: 'Hello' }
    const options = { idempotencyKey: 'order-4711' }
    const [first, second] = [
      await posthorn.messages.send(accountId, message, options),
      await posthorn.messages.send(accountId, message, options),
    ]
    expect(second.outboxId).toBe(first.outboxId)
    expect((await posthorn.messages.send(accountId, message)).outboxId).not.toBe(first.outboxId)
  })

  it('uploads files from memory and as streams, and downloads them as streams', async () => {
    const large = new Uint8Array(3 * 1024 * 1024).map((_byte, index) => (index * 7919) >> 8)
    const { outboxId, result } = await posthorn.messages.send(
      accountId,
      { to: ['ar@northwind.example'], subject: 'Files', body: 'Attached.' },
      {
        files: {
          contract: new File(['%PDF-1.4 contract'], 'contrat signé.pdf', { type: 'application/pdf' }),
          notes: { content: 'some notes', filename: 'notes.txt' },
          scan: { content: streamOf(large), filename: 'scan, page 1.bin' },
        },
      },
    )
    await eventually(async () => (await posthorn.outbox.get(outboxId)).status === 'sent')
    const sent = await eventually(() => posthorn.messages.get(accountId, result.messageId))
    expect(sent.attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      ['contrat signé.pdf', 'application/pdf'],
      ['notes.txt', 'text/plain'],
      ['scan, page 1.bin', 'application/octet-stream'],
    ])
    const [contract, , scan] = sent.attachments
    const response = await posthorn.attachments.download(accountId, sent.id, scan?.id ?? '')
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), large)).toBe(0)
    const range = { range: 'bytes=0-7' }
    const part = await posthorn.attachments.download(accountId, sent.id, contract?.id ?? '', range)
    expect([part.status, await part.text()]).toEqual([206, '%PDF-1.4'])
    const raw = await posthorn.messages.download(accountId, sent.id)
    const reader = raw.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toMatch(/^[\w-]+: /)
    await reader?.cancel()
  })

  it('fails at once when the stream of an upload fails, without another attempt', async () => {
    let reads = 0
    const broken = new ReadableStream<Uint8Array>({
      pull(target) {
        reads += 1
        target.error(new Error('the disk is gone'))
      },
    })
    const message = { to: ['ar@northwind.example'], subject: 'Broken', body: '' }
    const sending = posthorn.messages.send(accountId, message, { files: { scan: { content: broken } } })
    await expect(sending).rejects.toThrow('the disk is gone')
    expect(reads).toBe(1)
  })

  it('verifies the deliveries of the service, with the old and the new secret after a rotation', async () => {
    const endpoint = await posthorn.endpoints.create({ url: stage.receiver.url, eventTypes: ['message.received'] })
    const secret = endpoint.secret ?? ''
    await stage.deliver('news')
    const first = await eventually(() => received(0))
    const event = await webhooks.verify(first.body, first.headers, secret)
    if (event.type !== 'message.received') throw new Error(event.type)
    expect(event.data.subject).toBe('news')

    await posthorn.endpoints.update(endpoint.id, { secret: 'a secret of the application' })
    await posthorn.endpoints.test(endpoint.id)
    const second = await eventually(() => received(1))
    const headers = new Headers(second.headers as Record<string, string>)
    const body = new TextEncoder().encode(second.body)
    for (const secrets of [secret, 'a secret of the application', ['whsec_AAAA', secret]]) {
      expect((await webhooks.verify(body, headers, secrets)).type).toBe('webhook.test')
    }
    await expect(webhooks.verify(body, headers, 'whsec_AAAA')).rejects.toThrow(WebhookVerificationError)
    await posthorn.endpoints.delete(endpoint.id)
  })

  it('streams events, and misses none while the service restarts', async () => {
    const controller = new AbortController()
    const subjects: string[] = []
    const states: string[] = []
    const options = {
      signal: controller.signal,
      onOpen: () => void states.push('open'),
      onInterruption: () => void states.push('interrupted'),
    }
    const reading = collect(posthorn.events.stream({ type: 'message.received' }, options), subjects)
    await eventually(() => states.includes('open'))
    await stage.deliver('before')
    await eventually(() => subjects.length === 1)
    await stage.restart()
    await stage.deliver('after')
    await eventually(() => subjects.length === 2)
    expect(subjects).toEqual(['before', 'after'])
    expect([states.at(0), states.at(1), states.at(-1)]).toEqual(['open', 'interrupted', 'open'])
    controller.abort(new Error('done'))
    await expect(reading).rejects.toThrow('done')
  })

  it('ends a stream with its loop, continues after an event, and throws when the service refuses it', async () => {
    const { items } = await posthorn.events.list({ type: 'message.received', order: 'asc', since: '0' })
    const [first, second] = items
    for await (const event of posthorn.events.stream(
      { type: 'message.received' },
      { lastEventId: String(first?.position) },
    )) {
      expect(event.id).toBe(second?.id)
      break
    }
    await expect(posthorn.events.stream({ since: 'yesterday' }).next()).rejects.toThrow(BadRequestError)
  })
})

async function collect(events: AsyncIterable<Event>, subjects: string[]): Promise<void> {
  for await (const event of events) if (event.type === 'message.received') subjects.push(event.data.subject)
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let position = 0
  return new ReadableStream({
    pull(target) {
      if (position >= bytes.length) return target.close()
      target.enqueue(bytes.subarray(position, position + 65_536))
      position += 65_536
    },
  })
}
