import { expect, it } from 'vitest'
import { describeOneDatabase, describePostgres, emptyPlace, type Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { expectEachAnnouncedOnce } from '../scenarios/announcements.ts'
import { startApplication } from '../scenarios/application.ts'
import { client } from '../scenarios/client.ts'
import { subscribe } from '../scenarios/mailboxes.ts'
import { runTenantStart, startingGoogle, startingMicrosoft } from '../scenarios/tenant-start.ts'
import { plainMail } from '../servers/messages.ts'
import { type Microsoft, startMicrosoft } from '../servers/microsoft.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const ACCOUNTS = 40
const ROUNDS = Number(process.env.TENANT_ROUNDS ?? 4)
const MESSAGES_PER_ROUND = 40
/** As long as a slow token endpoint, so that processes are killed while they wait for it. */
const TOKEN_MS = 300

describePostgres('a tenant on two replicas, one of which is killed again and again', (databases) => {
  it('requests one token at a time, and announces each message once', { timeout: 900_000 }, async () => {
    const microsoft = await startMicrosoft()
    const application = await startApplication()
    const place = await emptyPlace(databases)
    const replicas = [await startReplica(place, microsoft), await startReplica(place, microsoft)]
    try {
      const [first] = replicas
      if (first === undefined) throw new Error('no replica was started')
      await subscribe(client(first.url, first.key), application, ['message.received'])
      const users = await connectTenant(api(first.url, first.key), microsoft)
      microsoft.applications.pace.latencyMs = TOKEN_MS
      const sent: string[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        microsoft.expireAccessTokens()
        for (let index = 0; index < MESSAGES_PER_ROUND; index += 1) {
          const subject = `round-${round}-${index}`
          await microsoft.deliver(users[index % users.length] ?? '', plainMail({ subject }))
          sent.push(subject)
        }
        const victim = round % 2
        await wakeAll(replicas)
        // While some process requests the token.
        await new Promise((resolve) => setTimeout(resolve, TOKEN_MS / 2))
        const peak = microsoft.applications.peakTokenRequests
        await replicas[victim]?.kill()
        expect(peak).toBe(1)
        replicas[victim] = await startReplica(place, microsoft)
        await wakeAll(replicas)
        await expectEachAnnouncedOnce(application, sent, 180_000)
      }
      expect(microsoft.applications.peakTokenRequests).toBe(1)
      const { tokenRequests } = microsoft.applications
      console.log(`tokens requested for ${ACCOUNTS} accounts, ${ROUNDS} expiries and kills: ${tokenRequests}`)
      expect(tokenRequests).toBeLessThanOrEqual(2 + 4 * ROUNDS)
    } finally {
      for (const replica of replicas) await replica.stop()
      await application.close()
      await microsoft.close()
    }
  })
})

describeOneDatabase('a tenant with 1,000 mailboxes', 'sqlite', (open) => {
  it.each([
    ['Microsoft', startingMicrosoft],
    ['Google', startingGoogle],
  ])('starts within the limits of %s', { timeout: 900_000 }, async (_name, tenant) => {
    await runTenantStart(await open.place(), tenant, 1000)
  })
})

function startReplica(place: Place, { url }: Microsoft): Promise<ServiceProcess> {
  const env = { ...SHARED_KEYS, MICROSOFT_LOGIN_URL: url, MICROSOFT_GRAPH_URL: url, PRIVATE_TARGETS: 'loopback' }
  return startServiceProcess({ ...place, env })
}

async function connectTenant(owner: Api, microsoft: Microsoft): Promise<string[]> {
  const users = Array.from({ length: ACCOUNTS }, (_, index) => `user-${index}@acme.example`)
  for (const user of users) microsoft.addUser(user, { tenant: TENANT })
  microsoft.applications.consent(TENANT)
  const { json } = await owner.post('/connections', {
    provider: 'microsoft',
    kind: 'tenant',
    name: 'Acme',
    tenantId: TENANT,
    clientId: microsoft.client.id,
    clientSecret: 'tenant-secret',
  })
  for (const email of users) {
    expect((await owner.post('/accounts', { connectionId: json.id, email })).status).toBe(200)
  }
  await eventually(async () =>
    expect((await owner.get('/accounts?status=connected&limit=1')).json.pagination.total).toBe(ACCOUNTS),
  )
  return users
}

/** Makes every account need a token now, on both replicas. */
async function wakeAll(replicas: readonly ServiceProcess[]): Promise<void> {
  const [one] = replicas
  if (one === undefined) return
  const owner = api(one.url, one.key)
  const { accounts } = (await owner.get('/accounts?limit=200')).json
  await Promise.all(accounts.map(({ id }: { id: string }) => owner.post(`/accounts/${id}/sync`)))
}
