import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/time/clock.ts'
import { closing } from '../kit/closing.ts'
import { api } from '../kit/http/http.ts'
import { type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import { type NameServer, startNameServer } from '../servers/name-server.ts'
import { startReceiver } from '../servers/receiver.ts'

/** An address of this machine at which nothing else listens, and a domain whose configuration is there. */
const CONFIG_HOST = '127.54.0.1'
const DOMAIN = 'mailboxes-of-ada.de'
const CONFIG = `<?xml version="1.0"?><clientConfig version="1.1"><emailProvider id="${DOMAIN}"><incomingServer type="imap">
  <hostname>found.${DOMAIN}</hostname><port>993</port><socketType>SSL</socketType><username>%EMAILADDRESS%</username>
</incomingServer></emailProvider></clientConfig>`
const HTTPS = 443
const DAY_MS = 24 * 60 * 60 * 1000

/** Only root may listen at the port of https. */
describe.skipIf(process.getuid?.() !== 0)('the built service, beyond the examples of its API', () => {
  let folder: string
  let names: NameServer
  let web: ReturnType<typeof createServer>
  let service: ServiceProcess
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'posthorn-built-'))
    const host = `autoconfig.${DOMAIN}`
    const own = await generate([{ name: 'commonName', value: host }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
    })
    await writeFile(join(folder, 'ca.pem'), own.cert)
    web = createServer({ key: own.private, cert: own.cert }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/xml' }).end(CONFIG)
    }).listen(HTTPS, CONFIG_HOST)
    names = await startNameServer((name) => (name === host ? [CONFIG_HOST] : 'no such name'))
    service = await startServiceProcess({
      dataDir: folder,
      env: {
        NAME_SERVER: names.server,
        NODE_OPTIONS: `--import ${new URL('../servers/own-name-server.mjs', import.meta.url)}`,
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      },
    })
  })
  afterAll(async () => {
    await service?.stop()
    await names?.close()
    web?.closeAllConnections()
    web?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('proposes the mail server that a domain publishes', async () => {
    const owner = api(service.url, service.key)
    const created = await owner.post('/auth/sessions', { redirectUri: 'https://acme.example/connected' })
    const session = { session: created.json.code, state: 'state-1' }
    const { status, text } = await owner.post('/auth/authorize', {
      ...session,
      email: `ada@${DOMAIN}`,
      provider: 'imap',
      edit: 'server',
    })
    expect([status, text]).toEqual([200, expect.stringContaining(`value="found.${DOMAIN}"`)])
  })

  it('lists the times that the application offers', async () => {
    const application = closing(await startReceiver())
    const nowMs = systemClock.now()
    const at = (ms: number) => new Date(Math.ceil(ms / DAY_MS) * DAY_MS).toISOString()
    const slot = { start: at(nowMs + DAY_MS), end: at(nowMs + DAY_MS).replace('T00:00', 'T00:30') }
    application.always(() => {
      const body = { generatedAt: new Date(systemClock.now()).toISOString(), slots: [slot] }
      return { status: 200, body: JSON.stringify(body) }
    })
    const owner = api(service.url, service.key)
    const experience = { slug: 'intro-call', name: 'Intro call', availabilityEndpoint: { url: application.url } }
    expect((await owner.post('/scheduler/experiences', experience)).status).toBe(201)
    const listed = await api(service.url).post('/scheduler/experiences/intro-call/availability', {
      range: { start: at(nowMs), end: at(nowMs + 3 * DAY_MS) },
      durationMinutes: 30,
    })
    expect([listed.status, listed.text]).toEqual([200, expect.stringContaining(slot.start)])
    expect(application.requests).toHaveLength(1)
  })

  it.each(['/', '/admin', '/docs', '/embed/intro-call'])('serves %s, and every file that it names', async (path) => {
    const visitor = api(service.url)
    const page = await visitor.get(path, { accept: 'text/html' })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    const files = [...page.text.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url)
    for (const url of files.filter((file) => !file.startsWith('data:'))) {
      const file = await visitor.get(new URL(url, new URL(path, service.url)).href)
      expect([url, file.status, file.text === '']).toEqual([url, 200, false])
    }
    if (path !== '/') expect(files.length).toBeGreaterThan(0)
  })
})
