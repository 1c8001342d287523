import { afterEach, describe, expect, it } from 'vitest'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { type DovecotOptions, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

describe.skipIf(!dovecotAvailable())('IMAP folders', () => {
  const cleanUps: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function mailbox(options: DovecotOptions = {}) {
    const server = await startDovecot(options)
    cleanUps.push(() => server.stop())
    await server.addUser('ann', 'secret')
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
    cleanUps.push(() => mail.closeConnections())
    const session = await mail.openSession(
      imapAccess(server, 'ann', 'secret'),
      { onChange() {}, onClose() {} },
      new AbortController().signal,
    )
    cleanUps.push(() => session.close())
    return { server, session, mail }
  }

  it.each([
    { prefix: '', separator: '/' },
    { prefix: 'INBOX.', separator: '.' },
    { prefix: '', separator: '.' },
  ] as const)('are decoded, nested and readable with prefix "$prefix" and separator "$separator"', async (options) => {
    const { server, session } = await mailbox(options)
    const path = `${options.prefix}Projekte${options.separator}Größe & 日本`
    await server.deliver('ann', plainMail({ subject: 'inside' }), { folder: path })
    const folders = await session.listFolders()
    expect(folders.find((folder) => folder.path === path)).toMatchObject({
      name: 'Größe & 日本',
      delimiter: options.separator,
      selectable: true,
    })
    const roles = Object.fromEntries(folders.filter(({ role }) => role).map(({ role, path: of }) => [role, of]))
    const own = (name: string) => `${options.prefix}${name}`
    expect(roles).toEqual({
      inbox: 'INBOX',
      sent: own('Sent'),
      drafts: own('Drafts'),
      trash: own('Trash'),
      junk: own('Junk'),
      archive: own('Archive'),
    })
    const mirror = new FolderMirror(path)
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual(['inside'])
    expect(await session.changedFolders([{ path, cursor: mirror.cursor }])).toEqual([])
  })

  it('without messages are listed as not selectable', async () => {
    const { server, session } = await mailbox()
    await server.deliver('ann', plainMail(), { folder: 'Holder/Child' })
    await server.doveadm('mailbox', 'delete', '-u', 'ann', '-Z', 'Holder').catch(() => '')
    const folders = await session.listFolders()
    expect(folders.find((folder) => folder.path === 'Holder')?.selectable).toBe(false)
    expect(folders.find((folder) => folder.path === 'Holder/Child')?.selectable).toBe(true)
    // Its state is refused: opening it would say why.
    expect(await session.changedFolders([{ path: 'Holder', cursor: null }])).toEqual(['Holder'])
  })

  it('get their roles by name on a server without SPECIAL-USE', async () => {
    const { server, session } = await mailbox({ hideCapabilities: ['SPECIAL-USE', 'LIST-EXTENDED'] })
    for (const name of ['Gesendete Elemente', 'Brouillons', 'ゴミ箱']) {
      await server.doveadm('mailbox', 'create', '-u', 'ann', name)
    }
    for (const name of ['Sent', 'Drafts', 'Trash']) await server.doveadm('mailbox', 'delete', '-u', 'ann', name)
    const folders = await session.listFolders()
    const findRole = (path: string) => folders.find((folder) => folder.path === path)?.role ?? null
    expect(findRole('Brouillons') ?? findRole('Drafts')).toBe('drafts')
    expect(folders.filter(({ role }) => role === 'sent')).toHaveLength(1)
    expect(folders.filter(({ role }) => role === 'trash')).toHaveLength(1)
  })

  it('keep their mailboxId over a rename, and their cursor stays valid', async () => {
    const { server, session } = await mailbox()
    await server.deliver('ann', plainMail({ subject: 'kept' }), { folder: 'Old' })
    const before = (await session.listFolders()).find((folder) => folder.path === 'Old')
    const mirror = new FolderMirror('Old')
    await mirror.sync(session)
    await server.doveadm('mailbox', 'rename', '-u', 'ann', 'Old', 'Neu/Größe')
    const after = (await session.listFolders()).find((folder) => folder.path === 'Neu/Größe')
    expect(after?.mailboxId).toBe(before?.mailboxId)
    expect(after?.mailboxId).not.toBeNull()
    const renamed = new FolderMirror('Neu/Größe')
    renamed.cursor = mirror.cursor
    expect(await renamed.sync(session)).toEqual([])
  })
})
