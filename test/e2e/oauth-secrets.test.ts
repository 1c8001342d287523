import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase, type Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { numberedMessage } from '../scenarios/mailboxes.ts'
import { connectAt, consentUrl, type OAuthStage, startOAuthStage } from '../scenarios/oauth.ts'
import { type Collector, startCollector } from '../servers/otlp/collector.ts'

const TOKEN = /\/token$/

describeOneDatabase(
  'secrets of mailboxes at Google and Microsoft, from connection to deletion, failures included',
  'sqlite',
  (databases) => {
    let place: Place
    let stage: OAuthStage
    let collector: Collector
    beforeEach(async () => {
      place = await databases.place()
      collector = await startCollector()
      onTestFinished(() => collector.close())
      const env = { LOG_LEVEL: 'trace', OTEL_LOGS_ENABLED: 'true', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: collector.url }
      stage = await startOAuthStage(place, { env })
      onTestFinished(() => stage.close())
    })

    it('never appear in a response, page, event, log record or webhook, nor readable in the store', async () => {
      const { api, landing, proxy, service, sites } = stage
      await api.call('POST', '/webhooks/endpoints', { url: landing.url, eventTypes: ['*'] })
      for (const name of ['gmail', 'microsoft'] as const) await exerciseMailbox(name)
      await api.call('GET', '/accounts')
      await api.call('GET', '/events?limit=200')
      await api.call('GET', '/logs?limit=200')
      await api.call('GET', '/health/detailed')
      await eventually(() => landing.requests.some(({ body }) => body.includes('account.deleted')))

      for (const provider of ['gmail', 'microsoft']) {
        for (const operation of [
          'auth.callback',
          'accounts.tokens',
          'sync.account',
          'sync.refuse',
          'accounts.recover',
        ]) {
          const { logs } = await api.call<{ logs: object[] }>(
            'GET',
            `/logs?provider=${provider}&operation=${operation}`,
          )
          expect([provider, operation, logs.length > 0]).toEqual([provider, operation, true])
        }
      }
      await eventually(() => collector.records.some(({ attributes }) => attributes.operation === 'accounts.delete'))

      const secrets = listSecrets(stage)
      expect(new Set(secrets.map(({ what }) => what))).toEqual(
        new Set(['access_token', 'refresh_token', 'id_token', 'code', 'code_verifier', 'client_secret', 'given']),
      )
      // The authorization code passes through the proxy, which proves that the search can find secrets.
      const codes = secrets.filter(({ what }) => what === 'code')
      expect(
        codes.some(({ value }) => proxy.exchanges.some(({ path }) => path.includes(encodeURIComponent(value)))),
      ).toBe(true)

      const outputs = [
        ...proxy.exchanges.map(({ method, path, status, headers, body }) => ({
          where: `${method} ${path.split('?')[0]} → ${status}`,
          text: `${JSON.stringify(headers)}\n${body}`,
        })),
        ...landing.requests.map(({ headers, body, path }) => ({
          where: 'a webhook',
          text: `${path}\n${JSON.stringify(headers)}\n${body}`,
        })),
        { where: 'the log', text: service.output() },
        { where: 'OTLP', text: JSON.stringify(collector.records) },
        ...(await readFiles(place.dataDir)),
      ]
      expect(service.output().length).toBeLessThan(1024 * 1024)
      const found = secrets.flatMap(({ what, value }) =>
        outputs
          .filter(({ text }) => spellings(value).some((spelled) => text.includes(spelled)))
          .map(({ where }) => `${what} in ${where}`),
      )
      expect([...new Set(found)]).toEqual([])
      expect(sites.gmail.server.faults.waiting + sites.microsoft.server.faults.waiting).toBe(0)
    })

    /** Connects, syncs, revokes, imports and deletes a mailbox, with failures at each step. */
    async function exerciseMailbox(name: 'gmail' | 'microsoft'): Promise<void> {
      const { api, sites } = stage
      const { server } = sites[name]
      const email = `ada@${name}.example`
      server.addUser(email)
      await server.deliver(email, numberedMessage('Before'))
      const status = async (id: string) => (await api.call<{ status: string }>('GET', `/accounts/${id}`)).status
      const callback = async () => sites[name].consent(await consentUrl(api, name, email), email)
      const open = (url: string) => fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } })

      server.denyConsent(email)
      expect((await open(await callback())).status).toBe(400)
      server.denyConsent(email, false)
      for (const as of ['html', 'malformed', 'server-error', 'reset'] as const) {
        server.fail({ as, on: TOKEN, times: 1 })
        expect((await open(await callback())).status).toBeGreaterThanOrEqual(400)
      }
      server.withholdScopes(email, [sites[name].mailScope])
      expect((await open(await callback())).status).toBe(400)
      server.withholdScopes(email, [])
      server.revokeGrants(email)

      const id = await connectAt(stage, name, email)
      await eventually(async () => (await status(id)) === 'connected')
      const used = stage.proxy.exchanges.findLast(({ path }) => path.includes('/callback?'))
      expect((await open(new URL(used?.path ?? '', stage.proxy.url).href)).status).toBe(400)
      const forged = new URL(await callback())
      forged.searchParams.set('state', 'forged')
      expect((await open(forged.href)).status).toBe(400)

      const { messages } = await api.call<{ messages: { id: string }[] }>('GET', `/accounts/${id}/messages`)
      await api.call('GET', `/accounts/${id}/messages/${messages[0]?.id}`)
      server.fail({ as: 'unauthorized', on: /\/messages|\/batch|history|delta/, user: email, times: 1 })
      await api.call('POST', `/accounts/${id}/sync`)
      await eventually(() => server.faults.waiting === 0)

      server.fail({ as: 'malformed', on: TOKEN, user: email, times: 1 })
      await eventually(async () => {
        // Expire on each attempt, because a refresh after the earlier 401 may still be running.
        server.expireAccessTokens(email)
        await api.call('POST', `/accounts/${id}/sync`)
        return server.faults.waiting === 0
      })
      // Without a request, the next attempt after a failure is up to 30 s away.
      const syncUntil = (wanted: string) =>
        eventually(async () => {
          await api.call('POST', `/accounts/${id}/sync`)
          // While the requested sync runs, the account is `syncing`.
          await eventually(async () => (await status(id)) !== 'syncing')
          return (await status(id)) === wanted
        })
      await syncUntil('connected')
      server.revokeGrants(email)
      await syncUntil('auth_error')
      const { refreshToken } = await server.grant(email)
      tokens.push(refreshToken, `wrong-${refreshToken}`)
      await api.call('POST', '/accounts', { provider: name, refreshToken })
      await expect(
        api.call('POST', '/accounts', { provider: name, refreshToken: `wrong-${refreshToken}` }),
      ).rejects.toThrow()
      await eventually(async () => (await status(id)) === 'connected')
      await api.call('DELETE', `/accounts/${id}`)
    }
  },
)

/** Refresh tokens that the application sent itself. */
const tokens: string[] = []

interface Secret {
  what: string
  value: string
}

/** Every secret in the traffic between the service and the token endpoints. */
function listSecrets({ tokenEndpoints, sites }: OAuthStage): Secret[] {
  const values = new Map<string, string>()
  const note = (what: string, value: unknown) => {
    if (typeof value === 'string' && value !== '') values.set(value, what)
  }
  for (const { sent, body } of tokenEndpoints.flatMap(({ exchanges }) => exchanges)) {
    const fields = new URLSearchParams(sent)
    for (const what of ['code', 'code_verifier', 'client_secret', 'refresh_token']) note(what, fields.get(what))
    if (!body.startsWith('{"') || !body.endsWith('}')) continue
    const response: Record<string, unknown> = JSON.parse(body)
    for (const what of ['access_token', 'refresh_token', 'id_token']) note(what, response[what])
  }
  for (const { server } of Object.values(sites)) note('client_secret', server.client.secret)
  for (const value of tokens) note('given', value)
  return [...values].map(([value, what]) => ({ what, value }))
}

/** The value as text, in a URL, and in base64 at each of the three alignments. */
function spellings(value: string): string[] {
  const inBase64 = [0, 1, 2].map((skipped) => {
    const encoded = Buffer.from(value.slice(skipped)).toString('base64')
    return encoded.slice(0, encoded.length - 4)
  })
  return [value, encodeURIComponent(value), ...inBase64]
}

/** The database files, as a thief of the disk could read them without the keys. */
async function readFiles(folder: string): Promise<{ where: string; text: string }[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith('posthorn.db'))
  return Promise.all(
    files.map(async (file) => ({
      where: `the file ${file}`,
      text: (await readFile(join(folder, file))).toString('latin1'),
    })),
  )
}
