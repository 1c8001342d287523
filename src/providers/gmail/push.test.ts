import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { gmailProvider } from './index.ts'

describe('the push subscription of a Gmail mailbox', () => {
  let box: Awaited<ReturnType<typeof gmailMailbox>>
  beforeEach(async () => {
    box = await gmailMailbox()
  })
  afterEach(() => box.stop())

  it('begins, is renewed by a second watch, and ends', async () => {
    const { push, mail } = gmailProvider({ apiUrl: box.google.url, clock: systemClock })
    const target = { kind: 'topic', topicName: box.google.pubsub.topicName } as const
    const subscription = await push.begin(box.access, target)
    expect(subscription).toEqual({ id: box.user, expiresAt: expect.any(Number) })
    expect(subscription.expiresAt).toBeGreaterThan(Date.now() + 86_400_000)
    expect(box.google.watch.watched()).toEqual([box.user])
    const before = box.google.pubsub.waiting
    await box.deliver(plainMail())
    expect(box.google.pubsub.waiting).toBe(before + 1)
    await push.renew(box.access, subscription.id, target)
    await push.end(box.access, subscription.id)
    await push.end(box.access, subscription.id)
    expect(box.google.watch.watched()).toEqual([])
    await mail.closeConnections()
  })

  it('reports what is wrong with a topic', async () => {
    const { push, mail } = gmailProvider({ apiUrl: box.google.url, clock: systemClock })
    const begin = push.begin(box.access, { kind: 'topic', topicName: 'projects/x/topics/none' })
    await expect(begin).rejects.toMatchObject({ kind: 'rejected', message: expect.stringContaining('topic') })
    const webhook = {
      kind: 'webhook',
      url: 'https://x.test',
      lifecycleUrl: 'https://x.test',
      clientState: 's',
    } as const
    await expect(push.begin(box.access, webhook)).rejects.toMatchObject({ kind: 'rejected' })
    await mail.closeConnections()
  })
})
