import { afterAll, beforeAll, describe } from 'vitest'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { imapSearch } from '../../../test/servers/search-fixtures.ts'
import { searchConformance } from '../conformance/search.ts'

describe.skipIf(!dovecotAvailable())('imap', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  searchConformance('imap', () => imapSearch(server))
})
