import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { type DovecotOptions, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard, otherClient } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { FolderSession, ProviderError } from '../../contract/index.ts'
import type { ImapLimits } from '../limits.ts'
import { imapProvider } from '../provider.ts'

describe.skipIf(!dovecotAvailable())('the sync connection of an IMAP account', () => {
  const cleanUps: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function watching(options: DovecotOptions = {}, limits: Partial<ImapLimits> = {}) {
    const server = await startDovecot(options)
    cleanUps.push(() => server.stop())
    await server.addUser('ann', 'secret')
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
    cleanUps.push(() => mail.closeConnections())
    const changes: (string | undefined)[] = []
    const closed: (ProviderError | undefined)[] = []
    const open = async (password = 'secret') => {
      const session = await mail.openSession(
        imapAccess(server, 'ann', password),
        { onChange: (path) => changes.push(path), onClose: (error) => closed.push(error) },
        new AbortController().signal,
      )
      cleanUps.push(() => session.close())
      return session
    }
    const session = await open()
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(session)
    await session.watch('INBOX')
    return { server, mail, session, mirror, changes, closed, open }
  }

  /** Syncs on every change, as the service does, until the check passes. */
  async function follow(session: FolderSession, mirror: FolderMirror, changes: unknown[], check: () => boolean) {
    await eventually(async () => {
      if (changes.splice(0).length > 0) await mirror.sync(session)
      return check()
    })
  }

  it('reports every one of many messages in a row, because it returns to IDLE after each fetch', async () => {
    const { server, session, mirror, changes } = await watching()
    for (let i = 1; i <= 5; i += 1) {
      await server.deliver('ann', plainMail({ subject: `row ${i}` }))
      await follow(session, mirror, changes, () => mirror.subjects().includes(`row ${i}`))
    }
    expect(mirror.subjects()).toHaveLength(5)
  })

  it('reports flags, copies, removals and moves by other clients', async () => {
    const { server, session, mirror, changes } = await watching()
    await server.deliverMany(
      'ann',
      [1, 2, 3].map((i) => plainMail({ subject: `mail ${i}` })),
    )
    await follow(session, mirror, changes, () => mirror.rows.size === 3)
    await otherClient(server, 'ann', 'secret', async (client) => {
      await client.mailboxOpen('INBOX')
      await client.messageFlagsAdd('1', ['\\Seen', '\\Flagged'])
      await client.messageCopy('1', 'INBOX')
      await client.messageMove('2', 'Trash')
    })
    await follow(session, mirror, changes, () => !mirror.subjects().includes('mail 2') && mirror.rows.size === 3)
    await follow(session, mirror, changes, () => mirror.rows.get(1)?.starred === true)
    await server.doveadm('expunge', '-u', 'ann', 'mailbox', 'INBOX', 'subject', 'mail 3')
    await follow(session, mirror, changes, () => mirror.subjects().join() === 'mail 1,mail 1')
  })

  it('polls a server without IDLE', async () => {
    const { server, session, mirror, changes } = await watching({ hideCapabilities: ['IDLE'] }, { pollIntervalMs: 50 })
    await server.deliver('ann', plainMail({ subject: 'polled' }))
    await follow(session, mirror, changes, () => mirror.subjects().includes('polled'))
  })

  it('detects a server that stopped responding, and emits onClose once', async () => {
    const { server, closed } = await watching({}, { checkIntervalMs: 150, checkTimeoutMs: 2000 })
    server.pause()
    await eventually(() => closed.length > 0)
    expect(closed).toEqual([expect.objectContaining({ kind: 'unavailable', timedOut: true })])
    server.resume()
  })

  it('detects by the next command that the connection broke during an IDLE', async () => {
    const { server, session, closed, changes } = await watching({}, { checkTimeoutMs: 500, silenceMs: 60_000 })
    await server.deliver('ann', plainMail())
    await eventually(() => changes.length > 0)
    server.pause()
    await expect(session.listFolders()).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    expect(closed).toHaveLength(1)
    server.resume()
  })

  it('detects a server that stops responding during a command', async () => {
    const { server, session, closed } = await watching({}, { silenceMs: 2000 })
    server.pause()
    await expect(session.listFolders()).rejects.toMatchObject({ kind: 'unavailable' })
    await eventually(() => closed.length === 1)
    server.resume()
  })

  it('reports messages across many renewals of IDLE', async () => {
    const { server, session, mirror, changes, closed } = await watching({}, { checkIntervalMs: 20 })
    for (let i = 1; i <= 3; i += 1) {
      await server.deliver('ann', plainMail({ subject: `renewed ${i}` }))
      await follow(session, mirror, changes, () => mirror.subjects().includes(`renewed ${i}`))
    }
    expect(closed).toEqual([])
  })

  it('ends when the server restarts, and a new session continues from the cursor', async () => {
    const { server, closed, mirror, open } = await watching()
    await server.deliver('ann', plainMail({ subject: 'before' }))
    await server.restart()
    await eventually(() => closed.length > 0)
    expect(closed).toEqual([expect.objectContaining({ kind: 'unavailable' })])
    await server.deliver('ann', plainMail({ subject: 'after' }))
    await mirror.sync(await open())
    expect(mirror.subjects()).toEqual(['before', 'after'])
    expect([...mirror.rows.values()].every((message) => message.isNew)).toBe(true)
  })

  it('throws auth_expired at the next login after a password change, and continues with the new one', async () => {
    const { server, closed, open, mirror } = await watching()
    await server.setPassword('ann', 'other')
    await server.kick('ann')
    await eventually(() => closed.length > 0)
    await expect(open()).rejects.toMatchObject({ kind: 'auth_expired' })
    await server.deliver('ann', plainMail({ subject: 'meanwhile' }))
    await mirror.sync(await open('other'))
    expect(mirror.bySubject('meanwhile').isNew).toBe(true)
  })

  it('maps too many connections to rate_limited, not auth_expired', async () => {
    const { open } = await watching({ maxUserIpConnections: 1 })
    await expect(open()).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: expect.any(Number) })
  })

  it('reads other folders on the request connection, or on its own if the server allows only one', async () => {
    for (const maxUserIpConnections of [2, 1]) {
      const { server, session, mirror, changes } = await watching({ maxUserIpConnections })
      await server.doveadm('mailbox', 'create', '-u', 'ann', 'Projects')
      const other = new FolderMirror('Projects')
      await other.sync(session)
      await server.doveadm('move', '-u', 'ann', 'Projects', 'mailbox', 'INBOX', 'all')
      await server.deliver('ann', plainMail({ subject: 'first' }))
      await follow(session, mirror, changes, () => mirror.rows.size === 1)
      await server.doveadm('copy', '-u', 'ann', 'Projects', 'mailbox', 'INBOX', 'all')
      const asked = [other].map(({ path, cursor }) => ({ path, cursor }))
      expect(await session.changedFolders(asked)).toEqual(['Projects'])
      await other.sync(session)
      expect(other.subjects()).toEqual(['first'])
      await server.deliver('ann', plainMail({ subject: 'second' }))
      await follow(session, mirror, changes, () => mirror.rows.size === 2)
    }
  })

  it('stops opening when its signal aborts', async () => {
    const { server, mail } = await watching()
    server.pause()
    const abort = new AbortController()
    const opening = mail.openSession(imapAccess(server, 'ann', 'secret'), { onChange() {}, onClose() {} }, abort.signal)
    abort.abort()
    await expect(opening).rejects.toMatchObject({ name: 'ProviderError', kind: 'unavailable' })
    server.resume()
  })

  it('a deleted watched folder is not listed, and not_found in the next session', async () => {
    const { server, session, closed, open } = await watching()
    await server.doveadm('mailbox', 'create', '-u', 'ann', 'Gone')
    await session.watch('Gone')
    await server.doveadm('mailbox', 'delete', '-u', 'ann', 'Gone')
    const again = await open()
    expect((await again.listFolders()).map((folder) => folder.path)).not.toContain('Gone')
    await expect(new FolderMirror('Gone').sync(again)).rejects.toMatchObject({ kind: 'not_found' })
    expect(closed.length).toBeLessThan(2)
  })
})
