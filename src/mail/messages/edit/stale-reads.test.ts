import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { HeldReads } from '../../../../test/kit/mailbox/held-reads.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { PROVIDERS, QUIET, watchedMailbox } from '../../../../test/kit/mailbox/synced-double.ts'
import { connected, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { messageApi } from '../../../../test/kit/messages/message-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../../../providers/imap/provider.ts'

describeEachDatabase('a sync that read the mailbox before a change through the API', (open) => {
  it.each(['whole', 'folders'] as const)('does not undo the change, and repeats no event (%s)', async (kind) => {
    const db = await open()
    const box = new MailboxDouble(kind)
    box.deliverAll(['a', 'b', 'c'])
    const reads = new HeldReads()
    const service = syncService(db, { mail: reads.idMail(box.mail), timing: QUIET })
    onTestFinished(() => service.stop())
    const accountId = await service.linkMailbox(PROVIDERS[kind])
    await service.start()
    await connected(service, accountId)
    const { same, emitted, ids } = watchedMailbox(db, accountId, () => box.state, service.synced)
    await same()
    const api = await messageApi({ db, service, accountId })
    const { a = '', b = '', c = '' } = await ids()

    reads.hold()
    box.set('a', { starred: true })
    box.set('b', { folders: ['Work'] })
    box.set('c', { folders: ['Work'] })
    await service.wake(accountId)
    await eventually(() => expect(reads.held).toBeGreaterThan(0))
    expect((await api.patch(a, { starred: false })).status).toBe(200)
    expect((await api.patch(b, { labelIds: ['INBOX'] })).status).toBe(200)
    expect((await api.remove(c, '?permanent=true')).status).toBe(200)
    reads.release()

    await same()
    expect((await api.get(`/messages/${a}`)).json).toMatchObject({ starred: false, folder: 'INBOX' })
    expect(await emitted()).toEqual(['message.deleted c 2'])
  })
})

describe.skipIf(!dovecotAvailable())('a sync over IMAP that read a folder before a change through the API', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('with a held response', (open) => {
    it('does not undo the change, and repeats no event', async () => {
      const reads = new HeldReads()
      const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
      const mailbox = await syncedMailbox(server, open, {
        mail: reads.folderMail(mail),
        before: (box) => box.deliver('a', 'b', 'c'),
      })
      const { box, service, accountId, same, ids, events, db } = mailbox
      const api = await messageApi({ db, service, accountId })
      const { a: [a = ''] = [], b: [b = ''] = [], c: [c = ''] = [] } = await ids()

      reads.hold()
      await box.flag('a', '\\Flagged')
      await box.flag('b', '\\Flagged')
      await box.deliver('d')
      await service.wake(accountId)
      await eventually(() => expect(reads.held).toBeGreaterThan(0))
      expect((await api.patch(a, { starred: false, unread: false })).status).toBe(200)
      expect((await api.patch(b, { labelIds: ['Archive'] })).status).toBe(200)
      expect((await api.remove(c, '?permanent=true')).status).toBe(200)
      reads.release()

      await same()
      expect((await api.get(`/messages/${a}`)).json).toMatchObject({ starred: false, unread: false })
      const own = (await events()).filter(({ type }) => type !== 'mailbox.changed')
      expect(own.map(({ type, data, version }) => `${type} ${data.subject} ${version}`).sort()).toEqual([
        'message.deleted c 2',
        'message.received d 1',
        'message.updated a 2',
        'message.updated b 2',
      ])
    })
  })
})
