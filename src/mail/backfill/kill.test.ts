import { afterAll, beforeAll, describe, it } from 'vitest'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { runBackfillCrashes } from '../../../test/scenarios/backfill-crashes.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'

describe.skipIf(!dovecotAvailable())('a process killed while it backfills', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('stores every message once and announces none', 'postgres', (open) => {
    it('imap', async () => {
      const place = await open.place()
      await runBackfillCrashes(await open(place), place, { kind: 'imap', kills: 2, messages: 120, server })
    })
  })
})
