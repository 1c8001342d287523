import { createHash, randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { alternativeMail, attachmentMail, plainMail } from './messages.ts'
import { MICROSOFT_SCOPES, type Microsoft, startMicrosoft } from './microsoft.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const BOB = 'bob@outlook.test'
const ANN = 'ann@example.test'
const BACK = 'http://app.test/callback'
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const IMMUTABLE = { prefer: 'IdType="ImmutableId"' }

interface Page {
  value: { id: string; subject?: string; '@removed'?: object; [name: string]: unknown }[]
  '@odata.nextLink'?: string
  '@odata.deltaLink'?: string
}

describe('the fake Microsoft', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close()
  })

  async function started() {
    const microsoft = await startMicrosoft()
    open.push(microsoft)
    microsoft.addUser(BOB, { tenant: TENANT })
    microsoft.allowRedirect(BACK)
    const { accessToken, refreshToken } = await microsoft.grant(BOB)
    const call = (path: string, init: RequestInit = {}, token = accessToken) =>
      fetch(path.startsWith('http') ? path : `${microsoft.url}/v1.0${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers },
      })
    const page = async (path: string, headers: Record<string, string> = {}) =>
      (await (await call(path, { headers })).json()) as Page
    const send = (method: string, path: string, body?: object) =>
      call(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
    return { microsoft, call, page, send, accessToken, refreshToken }
  }

  async function consent(microsoft: Microsoft, verifier: string, tenant = 'common') {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: microsoft.client.id,
      redirect_uri: BACK,
      scope: MICROSOFT_SCOPES.join(' '),
      state: randomBytes(8).toString('hex'),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    const html = await (await fetch(`${microsoft.url}/${tenant}/oauth2/v2.0/authorize?${query}`)).text()
    const body = new URLSearchParams({ email: BOB })
    for (const [, name = '', value = ''] of html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g))
      if (name !== 'email') body.set(name, value.replaceAll('&amp;', '&'))
    const at = `${microsoft.url}/oauth2/v2.0/authorize/callback`
    const chosen = await fetch(at, { method: 'POST', body, redirect: 'manual' })
    return { status: chosen.status, html, redirected: new URL(chosen.headers.get('location') ?? 'http://none.test') }
  }

  async function token(microsoft: Microsoft, fields: Record<string, string>) {
    const client = { client_id: microsoft.client.id, client_secret: microsoft.client.secret }
    const body = new URLSearchParams({ ...client, ...fields })
    const response = await fetch(`${microsoft.url}/common/oauth2/v2.0/token`, { method: 'POST', body })
    return (await response.json()) as Record<string, unknown>
  }

  it('signs in through a page, checks PKCE and the tenant, and names the tenant of the user', async () => {
    const { microsoft } = await started()
    const verifier = randomBytes(32).toString('base64url')
    const { html, redirected } = await consent(microsoft, verifier)
    expect(html).toContain('Cancel')
    const code = redirected.searchParams.get('code') ?? ''
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: BACK, code_verifier: verifier }
    const tokens = await token(microsoft, exchange)
    const claims = JSON.parse(Buffer.from(String(tokens.id_token).split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ iss: `${microsoft.url}/${TENANT}/v2.0`, aud: microsoft.client.id, tid: TENANT })
    expect((await token(microsoft, exchange)).error).toBe('invalid_grant')
    const other = await consent(microsoft, verifier)
    const wrong = { ...exchange, code: other.redirected.searchParams.get('code') ?? '', code_verifier: 'x'.repeat(43) }
    expect((await token(microsoft, wrong)).error).toBe('invalid_grant')
    expect((await consent(microsoft, verifier, 'other-tenant')).status).toBe(400)
    microsoft.denyConsent(BOB)
    expect((await consent(microsoft, verifier)).redirected.searchParams.get('error')).toBe('access_denied')
  })

  it('rotates refresh tokens, and refuses them on request', async () => {
    const { microsoft, call, refreshToken } = await started()
    const refresh = (refresh_token: string) => token(microsoft, { grant_type: 'refresh_token', refresh_token })
    microsoft.expireAccessTokens()
    expect((await call('/me')).status).toBe(401)
    const renewed = await refresh(refreshToken)
    expect((await call('/me', {}, String(renewed.access_token))).status).toBe(200)
    expect((await refresh(refreshToken)).error).toBe('invalid_grant')
    microsoft.requireInteraction(BOB)
    expect((await refresh(String(renewed.refresh_token))).error).toBe('interaction_required')
    await consent(microsoft, randomBytes(32).toString('base64url'))
    const again = await refresh(String(renewed.refresh_token))
    expect(again.refresh_token).not.toBe(renewed.refresh_token)
    microsoft.revokeGrants(BOB)
    expect((await refresh(String(again.refresh_token))).error).toBe('invalid_grant')
    expect(microsoft.refreshes(BOB)).toBe(3)
  })

  it('issues tokens of another user as often as a refresh token is used', async () => {
    const { microsoft, call, refreshToken } = await started()
    microsoft.addUser(ANN)
    microsoft.misissueTokens(BOB, ANN)
    for (let n = 0; n < 2; n += 1) {
      const { access_token } = await token(microsoft, { grant_type: 'refresh_token', refresh_token: refreshToken })
      expect(await (await call('/me', {}, String(access_token))).json()).toMatchObject({ mail: ANN })
    }
  })

  it('refuses tokens that it never gave', async () => {
    const { call } = await started()
    expect((await call('/me', {}, 'nobody-gave-this')).status).toBe(401)
  })

  it('sends drafts from MIME with the scope for it, and refuses what Graph refuses', async () => {
    const { microsoft, call, send } = await started()
    const create = (body: string, path = '') =>
      call(`/me/messages${path}`, { method: 'POST', body, headers: { 'content-type': 'text/plain', ...IMMUTABLE } })
    expect((await create('From: x')).status).toBe(400)
    expect((await create('A'.repeat(4_194_305))).status).toBe(413)
    const raw = attachmentMail({ to: 'eve@example.test', messageId: '<1@x>', headers: ['X-New: 1', 'List-Id: <x>'] })
    const { id } = (await (await create(raw.toString('base64'))).json()) as { id: string }
    const session = { attachmentType: 'file', name: 'a', size: 2_000_000 }
    const small = await send('POST', `/me/messages/${id}/attachments/createUploadSession`, { AttachmentItem: session })
    expect([small.status, await small.text()]).toEqual([400, expect.stringContaining('MinimumSize')])
    const readOnly = await microsoft.grant(BOB, ['offline_access', 'Mail.ReadWrite'])
    expect((await call(`/me/messages/${id}/send`, { method: 'POST' }, readOnly.accessToken)).status).toBe(403)
    expect((await send('POST', `/me/messages/${id}/send`)).status).toBe(202)
    expect((await send('POST', `/me/messages/${id}/send`)).status).toBe(400)
    expect(microsoft.messages(BOB)).toMatchObject([{ id, folderId: microsoft.folderId(BOB, 'sentitems') }])
    const fields = raw.toString('latin1').replace('X-New: 1\r\n', '').replace('List-Id: <x>\r\n', '')
    expect(microsoft.sent).toEqual([{ user: BOB, raw: fields, recipients: ['eve@example.test'] }])
  })

  it('lists, filters, orders and returns messages, their MIME and their attachments', async () => {
    const { microsoft, call, page } = await started()
    const raw = attachmentMail({ subject: 'Grüße' })
    const old = await microsoft.deliver(BOB, raw, { date: new Date('2026-01-01T00:00:00Z') })
    await microsoft.deliver(BOB, alternativeMail({ subject: 'second' }), { date: new Date('2026-01-02T00:00:00Z') })
    await microsoft.deliver(BOB, plainMail({ subject: 'third' }), { date: new Date('2026-01-03T00:00:00Z') })
    const first = await page('/me/mailFolders/inbox/messages?$top=2&$select=subject')
    expect(first.value.map(({ subject }) => subject)).toEqual(['third', 'second'])
    expect(Object.keys(first.value[0] ?? {}).sort()).toEqual(['@odata.etag', 'id', 'subject'])
    expect((await page(first['@odata.nextLink'] ?? '', IMMUTABLE)).value).toMatchObject([{ id: old, subject: 'Grüße' }])
    const since = await page(
      `/me/messages?$filter=receivedDateTime ge 2026-01-02T00:00:00Z&$orderby=receivedDateTime asc`,
    )
    expect(since.value.map(({ subject }) => subject)).toEqual(['second', 'third'])
    expect(Buffer.from(await (await call(`/me/messages/${old}/$value`)).arrayBuffer())).toEqual(raw)
    const [attachment] = (await page(`/me/messages/${old}/attachments?$select=name,size`)).value
    const bytes = await (await call(`/me/messages/${old}/attachments/${attachment?.id}/$value`)).arrayBuffer()
    expect(attachment).toMatchObject({ size: bytes.byteLength })
    expect(attachment).not.toHaveProperty('contentBytes')
    expect((await call('/me/messages/none')).status).toBe(404)
  })

  it('returns a body as text, and the size and thread of a message, on request', async () => {
    const { microsoft, page } = await started()
    const raw = alternativeMail({ text: 'The plain one.', headers: ['In-Reply-To: <first@example.test>'] })
    await microsoft.deliver(BOB, raw)
    const properties = `singleValueExtendedProperties($filter=id eq 'Integer 0xe08' or id eq 'String 0x1042')`
    const asked = `/me/messages?$select=body,receivedDateTime&$expand=${encodeURIComponent(properties)}`
    const [mail] = (await page(asked, { prefer: 'outlook.body-content-type="text"' })).value
    expect(mail).toMatchObject({
      body: { contentType: 'text', content: expect.stringContaining('The plain one.') },
      receivedDateTime: expect.stringMatching(/^[\d-]{10}T[\d:]{8}Z$/),
      singleValueExtendedProperties: [
        { id: 'Integer 0xe08', value: String(raw.length) },
        { id: 'String 0x1042', value: '<first@example.test>' },
      ],
    })
    expect((await page('/me/messages')).value[0]).toMatchObject({ body: { contentType: 'html' } })
  })

  it('changes the id of a moved message, except an immutable id', async () => {
    const { microsoft, call, page, send } = await started()
    const id = await microsoft.deliver(BOB, plainMail())
    const [before] = (await page('/me/messages?$select=id')).value
    expect(before?.id).not.toBe(id)
    expect((await send('POST', `/me/messages/${before?.id}/move`, { destinationId: 'archive' })).status).toBe(201)
    expect((await call(`/me/messages/${before?.id}`)).status).toBe(404)
    expect((await page('/me/messages?$select=id', IMMUTABLE)).value).toMatchObject([{ id }])
    expect((await send('PATCH', `/me/messages/${id}`, { isRead: true, flag: { flagStatus: 'flagged' } })).status).toBe(
      200,
    )
    expect(microsoft.messages(BOB)).toMatchObject([
      { folderId: microsoft.folderId(BOB, 'archive'), read: true, starred: true },
    ])
    await send('DELETE', `/me/messages/${id}`)
    expect(microsoft.messages(BOB)).toMatchObject([{ folderId: microsoft.folderId(BOB, 'deleteditems') }])
    await send('DELETE', `/me/messages/${id}`)
    expect(microsoft.messages(BOB)).toEqual([])
  })

  it('lists new, changed, moved and deleted messages by delta, and returns 410 on request', async () => {
    const { microsoft, page, call } = await started()
    const ids = []
    for (const subject of ['one', 'two', 'three']) ids.push(await microsoft.deliver(BOB, plainMail({ subject })))
    const [one = '', two = '', three = ''] = ids
    const size = { prefer: 'IdType="ImmutableId", odata.maxpagesize=2' }
    const first = await page('/me/mailFolders/inbox/messages/delta?$select=subject,isRead', size)
    expect(first.value).toHaveLength(2)
    const last = await page(first['@odata.nextLink'] ?? '', size)
    const since = last['@odata.deltaLink'] ?? ''
    expect(new URL(since).origin).toBe(microsoft.url)
    expect((await page(since, size)).value).toEqual([])
    microsoft.markRead(BOB, one, true)
    microsoft.move(BOB, two, 'archive')
    microsoft.delete(BOB, three)
    const four = await microsoft.deliver(BOB, plainMail({ subject: 'four' }))
    const changes = await page(since, { prefer: 'IdType="ImmutableId", odata.maxpagesize=10' })
    expect(changes.value).toMatchObject([
      { id: one, isRead: true },
      { id: two, '@removed': { reason: 'deleted' } },
      { id: three, '@removed': { reason: 'deleted' } },
      { id: four, subject: 'four' },
    ])
    expect(changes.value[0]).not.toHaveProperty('subject')
    microsoft.expireDelta(BOB)
    const gone = await call(changes['@odata.deltaLink'] ?? '')
    expect(gone.status).toBe(410)
    expect(await gone.json()).toMatchObject({ error: { code: 'syncStateNotFound' } })
  })

  it('reports a message that came back as removed under its immutable id, and as another one under its other id', async () => {
    const { microsoft, page } = await started()
    const id = await microsoft.deliver(BOB, plainMail({ subject: 'one' }))
    const [mine, other] = await Promise.all(
      [IMMUTABLE, {}].map((headers) => page('/me/mailFolders/inbox/messages/delta', headers)),
    )
    for (const folder of ['archive', 'inbox']) microsoft.move(BOB, id, folder)
    expect((await page(mine?.['@odata.deltaLink'] ?? '', IMMUTABLE)).value).toMatchObject([{ id, '@removed': {} }])
    expect((await page(other?.['@odata.deltaLink'] ?? '')).value).toMatchObject([{ subject: 'one' }])
  })

  it('refuses expansions with options in deltas, large pages of some mailboxes, and unlicensed users', async () => {
    const { microsoft, call, page } = await started()
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

  it('returns what is selected, with its context, and no members of the beta', async () => {
    const { page } = await started()
    const folders = await page('/me/mailFolders?$select=displayName')
    expect(folders).toMatchObject({ '@odata.context': expect.stringContaining('$metadata#') })
    expect(Object.keys(folders.value[0] ?? {}).sort()).toEqual(['displayName', 'id'])
    expect((await page('/me/mailFolders')).value[0]).not.toHaveProperty('sizeInBytes')
  })

  it('nests folders, hides well-known names, and lists folder changes by delta', async () => {
    const { microsoft, page, send } = await started()
    const parent = microsoft.createFolder(BOB, 'Projects')
    const since = (await page('/me/mailFolders/delta', { prefer: 'odata.maxpagesize=100' }))['@odata.deltaLink'] ?? ''
    const made = await send('POST', `/me/mailFolders/${parent}/childFolders`, { displayName: 'Alpha' })
    const child = ((await made.json()) as { id: string }).id
    expect((await page(`/me/mailFolders/${parent}/childFolders`)).value).toMatchObject([
      { id: child, parentFolderId: parent },
    ])
    expect((await page('/me/mailFolders?$top=100')).value).toHaveLength(8)
    expect((await page('/me/mailFolders?$top=1')).value[0]).not.toHaveProperty('wellKnownName')
    microsoft.deleteFolder(BOB, parent)
    expect((await page(since)).value.map(({ id }) => id).sort()).toEqual([parent, child].sort())
    expect((await send('DELETE', '/me/mailFolders/inbox')).status).toBe(403)
  })

  it('responds to each part of a batch of at most twenty', async () => {
    const { microsoft, send } = await started()
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
    const { microsoft, call, page } = await started()
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

  it('subscribes after a handshake, and sends change and lifecycle notifications', async () => {
    const { microsoft, send } = await started()
    const app = await startReceiver()
    open.push(app)
    microsoft.subscriptions.route('https://app.test', app.url)
    const wanted = {
      changeType: 'created,deleted',
      notificationUrl: 'https://app.test/notify',
      lifecycleNotificationUrl: 'https://app.test/life',
      resource: "me/mailFolders('inbox')/messages",
      expirationDateTime: new Date(Date.now() + 3_600_000).toISOString(),
      clientState: 'proof',
    }
    expect((await send('POST', '/subscriptions', wanted)).status).toBe(400)
    app.always(echo)
    const made = (await (await send('POST', '/subscriptions', wanted)).json()) as { id: string }
    app.requests.length = 0
    const id = await microsoft.deliver(BOB, plainMail())
    await microsoft.deliver(BOB, plainMail(), { folder: 'archive' })
    microsoft.move(BOB, id, 'archive')
    await microsoft.lifecycle(BOB, 'missed')
    expect(bodies(app)).toMatchObject([
      {
        subscriptionId: made.id,
        clientState: 'proof',
        changeType: 'created',
        resourceData: { id: expect.any(String) },
      },
      { changeType: 'deleted' },
      { lifecycleEvent: 'missed', subscriptionId: made.id },
    ])
    const later = { expirationDateTime: new Date(Date.now() + 7_200_000).toISOString() }
    expect((await send('PATCH', `/subscriptions/${made.id}`, later)).status).toBe(200)
    await microsoft.lifecycle(BOB, 'subscriptionRemoved')
    expect((await send('PATCH', `/subscriptions/${made.id}`, later)).status).toBe(404)
  })

  const echo = ({ path }: { path: string }) => {
    const asked = new URL(path, 'http://app.test').searchParams.get('validationToken')
    return asked === null ? { status: 202 } : { status: 200, headers: { 'content-type': 'text/plain' }, body: asked }
  }
  const bodies = (app: Receiver) => app.requests.map(({ body }) => JSON.parse(body).value[0])
})
