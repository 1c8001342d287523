import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { type StrictImap, type StrictImapOptions, startStrictImap } from '../../../../test/servers/strict-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { FolderSession } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

const mail = (id: string) => plainMail({ messageId: `<${id}@x>`, subject: id })

interface Opened extends StrictImap {
  session: FolderSession
  /** Opens another session. */
  open(): Promise<FolderSession>
}

async function strict(options: StrictImapOptions = {}): Promise<Opened> {
  const imap = await startStrictImap(options)
  closing(imap.server)
  const provider = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => provider.mail.closeConnections() })
  const events = { onChange() {}, onClose() {} }
  const open = async () =>
    closing(await provider.mail.openSession(imap.server.access, events, new AbortController().signal))
  return { ...imap, open, session: await open() }
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

describe.each([false, true])('a server restored from a backup, without QRESYNC: %s', (withoutQresync) => {
  /** Mail that the backup lacks is synced, then other mail arrives at the restored server. */
  async function restored(lost: string[], arriving: string[]) {
    const imap = await strict({ withoutQresync })
    const inbox = imap.folder('INBOX')
    for (const id of ['a', 'b']) inbox.add(mail(id))
    const backup = inbox.backup()
    for (const id of lost) inbox.add(mail(id))
    inbox.flag('<a@x>', '\\Seen')
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(imap.session)
    await imap.session.close()
    imap.server.disconnect()
    inbox.restore(backup)
    for (const id of arriving) inbox.add(mail(id))
    return { ...imap, inbox, mirror }
  }

  it.each([
    ['fewer messages than before', ['c', 'd', 'e'], ['f']],
    ['as many messages as before', ['c', 'd'], ['e', 'f']],
    ['more messages than before', ['c'], ['d', 'e', 'f']],
    ['no messages', ['c'], []],
  ])('reads the folder again: %s', async (_case, lost, arriving) => {
    const { inbox, mirror, open } = await restored(lost, arriving)
    const session = await open()
    await session.watch('INBOX')
    expect(await session.changedFolders([{ path: 'INBOX', cursor: mirror.cursor }])).toEqual(['INBOX'])
    const steps = await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['a', 'b', ...arriving])
    expect(steps.some(({ reset }) => reset)).toBe(true)
    inbox.add(mail('later'))
    expect((await mirror.sync(session)).some(({ reset }) => reset)).toBe(false)
    expect(mirror.bySubject('later').isNew).toBe(true)
  })
})
