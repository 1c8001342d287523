import { afterAll, beforeAll, describe } from 'vitest'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapDraftsFixture } from '../../../../test/servers/drafts-fixtures.ts'
import { draftsConformance } from '../../conformance/drafts.ts'

const servers: Record<string, string[]> = { 'on Dovecot': [], 'without UIDPLUS': ['UIDPLUS'] }

describe.skipIf(!dovecotAvailable()).each(Object.entries(servers))('drafts %s', (_, hideCapabilities) => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot({ hideCapabilities })
  })
  afterAll(() => server.stop())

  draftsConformance('imap', () => imapDraftsFixture(server))
})
