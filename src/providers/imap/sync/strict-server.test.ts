import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { FolderMirror } from '../../../../test/kit/folder-mirror.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { type StrictImap, type StrictImapOptions, startStrictImap } from '../../../../test/servers/strict-imap.ts'
import { systemClock } from '../../../lib/clock.ts'
import type { FolderSession } from '../../contract/index.ts'
import { imapProvider } from '../index.ts'

const mail = (id: string) => plainMail({ messageId: `<${id}@x>`, subject: id })

async function strict(options: StrictImapOptions = {}): Promise<StrictImap & { session: FolderSession }> {
  const imap = await startStrictImap(options)
  closing(imap.server)
  const provider = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => provider.mail.closeConnections() })
  const events = { onChange() {}, onClose() {} }
  const session = await provider.mail.openSession(imap.server.access, events, new AbortController().signal)
  closing(session)
  return { ...imap, session }
}

it.each(['newest', 'oldest'])('reports the removal of the %s message', async (which) => {
  const { folder, session } = await strict()
  const inbox = folder('INBOX')
  for (const id of ['oldest', 'middle', 'newest']) inbox.add(mail(id))
  const mirror = new FolderMirror('INBOX')
  await mirror.sync(session)
  inbox.remove(`<${which}@x>`)
  await mirror.sync(session)
  expect(mirror.subjects()).toEqual(['oldest', 'middle', 'newest'].filter((id) => id !== which))
})

it('finds a removal that the server does not report, from the number of messages', async () => {
  const { folder, session, lines } = await strict()
  const inbox = folder('INBOX')
  for (const id of ['a', 'b', 'c']) inbox.add(mail(id))
  const mirror = new FolderMirror('INBOX')
  await mirror.sync(session)
  inbox.remove('<b@x>')
  inbox.expunged = []
  await mirror.sync(session)
  expect(mirror.subjects()).toEqual(['a', 'c'])
  const before = lines.length
  inbox.remove('<a@x>')
  await mirror.sync(session)
  expect(mirror.subjects()).toEqual(['c'])
  // An explained count needs no comparison.
  expect(lines.slice(before).filter((line) => line.startsWith('UID FETCH'))).toHaveLength(2)
})

it('does not compare a folder because messages left that were deleted through the API, or were never read', async () => {
  const { folder, session, lines } = await strict()
  const inbox = folder('INBOX')
  for (const id of ['a', 'b', 'c']) inbox.add(mail(id))
  const mirror = new FolderMirror('INBOX', 2)
  await mirror.sync(session)
  expect(mirror.subjects()).toEqual(['b', 'c'])
  const before = lines.length
  mirror.rows.delete(inbox.remove('<b@x>').uid)
  inbox.add(mail('d'))
  inbox.remove('<d@x>')
  await mirror.sync(session)
  expect(mirror.subjects()).toEqual(['c'])
  expect(lines.slice(before).filter((line) => /^UID FETCH \S+ \(UID FLAGS\)$/.test(line))).toEqual([])
})
