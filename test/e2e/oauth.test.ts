import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ConsentSite, googleSite, microsoftSite } from '../kit/accounts/consent.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { freePort } from '../servers/free-port.ts'
import { plainMail } from '../servers/messages.ts'

const USER = 'ada@example.com'

describe.each([
  ['gmail', googleSite],
  ['microsoft', microsoftSite],
])('the running service and a mailbox of %s', (_name, startSite) => {
  let site: ConsentSite
  let service: Service
  let client: Api
  beforeEach(async () => {
    site = await startSite()
    site.server.addUser(USER)
    await site.server.deliver(USER, plainMail({ subject: 'Before' }))
    const port = await freePort()
    const publicUrl = `http://127.0.0.1:${port}`
    site.server.allowRedirect(`${publicUrl}/providers/${site.provider}/callback`)
    const environment = { ...site.server.settings, PORT: String(port), PUBLIC_URL: publicUrl }
    service = await startService({ environment })
    client = api(service.url, service.key)
  })
  afterEach(async () => {
    await service.stop()
    await site.server.close()
  })

  /** Connects through the API and the consent page. Returns the account id. */
  async function connect(): Promise<string> {
    const session = (await client.post('/auth/sessions', { redirectUri: 'https://app.example/done' })).json
    const json = { provider: site.provider, state: 'mine', email: USER }
    const { authorizationUrl } = (await client.post(`/auth/sessions/${session.code}/start`, json)).json
    let back = await site.consent(authorizationUrl, USER)
    for (;;) {
      const response = await fetch(back, { redirect: 'manual' })
      expect(response.status).toBe(302)
      const location = new URL(response.headers.get('location') ?? '')
      if (location.host === 'app.example') return location.searchParams.get('accountId') ?? ''
      back = await site.consent(location.href, USER)
    }
  }

  const account = async (id: string) => (await client.get(`/accounts/${id}`)).json
  const subjects = async (id: string) =>
    (await client.get(`/accounts/${id}/messages`)).json.messages.map(({ subject }: { subject: string }) => subject)
  const eventTypes = async (id: string) =>
    (await client.get(`/events?accountId=${id}&limit=200`)).json.events.map(({ type }: { type: string }) => type)

  it('connects it, reads it, reports a revoked grant, reconnects it and deletes it', async () => {
    const id = await connect()
    await eventually(async () => (await account(id)).status === 'connected')
    expect(await subjects(id)).toEqual(['Before'])
    expect((await account(id)).tokens).toMatchObject({ hasRefreshToken: true, scopes: expect.any(Array) })

    site.server.revokeGrants(USER)
    await client.post(`/accounts/${id}/sync`)
    await eventually(async () => (await account(id)).status === 'auth_error')
    expect((await eventTypes(id)).filter((type: string) => type === 'account.auth_error')).toHaveLength(1)

    expect(await connect()).toBe(id)
    await eventually(async () => (await account(id)).status === 'connected')
    expect(await eventTypes(id)).toContain('account.recovered')

    const refreshed = site.server.refreshes(USER)
    site.server.expireAccessTokens(USER)
    await client.post(`/accounts/${id}/sync`)
    await eventually(() => site.server.refreshes(USER) === refreshed + 1)
    expect(await account(id)).toMatchObject({ status: 'connected' })

    await client.delete(`/accounts/${id}`)
    if (site.provider === 'gmail') {
      await eventually(() => site.server.calls.all.some(({ endpoint }) => endpoint === 'POST /revoke'))
    }
    expect((await client.get(`/accounts/${id}`)).status).toBe(404)
  })

  it('imports a mailbox by its refresh token', async () => {
    const { refreshToken } = await site.server.grant(USER)
    const created = await client.post('/accounts', { provider: site.provider, refreshToken })
    expect([created.status, created.json]).toMatchObject([200, { provider: site.provider, email: USER }])
    await eventually(async () => (await account(created.json.id)).status === 'connected')
    expect(await subjects(created.json.id)).toEqual(['Before'])
  })

  it('reports the provider and its redirect URI in the detailed health', async () => {
    const { providers, onboarding } = (await client.get('/health/detailed')).json.data
    const redirectUri = `${service.url}/providers/${site.provider}/callback`
    expect(providers).toContainEqual({ name: site.provider, canConnect: true, redirectUri })
    expect(onboarding).toEqual({ canProceed: true, reasons: [] })
  })
})
