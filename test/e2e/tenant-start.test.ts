import { it } from 'vitest'
import { describeOneDatabase } from '../kit/database/database.ts'
import { runTenantStart, startingGoogle, startingMicrosoft } from '../scenarios/tenant-start.ts'

describeOneDatabase('a tenant with 300 mailboxes', 'sqlite', (open) => {
  it.each([
    ['Microsoft', startingMicrosoft],
    ['Google', startingGoogle],
  ])('starts within the limits of %s, with few tokens', { timeout: 1_800_000 }, async (_name, tenant) => {
    await runTenantStart(await open.place(), tenant, 300)
  })
})
