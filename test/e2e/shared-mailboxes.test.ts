import { afterEach, beforeEach, expect, it } from 'vitest'
import { microsoftSite } from '../kit/accounts/consent.ts'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { freePort } from '../servers/free-port.ts'
import { plainMail } from '../servers/messages.ts'
import type { Microsoft } from '../servers/microsoft.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const [ADA, SUPPORT, SECRET, EVE] = [
  'ada@acme.example',
  'support@acme.example',
  'board@acme.example',
  'eve@other.example',
]

describeOneDatabase('a shared mailbox beside the mailbox of its person', 'sqlite', (open) => {
  let site: Awaited<ReturnType<typeof microsoftSite>>
  let microsoft: Microsoft
  let service: Service
  let client: Api
  beforeEach(async () => {
    site = await microsoftSite()
    microsoft = site.server as Microsoft
    for (const user of [ADA, SUPPORT, SECRET]) microsoft.addUser(user, { tenant: TENANT })
    const port = await freePort()
    const publicUrl = `http://127.0.0.1:${port}`
    microsoft.allowRedirect(`${publicUrl}/providers/microsoft/callback`)
    const environment = {
      ...microsoft.settings,
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      CONTACTS_ENABLED: 'true',
    }
    service = await startService({ place: await open.place(), environment })
    client = api(service.url, service.key)
  })
  afterEach(async () => {
    await service.stop()
    await microsoft.close()
  })

  /** Signs in on the consent page. Returns the account id. */
  async function signIn(more: object = {}): Promise<string> {
    const session = (await client.post('/auth/sessions', { redirectUri: 'https://app.example/done', ...more })).json
    const json = { provider: 'microsoft', state: 'mine', email: ADA }
    const { authorizationUrl } = (await client.post(`/auth/sessions/${session.code}/start`, json)).json
    const back = await site.consent(authorizationUrl, ADA)
    const location = new URL((await fetch(back, { redirect: 'manual' })).headers.get('location') ?? '')
    return location.searchParams.get('accountId') ?? ''
  }

  const status = async (id: string) => (await client.get(`/accounts/${id}`)).json
  const isConnected = (id: string) => eventually(async () => expect((await status(id)).status).toBe('connected'))
  const connecting = async (body: object) => {
    const { status, json } = await client.post('/accounts', { provider: 'microsoft', ...body })
    return [status, json.error?.details?.[0]?.path ?? json.id, json.error?.message ?? '']
  }
  const subjects = async (id: string) =>
    (await client.get(`/accounts/${id}/messages`)).json.messages.map(({ subject }: { subject: string }) => subject)
  const events = async (id: string, type: string) =>
    (await client.get(`/events?accountId=${id}&type=${type}&limit=200`)).json.events

  it('has its own messages and events, and the token of the person, who alone is asked for the scopes', async () => {
    const ada = await signIn()
    await isConnected(ada)
    expect((await status(ada)).tokens.scopes.join(' ')).not.toContain('.Shared')
    microsoft.applications.share(SUPPORT, ADA, 'send')
    const refused = await client.post('/accounts', { provider: 'microsoft', sharedWith: ada, mailbox: SUPPORT })
    expect([refused.status, refused.json.error]).toMatchObject([
      409,
      { code: 'consent_required', message: expect.stringContaining('Mail.ReadWrite.Shared') },
    ])
    expect(await signIn({ sharedMailboxes: true, email: ADA })).toBe(ada)
    expect((await status(ada)).tokens.scopes.join(' ')).toContain('Mail.ReadWrite.Shared')

    expect(await connecting({ sharedWith: 'acc_nothing', mailbox: SUPPORT })).toMatchObject([
      400,
      'body.sharedWith',
      expect.any(String),
    ])
    expect(await connecting({ sharedWith: ada })).toMatchObject([400, 'body.mailbox', expect.any(String)])
    expect(await connecting({ sharedWith: ada, mailbox: ADA })).toMatchObject([400, 'body.mailbox', expect.any(String)])
    expect(await connecting({ sharedWith: ada, mailbox: SECRET })).toMatchObject([
      400,
      'body.mailbox',
      expect.any(String),
    ])
    expect(await connecting({ sharedWith: ada, mailbox: 'nobody@acme.example' })).toMatchObject([
      400,
      'body.mailbox',
      expect.any(String),
    ])
    await microsoft.deliver(SUPPORT, plainMail({ subject: 'For support' }))
    await microsoft.deliver(ADA, plainMail({ subject: 'For Ada' }))
    const [, support] = await connecting({ sharedWith: ada, mailbox: SUPPORT })
    await isConnected(support)
    expect(await status(support)).toMatchObject({ email: SUPPORT, sharedWith: ada, connectionId: null })
    await client.post(`/accounts/${ada}/sync`)
    await eventually(async () => expect(await subjects(ada)).toEqual(['For Ada']))
    expect(await subjects(support)).toEqual(['For support'])
    expect(await connecting({ sharedWith: support, mailbox: SECRET })).toMatchObject([
      400,
      'body.sharedWith',
      expect.any(String),
    ])

    // One refresh for both accounts, and each mailbox announces its own message.
    await isConnected(ada)
    const refreshed = microsoft.refreshes(ADA)
    microsoft.expireAccessTokens()
    await microsoft.deliver(SUPPORT, plainMail({ subject: 'New' }))
    for (const id of [ada, support]) await client.post(`/accounts/${id}/sync`)
    await eventually(async () => expect(await events(support, 'message.received')).toHaveLength(1))
    await isConnected(ada)
    expect(microsoft.refreshes(ADA)).toBe(refreshed + 1)
    const received = await events(ada, 'message.received')
    expect(received.map(({ data }: { data: { subject: string } }) => data.subject)).not.toContain('New')

    const message = { to: [EVE], subject: 'Hello', body: 'Hello Eve' }
    const sent = async () => {
      const { outboxId } = (await client.post(`/accounts/${support}/messages/send`, message)).json
      return eventually(async () => {
        const item = (await client.get(`/outbox/${outboxId}`)).json
        expect(['sent', 'failed']).toContain(item.status)
        return item
      })
    }
    expect((await sent()).status).toBe('sent')
    expect(microsoft.sent).toMatchObject([
      { user: SUPPORT, raw: expect.stringMatching(/^From:.*support@acme\.example/m) },
    ])
    microsoft.applications.share(SUPPORT, ADA, 'read')
    expect(JSON.stringify(await sent())).toContain('Send As or Send on Behalf')
    const draft = await client.post('/drafts', { ...message, accountId: support })
    expect(draft.status).toBe(200)
    expect((await client.get(`/accounts/${ada}/drafts`)).json.drafts).toEqual([])
    expect((await client.get(`/accounts/${support}/calendars`)).json.calendars).toHaveLength(1)
    expect((await client.get(`/accounts/${support}/contacts`)).json.error).toMatchObject({
      code: 'not_supported',
      message: 'The contacts of shared mailboxes are not read.',
    })
    const requested = microsoft.calls.all.map(({ path }) => path).filter((path) => /contact/i.test(path))
    expect(requested).not.toEqual([])
    expect(requested.filter((path) => path.includes('/users/'))).toEqual([])

    // Losing the right concerns the shared mailbox alone.
    for (const lost of [null, 'hidden'] as const) {
      microsoft.applications.share(SUPPORT, ADA, lost)
      await eventually(async () => {
        const account = await status(support)
        if (account.status !== 'auth_error') await client.post(`/accounts/${support}/sync`)
        expect(account.status).toBe('auth_error')
      })
      await client.post(`/accounts/${ada}/sync`)
      await isConnected(ada)
      expect(await events(ada, 'account.auth_error')).toEqual([])
      microsoft.applications.share(SUPPORT, ADA, 'read')
      await client.post(`/accounts/${support}/sync`)
      await isConnected(support)
    }

    // The person's grant is both accounts'; signing in again repairs both.
    microsoft.revokeGrants(ADA)
    for (const id of [ada, support]) await client.post(`/accounts/${id}/sync`)
    for (const id of [ada, support]) await eventually(async () => expect((await status(id)).status).toBe('auth_error'))
    expect(await signIn({ sharedMailboxes: true, email: ADA })).toBe(ada)
    for (const id of [ada, support]) await isConnected(id)

    const kept = await client.delete(`/accounts/${ada}`)
    expect([kept.status, kept.json.error.message]).toEqual([409, expect.stringContaining(support)])
    expect((await client.delete(`/accounts/${support}`)).status).toBe(200)
    expect((await client.delete(`/accounts/${ada}`)).status).toBe(200)
  })

  it('suffers alone from hostile responses of Graph, and recovers', async () => {
    microsoft.applications.share(SUPPORT, ADA, 'send')
    const ada = await signIn({ sharedMailboxes: true })
    await isConnected(ada)
    const [, support] = await connecting({ sharedWith: ada, mailbox: SUPPORT })
    await isConnected(support)
    const before = (await events(ada, 'message.received')).length
    const faults = ['malformed', 'html', 'immense', 'reset', 'server-error', 'unauthorized', 'missing-scope'] as const
    for (const as of faults) {
      microsoft.fail({ as, user: SUPPORT, times: 4 })
      await client.post(`/accounts/${support}/sync`)
      await microsoft.deliver(ADA, plainMail({ subject: `For Ada during ${as}` }))
      await client.post(`/accounts/${ada}/sync`)
      await eventually(async () => expect(await subjects(ada)).toContain(`For Ada during ${as}`))
      expect((await status(ada)).status).toMatch(/^(connected|syncing)$/)
      microsoft.faults.clear()
    }
    // Links that lead to the mailbox of the user, who could read it with this token.
    microsoft.fail({ as: 'foreign-link', user: SUPPORT, times: 2, foreignMailbox: ADA })
    await client.post(`/accounts/${support}/sync`)
    await microsoft.deliver(SUPPORT, plainMail({ subject: 'For support' }))
    await eventually(async () => {
      if ((await subjects(support)).length === 0) await client.post(`/accounts/${support}/sync`)
      expect(await subjects(support)).toEqual(['For support'])
    })
    await isConnected(support)
    expect(await events(ada, 'account.auth_error')).toEqual([])
    expect((await events(ada, 'message.received')).length).toBe(before + faults.length)
  })

  it('says whose fault it is when Graph refuses it, and connects again by itself or by request', async () => {
    microsoft.applications.share(SUPPORT, ADA, 'send')
    const ada = await signIn({ sharedMailboxes: true })
    await isConnected(ada)
    await microsoft.deliver(SUPPORT, plainMail({ subject: 'For support' }))
    const [, support] = await connecting({ sharedWith: ada, mailbox: SUPPORT })
    await isConnected(support)
    const refusals = [
      ['access-denied', 'auth_error', 'An administrator of Exchange can give the user Full Access'],
      ['deleted', 'auth_error', 'does not exist any more, or is no longer shared with this user'],
      ['unknown-resource', 'auth_error', 'does not exist any more, or is no longer shared with this user'],
      ['no-mailbox', 'error', 'it may be on-premises, inactive, or without a licence'],
    ] as const
    for (const [refusal, expected, reason] of refusals) {
      microsoft.applications.refuse(SUPPORT, refusal)
      await eventually(async () => {
        const account = await status(support)
        if (account.status !== expected) await client.post(`/accounts/${support}/sync`)
        expect(account).toMatchObject({ status: expected, statusReason: expect.stringContaining(reason) })
      })
      await microsoft.deliver(ADA, plainMail({ subject: `For Ada during ${refusal}` }))
      await client.post(`/accounts/${ada}/sync`)
      await eventually(async () => expect(await subjects(ada)).toContain(`For Ada during ${refusal}`))
      await isConnected(ada)
      // What was read before stays.
      expect(await subjects(support)).toEqual(['For support'])
      microsoft.applications.refuse(SUPPORT, null)
      await client.post(`/accounts/${support}/sync`)
      await isConnected(support)
    }
    for (const type of ['account.auth_error', 'account.sync_stalled']) expect(await events(ada, type)).toEqual([])
    expect(await events(support, 'message.deleted')).toEqual([])
  })
})
