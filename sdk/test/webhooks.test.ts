import { WebhookVerificationError, webhooks } from '@posthorn/sdk'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, it } from 'vitest'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const ID = 'evt_01k9zw5e9w2y4z6b8d1f3h5k7n'
const AT_MS = Date.parse('2026-11-20T08:00:00Z')
const BODY = JSON.stringify({ id: ID, type: 'message.received', data: { subject: 'Grüße, 東京 & “quotes”' } })

/** Headers as the published libraries sign. */
function signed(secret: string, body = BODY, atMs = AT_MS): Record<string, string> {
  const signature = new Webhook(secret).sign(ID, new Date(atMs), body)
  expect(new SvixWebhook(secret).sign(ID, new Date(atMs), body)).toBe(signature)
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': signature,
  }
}

const verify = (headers: Record<string, string | string[]>, secrets: string | string[] = SECRET, body = BODY) =>
  webhooks.verify(body, headers, secrets, { now: () => AT_MS })

describe('webhooks.verify', () => {
  it('accepts what standardwebhooks and svix sign, from text, bytes and every kind of headers', async () => {
    const headers = signed(SECRET)
    const bytes = new TextEncoder().encode(BODY)
    const options = { now: () => AT_MS }
    const upperCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    for (const payload of [BODY, bytes, Buffer.from(BODY), bytes.buffer, Buffer.from(`x${BODY}`).subarray(1)]) {
      for (const form of [headers, upperCase, new Headers(headers)]) {
        expect(await webhooks.verify(payload, form, SECRET, options)).toEqual(JSON.parse(BODY))
      }
    }
  })

  it('accepts one valid signature among several, and one matching secret among several', async () => {
    const { 'webhook-signature': signature = '', ...headers } = signed(SECRET)
    const other = signed('whsec_AAAA')['webhook-signature']
    expect(await verify({ ...headers, 'webhook-signature': `v1a,abc ${other} v1,? ${signature}` })).toBeDefined()
    expect(await verify({ ...headers, 'webhook-signature': signature }, ['whsec_AAAA', SECRET])).toBeDefined()
  })

  it('takes a secret without prefix as it is', async () => {
    const secret = 'ein Geheimnis: grün'
    const signature = new Webhook(new TextEncoder().encode(secret), { format: 'raw' }).sign(ID, new Date(AT_MS), BODY)
    expect(await verify({ ...signed(SECRET), 'webhook-signature': signature }, secret)).toBeDefined()
  })

  it.each<[string, Record<string, string>, string?]>([
    ['another body', {}, `${BODY} `],
    ['another id', { 'webhook-id': 'evt_2' }],
    ['another time', { 'webhook-timestamp': String(AT_MS / 1000 + 1) }],
    [
      'another version of signatures',
      { 'webhook-signature': signed(SECRET)['webhook-signature']?.replace('v1', 'v2') ?? '' },
    ],
    ['a shorter signature', { 'webhook-signature': 'v1,QUJD' }],
    ['an empty signature', { 'webhook-signature': 'v1,' }],
    ['no signature', { 'webhook-signature': '' }],
    ['a time that is no number', { 'webhook-timestamp': 'now' }],
    [
      'the signature after many others',
      { 'webhook-signature': `${'v1,QUJD '.repeat(20)}${signed(SECRET)['webhook-signature']}` },
    ],
  ])('refuses %s', async (_name, changes, body = BODY) => {
    await expect(verify({ ...signed(SECRET), ...changes }, SECRET, body)).rejects.toThrow(WebhookVerificationError)
  })

  it('accepts five minutes on both sides, or what the caller says, as the published libraries do', async () => {
    for (const [seconds, isAccepted] of [
      [290, true],
      [-290, true],
      [310, false],
      [-310, false],
    ] as const) {
      const headers = signed(SECRET, BODY, Date.now() + seconds * 1000)
      const verdicts = [
        await webhooks.verify(BODY, headers, SECRET).then(
          () => true,
          () => false,
        ),
        accepts(() => new Webhook(SECRET).verify(BODY, headers)),
      ]
      expect([seconds, ...verdicts]).toEqual([seconds, isAccepted, isAccepted])
    }
    const late = { now: () => AT_MS + 11_000, toleranceSeconds: 10 }
    await expect(webhooks.verify(BODY, signed(SECRET), SECRET, late)).rejects.toThrow('too old')
  })

  it('refuses a secret that is no base64', async () => {
    await expect(verify(signed(SECRET), 'whsec_!')).rejects.toThrow('The signing secret is not valid.')
    await expect(verify(signed(SECRET), '')).rejects.toThrow('The signing secret is not valid.')
  })
})

function accepts(call: () => unknown): boolean {
  try {
    call()
    return true
  } catch {
    return false
  }
}
