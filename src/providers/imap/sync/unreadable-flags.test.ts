import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { startStrictImap } from '../../../../test/servers/strict-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const mail = (id: string) => plainMail({ messageId: `<${id}@x>`, subject: id })
const signal = new AbortController().signal

/** A folder with a message that ends the connection whenever it is read. */
async function folderWithFailing() {
  const imap = await startStrictImap()
  closing(imap.server)
  const inbox = imap.folder('INBOX')
  imap.spoil('<p@x>', 'close')
  inbox.add(mail('a'))
  inbox.add(mail('p'), { flags: ['\\Seen', '\\Flagged'] })
  inbox.add(mail('b'))
  const provider = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => provider.mail.closeConnections() })
  const { access } = imap.server
  const open = async () => closing(await provider.mail.openSession(access, { onChange() {}, onClose() {} }, signal))
  return { ...imap, inbox, open, live: provider.mail.liveReads(access) }
}

it('reads the flags of a message that it passes', async () => {
  const { open } = await folderWithFailing()
  const mirror = new FolderMirror('INBOX')
  for (let losses = 0; losses < 3; losses += 1) await expect(mirror.sync(await open())).rejects.toThrow()
  await mirror.sync(await open())
  expect(mirror.rows.get(2)).toMatchObject({
    unread: false,
    starred: true,
    unreadable: { knowsFlags: true, knowsTime: false },
  })
})

it('claims no flags of a message when the server does not return them', async () => {
  const { inbox, live } = await folderWithFailing()
  const location = { folderPath: 'INBOX', uidValidity: String(inbox.uidValidity) }
  expect(await live.describeMessage({ ...location, uid: 2 })).toMatchObject({ unread: false, starred: true })
  expect(await live.describeMessage({ ...location, uid: 9 })).toMatchObject({
    unreadable: { knowsFlags: false, knowsTime: false },
  })
})
