import { describe, expect, it } from 'vitest'
import { plainMail } from '../messages.ts'
import { BOB, startSignedInGraph } from './signed-in-graph.ts'

describe('requests of the fake Microsoft', () => {
  it('refuses expansions with options in deltas, large pages of some mailboxes, and unlicensed users', async () => {
    const { microsoft, call, page } = await startSignedInGraph()
    await microsoft.deliver(BOB, plainMail())
    const expand = encodeURIComponent("singleValueExtendedProperties($filter=id eq 'Integer 0xe08')")
    expect((await call(`/me/mailFolders/inbox/messages/delta?$expand=${expand}`)).status).toBe(400)
    expect((await page(`/me/messages?$select=subject&$expand=${expand}`)).value[0]).toMatchObject({
      '@odata.etag': expect.any(String),
      singleValueExtendedProperties: [{ id: 'Integer 0xe08' }],
    })
    microsoft.limitPages(BOB, 20, 503)
    const sized = (size: number) =>
      call('/me/mailFolders/inbox/messages/delta', { headers: { prefer: `odata.maxpagesize=${size}` } })
    expect([(await sized(21)).status, (await sized(20)).status]).toEqual([503, 200])
    expect((await call('/me/messages?$top=50')).status).toBe(503)
    for (const [how, status] of [['none', 404] as const, ['unlicensed', 401] as const]) {
      microsoft.withholdMailbox(BOB, how)
      expect([(await call('/me')).status, (await call('/me/messages')).status]).toEqual([200, status])
    }
  })

  it('responds to each part of a batch of at most twenty', async () => {
    const { microsoft, send } = await startSignedInGraph()
    const id = await microsoft.deliver(BOB, plainMail({ subject: 'one' }))
    microsoft.fail({ as: 'rate-limited', parts: true, on: /limited/, retryAfter: 3 })
    const batch = (urls: string[]) =>
      send('POST', '/$batch', { requests: urls.map((url, at) => ({ id: String(at), method: 'GET', url })) })
    const response = await batch([
      `/me/messages/${id}`,
      '/me/messages/none',
      '/me/messages/limited',
      `me/messages/${id}/$value`,
    ])
    const { responses } = (await response.json()) as { responses: { status: number; body: string }[] }
    expect(responses).toMatchObject([
      { id: '0', status: 200, body: { subject: 'one' } },
      { status: 404 },
      { status: 429, headers: { 'retry-after': '3' } },
      { status: 200 },
    ])
    expect(Buffer.from(responses[3]?.body ?? '', 'base64').toString()).toContain('Subject: one')
    expect((await batch(Array<string>(21).fill('/me'))).status).toBe(400)
    expect(microsoft.calls.counts({ user: BOB })).toEqual({ 'POST /v1.0/$batch': 2 })
    expect(microsoft.calls.total({ user: BOB, part: true })).toBe(4)
  })

  it('refuses a fifth concurrent request, and fails as requested', async () => {
    const { microsoft, call, page } = await startSignedInGraph()
    microsoft.latencyMs = 200
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => call('/me/messages')))).map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 429])
    expect(microsoft.peakConcurrency(BOB)).toBe(5)
    // Four parts of a batch at a time, beside one request.
    const batch = {
      requests: Array.from({ length: 8 }, (_, id) => ({ id: `${id}`, method: 'GET', url: '/me/messages' })),
    }
    const sent = call('/$batch', { method: 'POST', body: JSON.stringify(batch) })
    await call('/me/messages')
    const parts = ((await (await sent).json()) as { responses: { status: number }[] }).responses
    expect(new Set(parts.map(({ status }) => status))).toEqual(new Set([200, 429]))
    microsoft.latencyMs = 0
    microsoft.fail({ as: 'foreign-link', foreignOrigin: 'http://127.0.0.1:9' })
    expect((await page('/me/mailFolders/inbox/messages/delta'))['@odata.deltaLink']).toMatch(
      /^http:\/\/127\.0\.0\.1:9\//,
    )
    microsoft.fail({ as: 'missing-scope' })
    microsoft.fail({ as: 'unavailable', retryAfter: 1, times: 2 })
    const after = []
    for (let count = 0; count < 4; count += 1) after.push((await call('/me')).status)
    expect(after).toEqual([403, 503, 503, 200])
    microsoft.withholdScopes(BOB, ['Mail.ReadWrite'])
    expect((await call('/me/messages', {}, (await microsoft.grant(BOB)).accessToken)).status).toBe(403)
  })
})
