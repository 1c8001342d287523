import { describe, expect, it } from 'vitest'
import { describeOneDatabase, describePostgres } from '../../test/kit/database/database.ts'
import { CHANGES_PER_KILL, runContactCrashes } from '../../test/scenarios/contact-crashes.ts'
import { runContactOwners } from '../../test/scenarios/contact-owners.ts'
import { radicaleAvailable } from '../../test/servers/radicale.ts'

const KILLS = 3

describe.skipIf(!radicaleAvailable())('a process killed while it syncs and changes contacts', () => {
  describeOneDatabase('and learns people', 'sqlite', (open) => {
    it('announces every change exactly once, and counts every message once', async () => {
      const place = await open.place()
      const changes = await runContactCrashes(await open(place), place, { kills: KILLS, contacts: 120, letters: 500 })
      expect(changes).toBe(KILLS * CHANGES_PER_KILL)
    })
  })

  describePostgres('or suspended, beside others on PostgreSQL', (open) => {
    it('hands the first sync over halfway, and undoes no change of another one', async () => {
      const place = await open.place()
      expect(await runContactOwners(await open(place), place, { contacts: 450, races: 6 })).toBeGreaterThan(6)
    })
  })
})
