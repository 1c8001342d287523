import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { FolderMirror } from '../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { startStrictImap } from '../../../test/servers/strict-imap.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { imapProvider } from './provider.ts'

/** A session that watches INBOX, at a server that allows the mailbox one connection. */
async function onlySession() {
  const { server, folder, lines } = await startStrictImap({ folders: ['Work'], maxLogins: 1 })
  closing(server)
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => mail.closeConnections() })
  const reported: (string | undefined)[] = []
  const events = { onChange: (path: string | undefined) => void reported.push(path), onClose() {} }
  const open = () => mail.openSession(server.access, events, new AbortController().signal)
  for (const path of ['INBOX', 'Work']) folder(path).add(plainMail({ subject: path, text: `in ${path}` }))
  return { server, folder, lines, mail, open, reported, access: server.access }
}

it('reads and changes messages over the sync connection, which then watches its folder again', async () => {
  const { folder, lines, mail, open, reported, access } = await onlySession()
  const session = closing(await open())
  await session.watch('INBOX')
  const mirrors = [new FolderMirror('INBOX'), new FolderMirror('Work')]
  for (const mirror of mirrors) await mirror.sync(session)
  const [live, changes] = [mail.liveReads(access), mail.edits(access)]
  for (const { path, rows } of mirrors) {
    const [location] = [...rows.values()].flatMap((message) => message.location ?? [])
    if (location === undefined) throw new Error('The message is not stored.')
    const message = { ...location, folderPath: path }
    expect((await live.getBody(message)).text).toContain(`in ${path}`)
    expect(await changes.changeMessages([{ message, unread: false }])).toMatchObject([{ unread: false }])
    expect([...folder(path).find(path).flags]).toEqual(['\\Seen'])
  }
  // One login was tried for all of it.
  expect(lines.filter((line) => line.startsWith('LOGIN'))).toHaveLength(2)
  reported.length = 0
  const arriving = new Promise<void>((resolve) => {
    const push = reported.push.bind(reported)
    reported.push = (path) => {
      resolve()
      return push(path)
    }
  })
  folder('INBOX').add(plainMail({ subject: 'new' }))
  await arriving
  expect(reported).toContain('INBOX')
})

it('closes the connection of the requests when sync needs the only one', async () => {
  const { mail, open, access } = await onlySession()
  expect((await mail.liveReads(access).listMessages('Work', { limit: 1 })).total).toBe(1)
  const session = closing(await open())
  expect(await session.listFolders()).toHaveLength(2)
  expect((await mail.liveReads(access).listMessages('Work', { limit: 1 })).total).toBe(1)
})

it('reads a text that is larger than sync ever reads', async () => {
  const { folder, mail, open, access } = await onlySession()
  const session = closing(await open())
  await session.watch('INBOX')
  const { uid } = folder('Work').add(plainMail({ text: 'long '.repeat(200_000) }))
  const location = { folderPath: 'Work', uidValidity: String(folder('Work').uidValidity), uid }
  expect((await mail.liveReads(access).getBody(location)).text).toContain('long '.repeat(199_999))
})
