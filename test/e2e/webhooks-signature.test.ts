import { expect, it, onTestFinished } from 'vitest'
import { generateSigningSecret, webhookHeaders } from '../../src/platform/crypto/signature.ts'
import { closing } from '../kit/closing.ts'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { startService } from '../kit/service/service.ts'
import { LIBRARIES, type Received, startReceiver, verifier, verifyWith } from '../servers/receiver.ts'

/** Test vector of the Standard Webhooks specification: https://github.com/standard-webhooks/standard-webhooks */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

const SECRETS = {
  'a generated secret': undefined,
  'a given secret in base64': 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'a given secret in plain text': 'correct horse battery stäple',
}

it('signs the published test vector like each library', () => {
  const { secret, id, timestamp, body, signature } = VECTOR
  expect(webhookHeaders({ id, timestamp, body, secrets: [secret] })['webhook-signature']).toBe(signature)
  for (const library of LIBRARIES) {
    expect(verifier(library, secret).sign(id, new Date(timestamp * 1000), body)).toBe(signature)
  }
})

describeOneDatabase('signatures of a running service', 'postgres', (open) => {
  async function serve(): Promise<Api> {
    const service = await startService({ place: await open.place() })
    onTestFinished(service.stop)
    return api(service.url, service.key)
  }

  const receiverFor = async () => closing(await startReceiver())

  /** Causes `webhook.endpoint_disabled`: an endpoint returns 410, and the others receive the event. */
  async function causeEvent(client: Api): Promise<void> {
    const disabled = await receiverFor()
    disabled.always({ status: 410 })
    const endpoint = (await client.post('/webhooks/endpoints', { url: disabled.url, eventTypes: ['account.deleted'] }))
      .json
    expect((await client.post(`/webhooks/endpoints/${endpoint.id}/test`)).json).toMatchObject({ responseStatus: 410 })
  }

  async function deliveryThat(client: Api, endpointId: string, expected: object) {
    return eventually(async () => {
      const { json } = await client.get(
        `/webhooks/deliveries?endpointId=${endpointId}&eventType=webhook.endpoint_disabled`,
      )
      expect(json.deliveries[0]).toMatchObject(expected)
      return json.deliveries[0]
    })
  }

  it.each(Object.entries(SECRETS))('every delivery, retry and replay verifies with %s', async (_name, configured) => {
    const [client, receiver] = [await serve(), await receiverFor()]
    const created = (
      await client.post('/webhooks/endpoints', {
        url: receiver.url,
        eventTypes: ['webhook.*'],
        retryCount: 2,
        retryDelayMs: 1100,
        ...(configured !== undefined && { secret: configured }),
      })
    ).json
    const secret: string = configured ?? created.secret
    await client.post(`/webhooks/endpoints/${created.id}/test`)
    receiver.script({ status: 500 }, 'reset', { status: 503 })
    await causeEvent(client)
    const failed = await deliveryThat(client, created.id, { status: 'failed', attempt: 3 })
    // Replay the failed delivery, then the succeeded one.
    for (const attempt of [4, 5]) {
      expect((await client.post(`/webhooks/deliveries/${failed.id}/retry`)).status).toBe(200)
      await deliveryThat(client, created.id, { status: 'success', attempt })
    }

    const [test, ...event] = receiver.requests
    expect(event).toHaveLength(5)
    for (const request of receiver.requests) {
      for (const library of LIBRARIES) expect(verifyWith(library, secret, request)).toEqual(JSON.parse(request.body))
    }
    expect(test?.headers['webhook-id']).toBe(JSON.parse(test?.body ?? '').id)
    expect(new Set(event.map(({ body }) => body)).size).toBe(1)
    expect(new Set(event.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([failed.eventId]))
    const times = event.slice(0, 3).map(({ headers }) => headers['webhook-timestamp'])
    expect(new Set(times).size).toBe(3)
  })

  it('a recovered delivery verifies, and fails when modified', async () => {
    const [client, receiver] = [await serve(), await receiverFor()]
    const since = new Date().toISOString()
    const { id, secret } = (
      await client.post('/webhooks/endpoints', { url: receiver.url, eventTypes: ['webhook.*'], retryCount: 0 })
    ).json
    receiver.script({ status: 500 })
    await causeEvent(client)
    const failed = await deliveryThat(client, id, { status: 'failed' })
    // An inactive endpoint gets no deliveries until a recovery.
    await client.put(`/webhooks/endpoints/${id}`, { isActive: false })
    await causeEvent(client)
    const missed = await eventually(async () => {
      const { json } = await client.get('/events?type=webhook.endpoint_disabled')
      return json.events.find((event: { id: string }) => event.id !== failed.eventId) ?? false
    })
    await client.put(`/webhooks/endpoints/${id}`, { isActive: true })
    const recovery = await client.post(`/webhooks/endpoints/${id}/recover`, { since })
    expect(recovery.json).toMatchObject({ recovered: 2, complete: true })
    const [first, ...recovered] = await eventually(() => {
      expect(receiver.requests).toHaveLength(3)
      return receiver.requests
    })
    expect(new Set(recovered.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([failed.eventId, missed.id]))
    for (const request of recovered) expectTamperProof(secret, request)
    const again = recovered.find(({ headers }) => headers['webhook-id'] === failed.eventId)
    expect(again?.body).toBe(first?.body)
    // Retry the recovered deliveries once their results are stored: a retry does not change one in flight.
    const deliveries = await eventually(async () => {
      const { json } = await client.get(`/webhooks/deliveries?endpointId=${id}&status=success`)
      expect(json.deliveries).toHaveLength(2)
      return json.deliveries
    })
    for (const delivery of deliveries) {
      expect(delivery.trigger).toBe('recover')
      expect((await client.post(`/webhooks/deliveries/${delivery.id}/retry`)).status).toBe(200)
    }
    const repeated = await eventually(() => {
      expect(receiver.requests).toHaveLength(5)
      return receiver.requests.slice(3)
    })
    for (const request of repeated) expectTamperProof(secret, request)
  })

  it('an attempt fails to verify when any part is modified, or with another secret', async () => {
    const [client, receiver] = [await serve(), await receiverFor()]
    const { id, secret } = (await client.post('/webhooks/endpoints', { url: receiver.url })).json
    await client.post(`/webhooks/endpoints/${id}/test`)
    const [request] = receiver.requests
    if (request === undefined) throw new Error('no request arrived')
    expectTamperProof(secret, request)
    for (const other of [
      generateSigningSecret(),
      `${secret.slice(0, -2)}AA`,
      'a text',
      secret.slice('whsec_'.length),
    ]) {
      for (const library of LIBRARIES) {
        expect(() => verifyWith(library, other, request), `${library} accepts the secret ${other}`).toThrow()
      }
    }
  })

  it('both secrets verify after a rotation, and null ends signing', async () => {
    const [client, receiver] = [await serve(), await receiverFor()]
    const { id, secret: first } = (await client.post('/webhooks/endpoints', { url: receiver.url })).json
    const second = generateSigningSecret()
    await client.put(`/webhooks/endpoints/${id}`, { secret: second })
    await client.post(`/webhooks/endpoints/${id}/test`)
    await client.put(`/webhooks/endpoints/${id}`, { secret: null })
    await client.post(`/webhooks/endpoints/${id}/test`)
    const [signed, unsigned] = receiver.requests
    if (signed === undefined) throw new Error('no request arrived')
    for (const library of LIBRARIES) {
      for (const secret of [first, second]) verifyWith(library, secret, signed)
      expect(() => verifyWith(library, generateSigningSecret(), signed)).toThrow()
    }
    expect(unsigned?.headers).toMatchObject({ 'webhook-id': expect.anything(), 'webhook-timestamp': expect.anything() })
    expect(unsigned?.headers['webhook-signature']).toBeUndefined()
  })
})

/** Both libraries accept the request as received, and reject it with any part changed. */
function expectTamperProof(secret: string, request: Received): void {
  for (const library of LIBRARIES) {
    expect(verifyWith(library, secret, request)).toEqual(JSON.parse(request.body))
    for (const [part, changed] of Object.entries(tampered(request))) {
      expect(() => verifyWith(library, secret, changed), `${library} accepts another ${part}`).toThrow()
    }
  }
}

/** Copies of the request with one part changed, by the name of that part. */
function tampered({ headers, body }: Received): Record<string, Pick<Received, 'headers' | 'body'>> {
  const timestamp = Number(headers['webhook-timestamp'])
  const signature = String(headers['webhook-signature'])
  const withHeader = (name: string, value: string | undefined) => ({ headers: { ...headers, [name]: value }, body })
  const middle = Math.floor(body.length / 2)
  const otherLetter = signature[10] === 'A' ? 'B' : 'A'
  return {
    'body, one character': {
      headers,
      body: `${body.slice(0, middle)}${body[middle] === 'x' ? 'y' : 'x'}${body.slice(middle + 1)}`,
    },
    'body, trailing space': { headers, body: `${body} ` },
    'body, reformatted': { headers, body: JSON.stringify(JSON.parse(body), null, 1) },
    'body, empty': { headers, body: '' },
    id: withHeader('webhook-id', `${headers['webhook-id']}x`),
    'timestamp, a second later': withHeader('webhook-timestamp', String(timestamp + 1)),
    'timestamp, a second earlier': withHeader('webhook-timestamp', String(timestamp - 1)),
    'timestamp, an hour old': withHeader('webhook-timestamp', String(timestamp - 3600)),
    'timestamp, not a number': withHeader('webhook-timestamp', 'now'),
    'signature, one character': withHeader(
      'webhook-signature',
      signature.slice(0, 10) + otherLetter + signature.slice(11),
    ),
    'signature, shortened': withHeader('webhook-signature', signature.slice(0, -4)),
    'signature, of another version': withHeader('webhook-signature', signature.replace('v1,', 'v2,')),
    'signature, without its version': withHeader('webhook-signature', signature.slice(3)),
    'signature, absent': withHeader('webhook-signature', undefined),
  }
}
