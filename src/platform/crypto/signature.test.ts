import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { generateSigningSecret, sameText, webhookHeaders } from './signature.ts'

it('reproduces the vector published with the Standard Webhooks specification', () => {
  const headers = webhookHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

it('signs with every valid secret, so that a receiver with either key accepts during a rotation', () => {
  const [old, fresh] = [generateSigningSecret(), generateSigningSecret()]
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = webhookHeaders({ id: 'evt_1', timestamp, body: '{}', secrets: [fresh, old] })
  for (const secret of [old, fresh]) expect(new Webhook(secret).verify('{}', headers)).toEqual({})
  expect(() => new Webhook(generateSigningSecret()).verify('{}', headers)).toThrow()
})

it('leaves the signature out without a secret', () => {
  expect(webhookHeaders({ id: 'evt_1', timestamp: 1, body: '', secrets: [] })).toEqual({
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1',
  })
})

it('compares texts of any length', () => {
  expect(sameText('abc', 'abc')).toBe(true)
  expect(sameText('abc', 'abcd')).toBe(false)
  expect(sameText('', '')).toBe(true)
})
