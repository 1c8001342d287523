import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { announced, mailEvents, servedMails, storedMails } from '../../../test/kit/mailbox-state.ts'
import { type SyncService, type SyncServiceOptions, syncService } from '../../../test/kit/sync.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import type { Db } from '../../infra/db/index.ts'

let server: Dovecot
let users = 0

describe.skipIf(!dovecotAvailable())('sync with a real mail server', () => {
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('folders in step', (open) => {
    const services: SyncService[] = []
    afterEach(async () => {
      for (const service of services.splice(0)) await service.stop()
    })

    async function begin(options: SyncServiceOptions = {}) {
      const db = await open()
      const user = `user${users++}`
      await server.addUser(user, 'one')
      const service = syncService(db, { timing: { pollMs: 500 }, ...options })
      services.push(service)
      return { db, user, service }
    }

    /** The mailbox as it is, linked and in step. */
    async function inStep(options: SyncServiceOptions = {}, before: (user: string) => Promise<void> = async () => {}) {
      const { db, user, service } = await begin(options)
      await before(user)
      const accountId = await service.link(server, user, 'one')
      await service.start()
      await connected(service, accountId)
      return { db, user, service, accountId }
    }

    it('what was there before is stored without a word; what arrives is announced once', async () => {
      const { db, user, accountId } = await inStep({}, (name) =>
        server.deliverMany(name, [mail('old-1'), mail('old-2'), mail('old-3')]),
      )
      await same(db, user, accountId)
      expect(await announced(db, accountId)).toEqual([])
      await server.deliverMany(user, [mail('new-1'), mail('new-2')])
      await eventually(async () => expect(await announced(db, accountId)).toEqual(['<new-1@x>', '<new-2@x>']))
      await same(db, user, accountId)
      const received = (await mailEvents(db, accountId)).filter((event) => event.type === 'message.received')
      expect(received[0]?.data).toMatchObject({ accountId, provider: 'imap', folder: 'INBOX', unread: true })
    })
  })
})

function mail(id: string, text?: string): Buffer {
  return plainMail({ messageId: `<${id}@x>`, subject: id, ...(text !== undefined && { text }) })
}

async function connected(service: SyncService, accountId: string): Promise<void> {
  await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'connected' }))
}

async function same(db: Db, user: string, accountId: string, folders = ['INBOX', 'Sent', 'Drafts']): Promise<void> {
  await eventually(async () =>
    expect(await storedMails(db, accountId)).toEqual(await servedMails(server, user, folders)),
  )
}
