import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { startStrictImap } from '../../../../test/servers/strict-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { FolderLiveReads, MessageLocation } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

/** A mailbox with a message, at a server that invents the UIDVALIDITY of a folder until the folder is opened by SELECT. */
async function storingOnSelect({ withoutUidNext }: { withoutUidNext: boolean }) {
  const imap = await startStrictImap({ storesOnSelect: true, withoutQresync: true, withoutUidNext })
  closing(imap.server)
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => mail.closeConnections() })
  const { access } = imap.server
  const inbox = imap.folder('INBOX')
  inbox.add(plainMail({ subject: 'first', text: 'one' }))
  const events = { onChange() {}, onClose() {} }
  return {
    inbox,
    mail,
    access,
    live: mail.liveReads(access),
    lines: imap.lines,
    open: async () => closing(await mail.openSession(access, events, new AbortController().signal)),
    async listed(): Promise<MessageLocation> {
      const { messages } = await mail.liveReads(access).listMessages('INBOX', { limit: 1 })
      // The next steps open the folder again.
      await mail.closeConnections()
      return { folderPath: 'INBOX', ...(messages[0]?.location ?? { uidValidity: '', uid: 0 }) }
    },
  }
}

const READS: Record<string, (live: FolderLiveReads, message: MessageLocation) => Promise<unknown>> = {
  message: async (live, message) => (await live.readMessage(message)).snippet,
  body: async (live, message) => (await live.getBody(message)).text,
  'raw message': async (live, message) => buffer(await (await live.openRaw(message)).read()),
  part: async (live, message) => buffer(await (await live.openAttachment(message, '1')).read()),
}

it.each(Object.entries(READS))('reads the %s of a message that it has listed before', async (_what, read) => {
  const { live, listed } = await storingOnSelect({ withoutUidNext: true })
  expect(String(await read(live, await listed()))).toContain('one')
})

it.each(Object.entries(READS))('reads the %s once the UIDVALIDITY has shown it to be invented', async (_what, read) => {
  const { live, listed } = await storingOnSelect({ withoutUidNext: false })
  await expect(read(live, await listed())).rejects.toMatchObject({ kind: 'not_found' })
  expect(String(await read(live, await listed()))).toContain('one')
})

it('syncs a folder under the UIDVALIDITY that the server has stored, and never reads it again', async () => {
  const { inbox, open } = await storingOnSelect({ withoutUidNext: true })
  const mirror = new FolderMirror('INBOX')
  const session = await open()
  await mirror.sync(session)
  await session.close()
  inbox.add(plainMail({ subject: 'second' }))
  const steps = await mirror.sync(await open())
  expect(steps.some(({ reset }) => reset)).toBe(false)
  expect(mirror.bySubject('second').isNew).toBe(true)
  expect(mirror.bySubject('second').location?.uidValidity).toBe(String(inbox.uidValidity))
})

it('does not take an invented UIDVALIDITY for that of an empty folder', async () => {
  const { inbox, open } = await storingOnSelect({ withoutUidNext: true })
  inbox.remove('first')
  const session = await open()
  await session.watch('INBOX')
  const mirror = new FolderMirror('INBOX')
  expect(await session.changedFolders([mirror])).toEqual(['INBOX'])
  await mirror.sync(session)
  inbox.add(plainMail({ subject: 'second' }))
  await mirror.sync(session)
  expect(mirror.steps.some(({ reset }) => reset)).toBe(false)
  expect(mirror.bySubject('second').isNew).toBe(true)
})

it('counts older messages for a backfill in another session', async () => {
  const { mail, access, open } = await storingOnSelect({ withoutUidNext: true })
  const mirror = new FolderMirror('INBOX', 0)
  await mirror.sync(await open())
  const range = { path: 'INBOX', cursor: mirror.cursor ?? '', sinceMs: Date.now() - 86_400_000 }
  expect(await mail.backfill(access).count({ ...range, signal: new AbortController().signal })).toBe(1)
})
