import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { api } from '../../test/kit/http/http.ts'
import { testServer } from '../../test/kit/http/server.ts'
import { memoryLog } from '../../test/kit/service/memory-log.ts'
import { detection } from '../accounts/auth/detection/detection.ts'
import { verifyFurtherServers } from '../accounts/connecting/further-servers.ts'
import { verifyImap } from '../accounts/connecting/imap-check.ts'
import { readLive, VerificationLimit } from '../accounts/index.ts'
import { silentLog } from '../platform/log/index.ts'
import { type AddressGuard, addressGuard } from '../platform/net/index.ts'
import { type Outbound, outbound } from '../platform/outbound/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { caldavProvider } from '../providers/caldav/index.ts'
import type { MailAccess } from '../providers/contract/index.ts'
import { gmailLogin } from '../providers/gmail/index.ts'
import { imapProvider } from '../providers/imap/provider.ts'
import { restClient, statusError } from '../providers/shared/rest/index.ts'
import { smtpProvider } from '../providers/smtp/index.ts'

/** Throws as code with a wrong import does. */
function bug(): never {
  const nothing: ReturnType<typeof JSON.parse> = {}
  nothing.DOMParser.parseFromString()
  throw new Error('There is a DOMParser.')
}

const brokenGuard: AddressGuard = { check: async () => bug(), allowsPlain: () => true }
const brokenOutbound: Outbound = { send: async () => bug(), close: async () => {} }
const silentRecords = { mx: async () => [], srv: async () => [], txt: async () => [] }
const email = 'ada@acme.example'
const secrets = { password: 'secret' }
const imap = {
  host: 'imap.acme.example',
  port: 993,
  security: 'tls',
  username: 'ada',
  mailbox: 'INBOX',
  allowSelfSigned: false,
} as const
const smtp = { host: 'smtp.acme.example', port: 465, security: 'tls' } as const
const caldav = { url: 'https://dav.acme.example/' }
const access: MailAccess = { accountId: 'acc_1', email, settings: {}, secrets, accessToken: async () => 'token' }
const connection = { email, providerUser: email, secrets }

describe('a programming error is a 500 of the service and in its log', () => {
  let provider: Server
  let origin: string
  beforeAll(async () => {
    provider = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}')
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => provider.once('listening', resolve))
    origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  })
  afterAll(() => void provider.close())

  const verifications = () => ({ verifications: new VerificationLimit() })
  const never = { verify: async () => {} }

  it.each<[string, () => Promise<unknown>]>([
    [
      'that reads the response of an API',
      () => {
        const rest = { rateLimit: { concurrency: 1 }, toError: statusError, clock: systemClock }
        const client = restClient({ root: `${origin}/`, ...rest })
        onTestFinished(() => client.close())
        const request = { method: 'GET', path: '/things', doing: 'reading things' } as const
        return readLive('The thing', () => client.mailbox(access).json(request, bug))
      },
    ],
    [
      'of a sign-in at a provider',
      () => {
        const urls = { authUrl: `${origin}/a`, tokenUrl: `${origin}/t`, userinfoUrl: `${origin}/u` }
        const client = { clientId: 'id', clientSecret: 'secret', clock: { ...systemClock, now: bug } }
        return readLive('The user', () => gmailLogin({ ...urls, ...client }).refresh('token'))
      },
    ],
    [
      'of a connection to a mail server',
      () => {
        const { mail } = imapProvider({ guard: brokenGuard, clock: systemClock })
        return verifyImap({ ...verifications(), mail }, { ...connection, settings: { imap } })
      },
    ],
    [
      'of a connection to an SMTP server',
      () => {
        const provider = smtpProvider({ guard: brokenGuard, copies: bug })
        return verifyFurtherServers(
          { ...verifications(), smtp: provider, caldav: never },
          { ...connection, settings: { imap, smtp } },
        )
      },
    ],
    [
      'of a request to a CalDAV server',
      () => {
        const provider = caldavProvider({
          outbound: brokenOutbound,
          records: silentRecords,
          clock: systemClock,
          log: silentLog,
        })
        onTestFinished(() => provider.close())
        const servers = { smtp: never, caldav: provider }
        return verifyFurtherServers({ ...verifications(), ...servers }, { ...connection, settings: { imap, caldav } })
      },
    ],
    [
      'that looks up the name of an endpoint',
      async () => {
        const guard = addressGuard({ privateTargets: 'all', clock: systemClock, resolve: bug })
        const client = outbound({ guard })
        onTestFinished(() => client.close())
        return client.send({ method: 'POST', url: 'https://acme.example/', headers: {}, timeoutMs: 20_000 })
      },
    ],
    [
      'that looks for the mail server of an address',
      () =>
        detection({ records: silentRecords, outbound: brokenOutbound, clock: systemClock }).findServer(
          'ada@acme-mail.de',
        ),
    ],
    [
      'that looks for the provider of an address',
      () => {
        const records = { ...silentRecords, mx: async () => bug() }
        return detection({ records, outbound: brokenOutbound, clock: systemClock }).detectProvider('ada@acme-mail.de')
      },
    ],
  ])('%s', async (_what, work) => {
    const { log, entries } = memoryLog()
    const app = testServer({ log })
    onTestFinished(() => app.close())
    app.get('/bug', { config: { access: 'key:read' } }, async () => {
      await work()
      return {}
    })
    const client = api(await app.listen({ port: 0, host: '127.0.0.1' }), 'good')
    const { status, json } = await client.get('/bug')
    expect([status, json.error.type, json.error.code]).toEqual([500, 'server', 'internal'])
    const errors = entries.filter(({ level }) => level === 'error').map(({ error }) => error)
    expect(JSON.stringify(errors)).toContain('TypeError')
    expect(JSON.stringify(errors)).toContain('parseFromString')
  })
})
