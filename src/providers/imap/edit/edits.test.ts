import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imapEditsFixture } from '../../../../test/servers/changes-fixtures.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapMailbox, otherClient } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { editsConformance } from '../../conformance/edits.ts'

const servers: Record<string, string[]> = { imap: [], 'imap without MOVE and UIDPLUS': ['MOVE', 'UIDPLUS'] }

for (const [name, hideCapabilities] of Object.entries(servers)) {
  describe.skipIf(!dovecotAvailable())(name, () => {
    let server: Dovecot
    beforeAll(async () => {
      server = await startDovecot({ hideCapabilities })
    })
    afterAll(() => server.stop())

    editsConformance(name, () => imapEditsFixture(server))

    it('keeps messages that another client marked as deleted', async () => {
      const box = await imapMailbox(server)
      await box.deliver(plainMail({ subject: 'mine' }))
      await box.deliver(plainMail({ subject: 'marked' }))
      const marked = (work: 'set' | 'count') =>
        otherClient(server, box.user, 'secret', async (client) => {
          const { uidValidity } = await client.mailboxOpen('INBOX')
          if (work === 'set') await client.messageFlagsAdd('2', ['\\Deleted'], { uid: true })
          return { uidValidity: String(uidValidity), deleted: await client.search({ deleted: true }, { uid: true }) }
        })
      const { uidValidity } = await marked('set')
      const edits = box.mail.edits(box.access)
      expect(await edits.deleteMessages([{ folderPath: 'INBOX', uidValidity, uid: 1 }])).toEqual(['deleted'])
      expect((await marked('count')).deleted).toEqual([2])
      await box.mail.closeConnections()
    })

    it('changes nothing, and reports no deletion, in a folder that was renumbered or renamed', async () => {
      const { edits, deliver, seen, stop } = await imapEditsFixture(server)
      const message = await deliver('renumbered')
      const wrong = [
        { ...message, uidValidity: '1' },
        { ...message, folderPath: 'Gone' },
      ]
      expect(await edits.deleteMessages(wrong)).toMatchObject([{ kind: 'unavailable' }, { kind: 'unavailable' }])
      expect(await seen('renumbered')).toBe('INBOX unread')
      await stop()
    })
  })
}
