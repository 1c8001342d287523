import { afterAll, beforeAll, describe, it } from 'vitest'
import { describeEachDatabase } from '../kit/database/database.ts'
import { runBackfillCrashes } from '../scenarios/backfill-crashes.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'

const KILLS = 30

describe.skipIf(!dovecotAvailable())('a process killed while it backfills', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('stores every message once and announces none', (open, engine) => {
    it.each(['whole', 'folders', 'imap'] as const)('%s', { timeout: 1_800_000 }, async (kind) => {
      const place = await open.place()
      await runBackfillCrashes(await open(place), place, { kind, kills: KILLS, messages: 2000, server })
      console.log(`${engine}, ${kind}: ${KILLS} kills, every message once`)
    })
  })
})
