import { expect, it, onTestFinished } from 'vitest'
import { googleCalendars } from '../../../../test/servers/google-calendars.ts'

const WEBHOOK = {
  kind: 'webhook' as const,
  clientState: 'proof',
  url: 'https://posthorn.test/calendars',
  lifecycleUrl: 'https://posthorn.test/lifecycle',
}

async function subscribing() {
  const fixture = await googleCalendars()
  onTestFinished(() => fixture.stop())
  const { push } = fixture.provider
  if (push === undefined) throw new Error('no push')
  return { ...fixture, push }
}

it('begins, renews and ends a channel for each calendar', async () => {
  const { google, user, access, push } = await subscribing()
  google.calendars.add(user, { id: 'team' })
  const begun = await push.begin(access, user, WEBHOOK)
  await push.begin(access, 'team', WEBHOOK)
  const week = 7 * 24 * 3_600_000
  expect(Math.abs(begun.expiresAt - Date.now() - week)).toBeLessThan(60_000)
  google.calendars.put(user, user, { id: 'lunch' })
  await google.calendars.channels.flush()
  const messages = google.calendars.channels.sent.map(({ url, headers }) => [url, headers['x-goog-resource-state']])
  expect(messages).toEqual([
    [WEBHOOK.url, 'sync'],
    [WEBHOOK.url, 'sync'],
    [WEBHOOK.url, 'exists'],
  ])
  const [id] = begun.id.split(' ')
  expect(google.calendars.channels.sent[2]?.headers).toMatchObject({
    'x-goog-channel-id': id,
    'x-goog-channel-token': 'proof',
  })

  const renewed = await push.renew(access, user, begun.id, WEBHOOK)
  expect(renewed.id).not.toBe(begun.id)
  expect(google.calendars.channels.of(user).sort()).toEqual([user, 'team'])
  await push.end(access, renewed.id)
  await push.end(access, renewed.id)
  expect(google.calendars.channels.of(user)).toEqual(['team'])
})

it('refuses a calendar or an address without notifications, without blaming the token', async () => {
  const { google, user, access, push } = await subscribing()
  google.calendars.add(user, { id: 'de#holiday' })
  await expect(push.begin(access, 'de#holiday', WEBHOOK)).rejects.toMatchObject({ kind: 'rejected' })
  const elsewhere = { ...WEBHOOK, url: 'https://other.test/calendars' }
  await expect(push.begin(access, user, elsewhere)).rejects.toMatchObject({ kind: 'rejected', missingScope: false })
  const topic = { kind: 'topic' as const, topicName: 'projects/x/topics/y' }
  await expect(push.begin(access, user, topic)).rejects.toMatchObject({ kind: 'rejected' })
  await expect(push.begin(access, 'unknown', WEBHOOK)).rejects.toMatchObject({ kind: 'not_found' })
})
