import { createHash, createSign, randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, type Google, startGoogle } from './google.ts'
import { attachmentMail, plainMail } from './messages.ts'

const ANN = 'ann@gmail.test'
const BACK = 'http://app.test/callback'

describe('the fake Google', () => {
  const open: Google[] = []
  afterEach(async () => {
    for (const google of open.splice(0)) await google.close()
  })

  async function started() {
    const google = await startGoogle()
    open.push(google)
    google.addUser(ANN)
    google.allowRedirect(BACK)
    const { accessToken, refreshToken } = await google.grant(ANN)
    const get = async (path: string, token = accessToken) => {
      const response = await fetch(`${google.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      return { status: response.status, body: JSON.parse((await response.text()) || 'null') }
    }
    const post = (path: string, body: object, token = accessToken) =>
      fetch(`${google.url}${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      })
    const mail = (path: string, token?: string) => get(`/gmail/v1/users/me/${path}`, token)
    return { google, get, post, mail, accessToken, refreshToken }
  }

  /** Signs in as a browser and a client do between them. Returns the parameters of the redirect. */
  async function consent(google: Google, verifier: string, more: Record<string, string> = {}) {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: google.client.id,
      redirect_uri: BACK,
      scope: GOOGLE_SCOPES.join(' '),
      state: randomBytes(8).toString('hex'),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      access_type: 'offline',
      ...more,
    })
    const page = await fetch(`${google.url}/o/oauth2/v2/auth?${query}`)
    const html = await page.text()
    const body = new URLSearchParams({ email: ANN })
    for (const [, name = '', value = ''] of html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g))
      if (name !== 'email') body.set(name, value.replaceAll('&amp;', '&'))
    const chosen = await fetch(`${google.url}/o/oauth2/v2/auth/callback`, { method: 'POST', body, redirect: 'manual' })
    return { page, html, redirected: new URL(chosen.headers.get('location') ?? 'http://none.test') }
  }

  async function token(google: Google, fields: Record<string, string>) {
    const client = { client_id: google.client.id, client_secret: google.client.secret }
    const response = await fetch(`${google.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...client, ...fields }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  const exchange = (google: Google, redirected: URL, verifier: string) =>
    token(google, {
      grant_type: 'authorization_code',
      code: redirected.searchParams.get('code') ?? '',
      redirect_uri: BACK,
      code_verifier: verifier,
    })

  it('signs in through a page, checks PKCE, accepts a code once, and issues a refresh token only at the first consent', async () => {
    const { google } = await started()
    google.revokeGrants(ANN)
    const verifier = randomBytes(32).toString('base64url')
    const first = await consent(google, verifier)
    expect(first.html).toContain('Cancel')
    expect((await exchange(google, first.redirected, 'x'.repeat(43))).body.error).toBe('invalid_grant')
    const second = await consent(google, verifier)
    const tokens = await exchange(google, second.redirected, verifier)
    expect(tokens.body).toMatchObject({ expires_in: 3600, refresh_token: expect.any(String) })
    expect((await exchange(google, second.redirected, verifier)).body.error).toBe('invalid_grant')
    const again = await exchange(google, (await consent(google, verifier)).redirected, verifier)
    expect(again.body).not.toHaveProperty('refresh_token')
    const forced = await exchange(google, (await consent(google, verifier, { prompt: 'consent' })).redirected, verifier)
    expect(forced.body).toHaveProperty('refresh_token')
    expect((await consent(google, verifier, { code_challenge_method: 'plain' })).page.status).toBe(400)
    expect((await consent(google, verifier, { redirect_uri: 'http://else.test/' })).page.status).toBe(400)
  })

  it('refuses consent or omits a scope on request', async () => {
    const { google, mail } = await started()
    google.denyConsent(ANN)
    const verifier = randomBytes(32).toString('base64url')
    const { redirected } = await consent(google, verifier)
    expect(redirected.searchParams.get('error')).toBe('access_denied')
    expect(redirected.searchParams.get('state')).toMatch(/^\w{16}$/)
    google.denyConsent(ANN, false)
    google.withholdScopes(ANN, ['https://mail.google.com/'])
    const { accessToken } = await google.grant(ANN)
    expect(await mail('profile', accessToken)).toMatchObject({
      status: 403,
      body: { error: { errors: [{ reason: 'insufficientPermissions' }] } },
    })
  })

  it('expires and revokes tokens, and counts refreshes', async () => {
    const { google, get, mail, refreshToken } = await started()
    expect((await get('/v1/userinfo')).body).toMatchObject({ email: ANN, sub: expect.any(String) })
    google.expireAccessTokens(ANN)
    expect((await mail('profile')).status).toBe(401)
    google.accessTokenLifetime = 120
    const refresh = () => token(google, { grant_type: 'refresh_token', refresh_token: refreshToken })
    const renewed = await refresh()
    expect(renewed.body).toMatchObject({ expires_in: 120 })
    expect((await mail('profile', String(renewed.body.access_token))).status).toBe(200)
    expect(google.refreshes(ANN)).toBe(1)
    await fetch(`${google.url}/revoke`, { method: 'POST', body: new URLSearchParams({ token: refreshToken }) })
    expect(await refresh()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await mail('profile', String(renewed.body.access_token))).status).toBe(401)
    expect((await mail('profile', 'unknown')).status).toBe(401)
  })

  it('lists newest first, in pages that stay consistent while messages arrive', async () => {
    const { google, mail } = await started()
    const at = (minute: number) => ({ date: new Date(Date.UTC(2026, 0, 1, 0, minute)) })
    const ids = [1, 2, 3, 4, 5].map((minute) => google.deliver(ANN, plainMail(), at(minute)))
    const first = (await mail('messages?maxResults=2')).body
    expect(first.messages.map(({ id }: { id: string }) => id)).toEqual([ids[4], ids[3]])
    google.deliver(ANN, plainMail())
    const second = (await mail(`messages?maxResults=2&pageToken=${first.nextPageToken}`)).body
    expect(second.messages.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]])
    await google.trash(ANN, ids[0] ?? '')
    expect((await mail(`messages?pageToken=${second.nextPageToken}`)).body).not.toHaveProperty('messages')
    expect((await mail('messages?labelIds=TRASH')).body.messages).toHaveLength(1)
  })

  it('returns a message as parts, as headers and raw, with its attachments', async () => {
    const { google, mail } = await started()
    const raw = attachmentMail({ subject: 'Grüße' })
    const id = google.deliver(ANN, raw)
    const full = (await mail(`messages/${id}`)).body
    expect(full).toMatchObject({ id, labelIds: ['INBOX', 'UNREAD'], sizeEstimate: raw.length })
    expect(full.payload.mimeType).toBe('multipart/mixed')
    const attached = full.payload.parts.find(({ filename }: { filename: string }) => filename !== '')
    const attachment = (await mail(`messages/${id}/attachments/${attached.body.attachmentId}`)).body
    expect(Buffer.from(attachment.data, 'base64url')).toHaveLength(attached.body.size)
    const headers = (await mail(`messages/${id}?format=metadata&metadataHeaders=subject`)).body.payload.headers
    expect(headers).toEqual([{ name: 'Subject', value: 'Grüße' }])
    expect(Buffer.from((await mail(`messages/${id}?format=raw`)).body.raw, 'base64url')).toEqual(raw)
    expect((await mail('messages/none')).status).toBe(404)
  })

  it('lists changes since a historyId, and returns 404 for an expired one', async () => {
    const { google, mail } = await started()
    const start = (await mail('profile')).body.historyId
    expect((await mail(`history?startHistoryId=${start}`)).body).toEqual({ historyId: start })
    const id = google.deliver(ANN, plainMail())
    await google.markRead(ANN, id, true)
    await google.star(ANN, id, true)
    const label = await google.createLabel(ANN, 'Invoices')
    await google.relabel(ANN, id, { add: [label], remove: ['INBOX'] })
    await google.delete(ANN, id)
    const page = (await mail(`history?startHistoryId=${start}&maxResults=2`)).body
    expect(page.history).toMatchObject([
      { messagesAdded: [{ message: { id } }] },
      { labelsRemoved: [{ labelIds: ['UNREAD'] }] },
    ])
    const rest = (await mail(`history?startHistoryId=${start}&pageToken=${page.nextPageToken}`)).body
    expect(rest.history).toMatchObject([
      { labelsAdded: [{ labelIds: ['STARRED'] }] },
      { labelsAdded: [{ labelIds: [label] }], labelsRemoved: [{ labelIds: ['INBOX'] }] },
      { messagesDeleted: [{ message: { id } }] },
    ])
    expect(rest.historyId).toBe(google.historyId(ANN))
    google.expireHistory(ANN)
    expect((await mail(`history?startHistoryId=${rest.historyId}`)).status).toBe(404)
    const fresh = (await mail('profile')).body.historyId
    expect((await mail(`history?startHistoryId=${fresh}`)).status).toBe(200)
  })

  it('responds to each part of a batch with its own status', async () => {
    const { google, accessToken } = await started()
    const id = google.deliver(ANN, plainMail({ subject: 'one' }))
    google.fail({ as: 'rate-limited', parts: true, on: /limited/ })
    const batch = (paths: string[]) =>
      fetch(`${google.url}/batch/gmail/v1`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'multipart/mixed; boundary=b' },
        body: `${paths.map((path, at) => `--b\r\nContent-Type: application/http\r\nContent-ID: <item-${at}>\r\n\r\nGET /gmail/v1/users/me/messages/${path} HTTP/1.1\r\n\r\n\r\n`).join('')}--b--`,
      })
    const text = await (await batch([`${id}?format=minimal`, 'none', 'limited'])).text()
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '429'])
    expect(text).toContain('Content-ID: <response-item-0>')
    expect(google.calls.counts({ user: ANN })).toEqual({ 'POST /batch/gmail/v1': 1 })
    expect(google.calls.counts({ user: ANN, part: true })).toEqual({ 'GET /gmail/v1/users/{userId}/messages/{id}': 3 })
    expect((await batch(Array<string>(101).fill(id))).status).toBe(400)
  })

  it('fails as requested, then recovers', async () => {
    const { google, mail } = await started()
    google.fail({ as: 'rate-limited', user: ANN, retryAfter: 2 })
    google.fail({ as: 'rate-limited-403' })
    google.fail({ as: 'daily-limit' })
    google.fail({ as: 'server-error', on: /profile/ })
    const reasons = []
    for (let count = 0; count < 4; count += 1) reasons.push((await mail('profile')).body.error.errors[0].reason)
    expect(reasons).toEqual(['rateLimitExceeded', 'rateLimitExceeded', 'dailyLimitExceeded', 'backendError'])
    google.fail({ as: 'malformed' })
    await expect(mail('profile')).rejects.toThrow(SyntaxError)
    expect((await mail('profile')).status).toBe(200)
  })

  it('publishes changes of a watched mailbox, and again if they are not acknowledged in time', async () => {
    const { google, post } = await started()
    const credentials = JSON.parse(google.pubsub.credentials)
    const now = Math.floor(Date.now() / 1000)
    const scope = 'https://www.googleapis.com/auth/pubsub'
    const claims = { iss: credentials.client_email, aud: credentials.token_uri, iat: now, exp: now + 600, scope }
    const signed = [{ alg: 'RS256', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = createSign('RSA-SHA256').update(signed).sign(credentials.private_key, 'base64url')
    const service = await token(google, {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${signed}.${signature}`,
    })
    const bearer = String(service.body.access_token)
    const act = async (verb: string, body: object) =>
      (await (await post(`/v1/${google.pubsub.subscriptionName}:${verb}`, body, bearer)).json()) as {
        receivedMessages?: { ackId: string; message: { data: string; messageId: string } }[]
      }

    expect((await post('/gmail/v1/users/me/watch', { topicName: 'projects/x/topics/none' })).status).toBe(404)
    await post('/gmail/v1/users/me/watch', { topicName: google.pubsub.topicName, labelIds: ['INBOX'] })
    await act('acknowledge', {
      ackIds: (await act('pull', { maxMessages: 10 })).receivedMessages?.map(({ ackId }) => ackId) ?? [],
    })
    const waiting = act('pull', { maxMessages: 10 })
    await eventually(() => google.calls.all.some(({ path, status }) => path.endsWith(':pull') && status === undefined))
    google.deliver(ANN, plainMail())
    const [notification] = (await waiting).receivedMessages ?? []
    expect(JSON.parse(Buffer.from(notification?.message.data ?? '', 'base64').toString())).toEqual({
      emailAddress: ANN,
      historyId: google.historyId(ANN),
    })
    await act('modifyAckDeadline', { ackIds: [notification?.ackId], ackDeadlineSeconds: 0 })
    const [again] = (await act('pull', { maxMessages: 10 })).receivedMessages ?? []
    expect(again?.message.messageId).toBe(notification?.message.messageId)
    await act('acknowledge', { ackIds: [again?.ackId] })
    expect(google.pubsub.waiting).toBe(0)
    google.watch.expire()
    google.deliver(ANN, plainMail())
    expect(await act('pull', { maxMessages: 1, returnImmediately: true })).toEqual({})
  })

  it('refuses what Google Calendar refuses', async () => {
    const { google, get } = await started()
    const token = async (scopes: string[]) => (await google.grant(ANN, ['openid', ...scopes])).accessToken
    const [all, events] = [await token(CALENDAR_SCOPES), await token(CALENDAR_SCOPES.slice(1))]
    const list = (query: string) => get(`/calendar/v3/calendars/primary/events?${query}`, all)
    google.calendars.put(ANN, ANN, { id: 'one', summary: 'One' })
    const { body } = await list('fields=nextSyncToken,items(id,start/date)')
    expect(body).toEqual({ nextSyncToken: expect.any(String), items: [{ id: 'one', start: { date: '2026-01-01' } }] })
    for (const query of [
      'fields=items(id',
      'timeMin=2026-01-01',
      'orderBy=startTime',
      'pageToken=x',
      'syncToken=x',
      ...['timeMin=2026-01-01T00:00:00Z', 'q=x', 'showDeleted=false', 'singleEvents=true'].map(
        (parameter) => `syncToken=${body.nextSyncToken}&${parameter}`,
      ),
    ]) {
      expect([query, (await list(query)).status]).toEqual([query, 400])
    }
    expect((await get('/calendar/v3/users/me/calendarList', events)).status).toBe(403)
    expect((await get('/calendar/v3/users/me/calendarList', all)).status).toBe(200)
  })

  it('refuses requests of a user above the quota, and single parts of a batch', async () => {
    const { google, mail } = await started()
    const id = google.deliver(ANN, plainMail({ subject: 'one' }))
    google.quota.limit({ unitsPerMinute: 45, namesLimit: true })
    expect((await mail(`messages/${id}`)).status).toBe(200)
    expect((await mail(`messages/${id}?format=minimal`)).status).toBe(200)
    const { status, body } = await mail(`messages/${id}`)
    expect([status, body.error.errors[0].reason]).toEqual([403, 'rateLimitExceeded'])
    expect(body.error.details[0].metadata.quota_limit_value).toBe('45')
    expect((await mail('messages')).status).toBe(200)
    expect(google.quota.total(ANN)).toEqual({ spent: 45, refused: 1 })
    google.quota.limit({ concurrent: 0 })
    expect((await mail('labels')).body.error.message).toBe('Too many concurrent requests for user.')
    google.quota.limit({ unitsPerSecond: 0 })
    expect((await mail('labels')).status).toBe(429)
  })

  it('returns the requested fields of Gmail only', async () => {
    const { google, mail } = await started()
    const id = google.deliver(ANN, plainMail({ subject: 'one' }))
    expect((await mail(`messages/${id}?fields=id,payload/mimeType`)).body).toEqual({
      id,
      payload: { mimeType: 'text/plain' },
    })
    expect((await mail(`messages/${id}?fields=id,(`)).status).toBe(400)
  })
})
