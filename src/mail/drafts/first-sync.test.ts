import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { MailboxDouble } from '../../../test/kit/mailbox/double/mailbox-double.ts'
import { type SyncService, syncService } from '../../../test/kit/mailbox/sync.ts'
import { PROVIDERS } from '../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { draftApi } from '../../../test/kit/messages/draft-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import type { Db } from '../../platform/db/index.ts'

const NEW = { to: ['bob@example.com', '用户@例え.jp'], subject: 'First', body: 'Hello' }

/** Saves drafts both ways before the first sync, which must then find them and announce nothing. */
async function savesBeforeFirstSync(service: SyncService, accountId: string, db: Db): Promise<void> {
  onTestFinished(() => service.stop())
  const api = await draftApi({ service, accountId })
  const created = await api.post('/drafts', { accountId, ...NEW })
  expect([created.status, created.json]).toMatchObject([200, { subject: 'First', accountId }])
  const saved = await api.post(`/accounts/${accountId}/drafts`, { ...NEW, subject: 'Second' })
  expect([saved.status, saved.json]).toMatchObject([200, { success: true, result: { success: true } }])
  await service.start()
  await connected(service, accountId)
  const { drafts } = (await api.get(`/accounts/${accountId}/drafts`)).json
  expect(drafts.map(({ subject }: { subject: string }) => subject).sort()).toEqual(['First', 'Second'])
  expect((await api.get(`/drafts/${created.json.id}`)).json).toMatchObject({ subject: 'First', version: 1 })
  const rows = await db.read.selectFrom('events').select('type').where('type', 'like', 'draft.%').execute()
  expect(rows.map(({ type }) => type)).toEqual(['draft.created', 'draft.created'])
}

describe.each(['whole', 'folders'] as const)('the first draft of a mailbox with message ids (%s)', (kind) => {
  describeOneDatabase('over the API', 'sqlite', (open) => {
    it('is saved before the first sync', async () => {
      const db = await open()
      const box = new MailboxDouble(kind)
      box.pollMs = 60_000
      const service = syncService(db, { mail: box.mail })
      await savesBeforeFirstSync(service, await service.linkMailbox(PROVIDERS[kind]), db)
      expect(Object.values(box.state.messages)).toHaveLength(2)
    })
  })
})

describe.skipIf(!dovecotAvailable())('the first draft of a mailbox on Dovecot', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('over the API', 'sqlite', (open) => {
    it('is saved before the first sync', async () => {
      const db = await open()
      await server.addUser('first', 'one')
      const service = syncService(db)
      await savesBeforeFirstSync(service, await service.link(server, 'first', 'one'), db)
    })
  })
})
