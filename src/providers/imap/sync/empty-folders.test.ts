import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { MailAccess, SessionEvents } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

async function openSession(access: MailAccess, events: Partial<SessionEvents> = {}) {
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  const { signal } = new AbortController()
  return closing(await mail.openSession(access, { onChange: () => {}, onClose: () => {}, ...events }, signal))
}

it('syncs empty folders for the first time without selecting them', async () => {
  const status = 'MESSAGES 0 UNSEEN 0 UIDNEXT 7 UIDVALIDITY 1700000000'
  const scripted = closing(await startScriptedImap({ folders: ['Sent', 'Trash'], status }))
  const session = await openSession(scripted.access)
  await session.watch('INBOX')
  const mirrors = ['Sent', 'Trash'].map((path) => new FolderMirror(path))
  expect(await session.changedFolders(mirrors)).toEqual(['Sent', 'Trash'])
  const from = scripted.commands.length
  for (const mirror of mirrors) await mirror.sync(session)
  expect(scripted.commands.slice(from)).toEqual([])
  expect(scripted.commands.filter((name) => name === 'LOGIN' || name === 'AUTHENTICATE')).toHaveLength(1)
  expect(await session.changedFolders(mirrors)).toEqual([])
})

describe.skipIf(!dovecotAvailable())('an empty folder of Dovecot', () => {
  async function emptyMailbox() {
    const server = await startDovecot()
    onTestFinished(() => server.stop())
    await server.addUser('ann', 'secret')
    const changes: (string | undefined)[] = []
    const session = await openSession(imapAccess(server, 'ann', 'secret'), { onChange: (path) => changes.push(path) })
    await session.watch('INBOX')
    return { server, session, changes }
  }

  it('has its first messages synced as new, and their flags and removals after them', async () => {
    const { server, session } = await emptyMailbox()
    const mirror = new FolderMirror('Sent')
    const changed = async () => (await session.changedFolders([mirror])).includes('Sent')
    expect(await changed()).toBe(true)
    await mirror.sync(session)
    expect(await changed()).toBe(false)
    for (const subject of ['one', 'two']) await server.deliver('ann', plainMail({ subject }), { folder: 'Sent' })
    expect(await changed()).toBe(true)
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['one', 'two'])
    expect([...mirror.rows.values()].map(({ isNew }) => isNew)).toEqual([true, true])
    await server.doveadm('flags', 'add', '-u', 'ann', '\\Flagged', 'mailbox', 'Sent', 'subject', 'one')
    await server.doveadm('expunge', '-u', 'ann', 'mailbox', 'Sent', 'subject', 'two')
    expect(await changed()).toBe(true)
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['one'])
    expect(mirror.bySubject('one').starred).toBe(true)
  })

  it('is synced after a message has come and gone, and then has its next one synced', async () => {
    const { server, session } = await emptyMailbox()
    const mirror = new FolderMirror('Sent')
    expect(await session.changedFolders([mirror])).toEqual(['Sent'])
    await mirror.sync(session)
    await server.deliver('ann', plainMail({ subject: 'brief' }), { folder: 'Sent' })
    await server.doveadm('expunge', '-u', 'ann', 'mailbox', 'Sent', 'all')
    expect(await session.changedFolders([mirror])).toEqual(['Sent'])
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual([])
    await server.deliver('ann', plainMail({ subject: 'next' }), { folder: 'Sent' })
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['next'])
  })

  it('is read anew when a message arrives between the check and the sync', async () => {
    const { server, session, changes } = await emptyMailbox()
    const mirror = new FolderMirror('INBOX')
    expect(await session.changedFolders([mirror])).toEqual(['INBOX'])
    await server.deliver('ann', plainMail({ subject: 'in between' }))
    await eventually(() => changes.includes('INBOX'))
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['in between'])
  })
})
