import { expect, it } from 'vitest'
import { describeOneDatabase, describePostgres } from '../kit/database/database.ts'
import { runTenantKills } from '../scenarios/tenant-kills.ts'
import { runTenantStart, startingGoogle, startingMicrosoft } from '../scenarios/tenant-start.ts'

const ACCOUNTS = 40
const ROUNDS = Number(process.env.TENANT_ROUNDS ?? 4)
const MESSAGES = 40

describePostgres('a tenant on two replicas, one of which is killed again and again', (databases) => {
  it.each([
    ['Microsoft', startingMicrosoft, 2 + 4 * ROUNDS],
    ['Google', startingGoogle, 1 + ACCOUNTS * (1 + 2 * ROUNDS)],
  ])('requests one token at a time at %s, and announces each message once', { timeout: 900_000 }, async (...row) => {
    const [provider, tenant, mostTokens] = row
    const tokens = await runTenantKills(databases, tenant, { accounts: ACCOUNTS, rounds: ROUNDS, messages: MESSAGES })
    console.log(`tokens requested at ${provider} for ${ACCOUNTS} accounts, ${ROUNDS} expiries and kills: ${tokens}`)
    expect(tokens).toBeLessThanOrEqual(mostTokens)
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
