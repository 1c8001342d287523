import { expect } from 'vitest'
import type { Databases, Place } from '../kit/database/database.ts'
import { emptyPlace } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { subscribe } from './mailboxes.ts'
import type { StartingTenant } from './tenant-start.ts'

export interface KillRounds {
  accounts: number
  rounds: number
  /** In each round, spread over the accounts. */
  messages: number
}

/** As long as a slow token endpoint, so that processes are killed while they wait for it. */
const TOKEN_MS = 1000
const ANNOUNCED_MS = 300_000

/**
 * A tenant on two replicas. In each round all tokens expire, messages arrive, and one replica is killed while it requests a token. Requires
 * one request at a time for each token, and one announcement of each message. Returns how many tokens were requested.
 */
export async function runTenantKills(
  databases: Databases,
  open: () => Promise<StartingTenant>,
  { accounts, rounds, messages }: KillRounds,
): Promise<number> {
  const tenant = await open()
  const application = await startApplication()
  const place = await emptyPlace(databases)
  const replicas = [await startReplica(place, tenant), await startReplica(place, tenant)] as const
  const running: ServiceProcess[] = [...replicas]
  try {
    const [first] = replicas
    const users = await connectTenant(api(first.url, first.key), tenant, accounts)
    await subscribe(client(first.url, first.key), application, ['message.received'])
    await eventually(async () => {
      for (const replica of replicas) expect(await ownedBy(databases, place, replica)).not.toEqual([])
    })
    tenant.pace.latencyMs = TOKEN_MS
    const sent: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      tenant.expireTokens()
      for (let index = 0; index < messages; index += 1) {
        const subject = `round-${round}-${index}`
        await tenant.deliver(users[index % users.length] ?? '', subject)
        sent.push(subject)
      }
      const victim = running[round % 2]
      const survivor = running[(round + 1) % 2]
      if (victim === undefined || survivor === undefined) throw new Error('a replica is missing')
      const owned = await ownedBy(databases, place, victim)
      await syncAll(survivor)
      // While it requests the token of one of its accounts.
      await eventually(() => tenant.requesting().some((user) => owned.includes(user)), undefined, 1)
      await victim.kill()
      if (round + 1 < rounds) running[round % 2] = await startReplica(place, tenant)
      await syncAll(survivor)
      await expectEachAnnouncedOnce(application, sent, ANNOUNCED_MS)
    }
    expect(tenant.peakTokenRequests()).toBe(1)
    return tenant.tokenRequests()
  } finally {
    for (const replica of running) await replica.stop()
    await application.close()
    await tenant.close()
  }
}

function startReplica(place: Place, { environment }: StartingTenant): Promise<ServiceProcess> {
  return startServiceProcess({ ...place, env: { ...SHARED_KEYS, ...environment, PRIVATE_TARGETS: 'loopback' } })
}

async function connectTenant(owner: Api, tenant: StartingTenant, accounts: number): Promise<string[]> {
  const users = Array.from({ length: accounts }, (_, index) => `user-${index}@acme.example`)
  for (const user of users) await tenant.addUser(user)
  const { id: connectionId } = (await owner.post('/connections', tenant.connection)).json
  for (const email of users) {
    expect((await owner.post('/accounts', { connectionId, email })).status).toBe(200)
  }
  await eventually(async () =>
    expect((await owner.get('/accounts?status=connected&limit=1')).json.pagination.total).toBe(accounts),
  )
  return users
}

/** The addresses of the accounts that this replica owns. */
async function ownedBy(databases: Databases, place: Place, { url, key }: ServiceProcess): Promise<string[]> {
  const { instance } = (await api(url, key).get('/health/detailed')).json.data
  const db = await databases(place)
  const owned = db.read.selectFrom('accounts').select('email').where('ownerInstance', '=', instance)
  const rows = await owned.execute().finally(() => db.close())
  return rows.map(({ email }) => email)
}

/** Makes every account need its token now. */
async function syncAll({ url, key }: ServiceProcess): Promise<void> {
  const owner = api(url, key)
  const { accounts } = (await owner.get('/accounts?limit=200')).json
  await Promise.all(accounts.map(({ id }: { id: string }) => owner.post(`/accounts/${id}/sync`)))
}
