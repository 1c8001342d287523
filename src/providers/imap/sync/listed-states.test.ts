import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { type ImapScript, startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { type Clock, systemClock } from '../../../platform/time/clock.ts'
import type { FolderSession, MailAccess } from '../../contract/index.ts'
import { IdlePoll } from '../connection/idle-poll.ts'
import { imapProvider } from '../provider.ts'

async function openSession(access: MailAccess, onChange = (_path?: string) => {}, clock: Clock = systemClock) {
  const { mail } = imapProvider({ guard: openGuard, clock })
  onTestFinished(() => mail.closeConnections())
  const { signal } = new AbortController()
  return closing(await mail.openSession(access, { onChange, onClose: () => {} }, signal))
}

it('checks every folder by the list, where the server returns states with it', async () => {
  const scripted = closing(
    await startScriptedImap({ capabilities: 'LIST-EXTENDED LIST-STATUS', folders: ['Sent', 'Trash', 'Work'] }),
  )
  const session = await openSession(scripted.access)
  await session.watch('INBOX')
  await session.listFolders()
  const folders = ['INBOX', 'Sent', 'Trash', 'Work'].map((path) => ({ path, cursor: null }))
  const recordStatuses = async (check: () => Promise<unknown>) => {
    const from = scripted.commands.length
    await check()
    return scripted.commands.slice(from).filter((name) => name === 'STATUS').length
  }
  expect(await recordStatuses(() => session.listFolders().then(() => session.changedFolders(folders)))).toBe(0)
  expect(await recordStatuses(() => session.changedFolders(folders))).toBe(4)
})

it('has the states of few folders with its first list, but of the folder that it watches afterwards', async () => {
  const scripted = closing(
    await startScriptedImap({ capabilities: 'LIST-EXTENDED LIST-STATUS', folders: ['Sent', 'Trash', 'Work'] }),
  )
  const folders = ['INBOX', 'Sent', 'Trash', 'Work'].map((path) => ({ path, cursor: null }))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  const { signal } = new AbortController()
  const recordStatuses = async (watched: string, expected?: number) => {
    const session = closing(await mail.openSession(scripted.access, { onChange() {}, onClose() {} }, signal))
    await session.listFolders(undefined, expected)
    await session.watch(watched)
    const from = scripted.commands.length
    await session.changedFolders(folders)
    return scripted.commands.slice(from).filter((name) => name === 'STATUS').length
  }
  expect(await recordStatuses('INBOX', 50)).toBe(1)
  expect(await recordStatuses('Work', 4)).toBe(1)
  expect(await recordStatuses('INBOX', 51)).toBe(4)
  expect(await recordStatuses('INBOX')).toBe(4)
  await mail.verify(scripted.access, signal, { keepConnection: true })
  expect(await recordStatuses('INBOX')).toBe(1)
})

it('returns the list of the last check while the server lists the same, and sees when it does not', async () => {
  const script: ImapScript = { capabilities: 'LIST-EXTENDED LIST-STATUS', folders: ['Sent', 'Work'] }
  const scripted = closing(await startScriptedImap(script))
  const session = await openSession(scripted.access)
  await session.watch('INBOX')
  await session.listFolders()
  const listed = await session.listFolders()
  const lists = () => scripted.commands.filter((name) => name === 'LIST').length
  const listsBefore = lists()
  expect(await session.listFolders()).toBe(listed)
  expect(lists()).toBe(listsBefore + 1)
  const folders = listed.map(({ path }) => ({ path, cursor: null }))
  expect(await session.changedFolders(folders)).toEqual(['INBOX', 'Sent', 'Work'])
  script.status = 'MESSAGES 1 UNSEEN 0 UIDNEXT 2'
  expect(await session.listFolders()).not.toBe(listed)
  expect(await session.changedFolders(folders)).toEqual(['INBOX', 'Sent', 'Work'])
})

it('has the watched folder updated by IDLE, and every five minutes by NOOP, because not every IDLE reports', async () => {
  const script = { capabilities: 'LIST-EXTENDED LIST-STATUS', folders: ['Sent'] }
  const scripted = closing(await startScriptedImap(script))
  let laterMs = 0
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + laterMs }
  const session = await openSession(scripted.access, undefined, clock)
  await session.watch('INBOX')
  await session.listFolders()
  const noops = () => scripted.commands.filter((name) => name === 'NOOP').length
  for (const [ms, expected] of Object.entries({ 0: 0, 200000: 0, 299000: 0, 301000: 1, 302000: 1, 602000: 2 })) {
    laterMs = Number(ms)
    await session.listFolders()
    expect([ms, noops()]).toEqual([ms, expected])
  }
})

it('has the watched folder updated by NOOP before each list where the server has no IDLE', async () => {
  const script = { capabilities: 'LIST-EXTENDED LIST-STATUS', withoutIdle: true, folders: ['Sent'] }
  const scripted = closing(await startScriptedImap(script))
  const session = await openSession(scripted.access)
  await session.watch('INBOX')
  await session.listFolders()
  const before = scripted.commands.length
  await session.listFolders()
  expect(scripted.commands.slice(before)).toEqual(['NOOP', 'LIST'])
})

it('ends the IDLE once for a check, although the caller stores what was listed in between', async () => {
  const scripted = closing(await startScriptedImap({ capabilities: 'IDLE', folders: ['Sent'] }))
  const session = await openSession(scripted.access)
  const idles = () => scripted.commands.filter((name) => name === 'IDLE').length
  await session.watch('INBOX')
  await eventually(() => idles() === 1)
  await session.listFolders()
  await sleep(20)
  await session.changedFolders([{ path: 'INBOX', cursor: null }])
  await eventually(() => idles() === 2)
  expect(scripted.commands.filter((name) => name === 'DONE')).toHaveLength(1)
})

it('waits for the check of a new session before it begins an IDLE, although the caller needs a moment', async () => {
  const scripted = closing(await startScriptedImap({}))
  const session = await openSession(scripted.access)
  await session.watch('INBOX')
  await sleep(20)
  await session.changedFolders([{ path: 'INBOX', cursor: null }])
  await eventually(() => scripted.commands.includes('IDLE'))
  expect(scripted.commands).not.toContain('DONE')
})

it('leaves the IDLE alone while work sends nothing, and keeps the connection', async () => {
  const scripted = closing(await startScriptedImap({}))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { checkTimeoutMs: 100 } })
  onTestFinished(() => mail.closeConnections())
  const closed: unknown[] = []
  const events = { onChange: () => {}, onClose: (error: unknown) => void closed.push(error) }
  const session = closing(await mail.openSession(scripted.access, events, new AbortController().signal))
  await session.watch('INBOX')
  await eventually(() => scripted.commands.at(-1) === 'IDLE')
  await session.presentUids('INBOX', 'another UIDVALIDITY', [1])
  await sleep(300)
  expect([scripted.commands.at(-1), closed]).toEqual(['IDLE', []])
})

/** Waits for the response to the IDLE that follows a list. */
async function idles(session: FolderSession) {
  const receivedBytes = await session.receivedBytes()
  await eventually(async () => (await session.receivedBytes()) > receivedBytes)
}

describe('a list in the middle of an IDLE', () => {
  const LISTED: ImapScript = { capabilities: 'LIST-EXTENDED LIST-STATUS', folders: ['Sent', 'Work'] }

  /** A session in IDLE that has listed the states of its folders. */
  async function idlingSession(script: ImapScript, mail = imapProvider({ guard: openGuard, clock: systemClock }).mail) {
    const scripted = closing(await startScriptedImap(script))
    const reported: unknown[] = []
    const open = async () => {
      const { signal } = new AbortController()
      const events = { onChange: (path?: string) => void reported.push(path), onClose: () => {} }
      const session = closing(await mail.openSession(scripted.access, events, signal))
      await session.watch('INBOX')
      await session.listFolders()
      const listed = await session.listFolders()
      await idles(session)
      return { session, listed }
    }
    onTestFinished(() => mail.closeConnections())
    /** The names of the commands that this causes. */
    const recordCommands = async (work: () => Promise<unknown>) => {
      const before = scripted.commands.length
      await work()
      return scripted.commands.slice(before)
    }
    return { ...(await open()), open, recordCommands, reported }
  }

  it('needs no command of imapflow while it is the same, and the IDLE goes on', async () => {
    let report = (..._lines: string[]) => {}
    const { session, listed, recordCommands, reported } = await idlingSession({
      ...LISTED,
      onIdle(say) {
        report = say
      },
    })
    for (let round = 0; round < 3; round += 1) {
      const commands = await recordCommands(async () => expect(await session.listFolders()).toBe(listed))
      expect(commands).toEqual(['DONE', 'NOOP', 'LIST', 'IDLE'])
    }
    report('1 EXISTS')
    await eventually(() => reported.includes('INBOX'))
    expect(await recordCommands(() => session.presentUids('INBOX', '7', [1]))).toEqual(['DONE', 'NOOP', 'UID'])
  })

  it('is possible after lists that ended the IDLE', async () => {
    const script = { ...LISTED }
    const { session, recordCommands } = await idlingSession(script)
    script.status = 'MESSAGES 1 UNSEEN 0 UIDNEXT 2'
    const commands = await recordCommands(async () => {
      const changed = await session.listFolders()
      await idles(session)
      expect(await session.listFolders()).toBe(changed)
    })
    expect(commands).toEqual(['DONE', 'NOOP', 'LIST', 'IDLE', 'DONE', 'LIST', 'IDLE', 'DONE', 'NOOP', 'LIST', 'IDLE'])
  })

  it('is followed by one of imapflow when something has changed', async () => {
    const script = { ...LISTED }
    const { session, listed, recordCommands } = await idlingSession(script)
    script.status = 'MESSAGES 1 UNSEEN 0 UIDNEXT 2'
    const commands = await recordCommands(async () => expect(await session.listFolders()).not.toBe(listed))
    expect(commands).toEqual(['DONE', 'NOOP', 'LIST', 'IDLE', 'DONE', 'LIST'])
  })

  it('ends before other work begins', async () => {
    const { session, recordCommands } = await idlingSession(LISTED)
    const commands = await recordCommands(() =>
      Promise.all([session.listFolders(), session.presentUids('INBOX', '7', [1])]),
    )
    expect(commands).toEqual(['DONE', 'NOOP', 'LIST', 'IDLE', 'DONE', 'NOOP', 'UID'])
  })

  it('is not tried again with a server that ignores what follows DONE at once', async () => {
    let isIgnoring = false
    const limits = { checkTimeoutMs: 200, silenceMs: 400 }
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
    const onCommand = (name: string) => isIgnoring && ['NOOP', 'LIST'].includes(name)
    const { session, open, recordCommands } = await idlingSession({ ...LISTED, onCommand }, mail)
    isIgnoring = true
    await expect(session.listFolders()).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    isIgnoring = false
    const second = await open()
    expect(await recordCommands(() => second.session.listFolders())).toEqual(['DONE', 'LIST'])
  })

  it('may take as long as any other, and is not tried again with a server that is slow', async () => {
    let isSlow = false
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { checkTimeoutMs: 200 } })
    const onCommand = (name: string, socket: TLSSocket, tag: string) => {
      if (isSlow && name === 'NOOP') setTimeout(() => socket.write(`${tag} OK done\r\n`), 500)
      return isSlow && name === 'NOOP'
    }
    const { session, listed, recordCommands } = await idlingSession({ ...LISTED, onCommand }, mail)
    isSlow = true
    expect(await session.listFolders()).toBe(listed)
    expect(await recordCommands(() => session.listFolders())).toEqual(['DONE', 'LIST'])
  })

  it('fails at once when the connection ends, and is tried again over the next', async () => {
    let isEnding = false
    const onCommand = (name: string, socket: TLSSocket) => {
      if (isEnding && name === 'NOOP') socket.destroy()
      return isEnding
    }
    const { session, open, recordCommands } = await idlingSession({ ...LISTED, onCommand })
    isEnding = true
    await expect(session.listFolders()).rejects.toMatchObject({ kind: 'unavailable', timedOut: false })
    isEnding = false
    const second = await open()
    expect(await recordCommands(() => second.session.listFolders())).toEqual(['DONE', 'NOOP', 'LIST', 'IDLE'])
  })

  it.each([
    ['folders', '* LIST () "/" a\r\n', 20_000],
    ['states', '* STATUS a (MESSAGES 1)\r\n', 300_000],
    ['reports', '* 1 EXISTS\r\n', 300_000],
  ])('ends when the server sends %s without an end', async (_, line, lines) => {
    let isFlooding = false
    const onCommand = (name: string, socket: TLSSocket) => {
      if (isFlooding && name === 'LIST') socket.write(line.repeat(lines))
      return isFlooding && name === 'LIST'
    }
    // A busy machine needs long to read it.
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { checkTimeoutMs: 600_000 } })
    const { session } = await idlingSession({ ...LISTED, onCommand }, mail)
    isFlooding = true
    await expect(session.listFolders()).rejects.toMatchObject({ kind: 'limit_exceeded', timedOut: false })
  })

  it('of a silent connection closes it, and is tried again over the next', async () => {
    let isSilent = false
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { checkTimeoutMs: 200 } })
    const { session, open, recordCommands } = await idlingSession({ ...LISTED, onCommand: () => isSilent }, mail)
    isSilent = true
    await expect(session.listFolders()).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    isSilent = false
    const second = await open()
    expect(await recordCommands(() => second.session.listFolders())).toEqual(['DONE', 'NOOP', 'LIST', 'IDLE'])
  })
})

describe.skipIf(!dovecotAvailable())('the states that Dovecot lists', () => {
  it('show changes of every folder', async () => {
    const server = await startDovecot()
    onTestFinished(() => server.stop())
    await server.addUser('ann', 'secret')
    const reported: unknown[] = []
    const session = await openSession(imapAccess(server, 'ann', 'secret'), (path) => reported.push(path))
    await session.watch('INBOX')
    const mirrors = ['INBOX', 'Sent', 'Trash'].map((path) => new FolderMirror(path))
    for (const mirror of mirrors) await mirror.sync(session)
    const changed = async () => {
      await session.listFolders()
      return session.changedFolders(mirrors.map(({ path, cursor }) => ({ path, cursor })))
    }
    await session.listFolders()
    expect(await changed()).toEqual([])
    await server.deliver('ann', plainMail(), { folder: 'Trash' })
    expect(await changed()).toEqual(['Trash'])
    await mirrors[2]?.sync(session)
    await server.doveadm('flags', 'add', '-u', 'ann', '\\Flagged', 'mailbox', 'Trash', 'all')
    expect(await changed()).toEqual(['Trash'])
    await mirrors[2]?.sync(session)
    // The server may not have noticed this one when it lists the states. The IDLE that follows reports it.
    await server.deliver('ann', plainMail())
    const listed = await changed()
    await eventually(() => [...listed, ...reported].includes('INBOX'))
  })

  it.each(['tls', 'starttls'] as const)(
    'are asked for in the middle of an IDLE over %s, which reports new mail after it',
    async (security) => {
      const server = await startDovecot()
      onTestFinished(() => server.stop())
      await server.addUser('bob', 'secret')
      const reported: unknown[] = []
      const access = imapAccess(server, 'bob', 'secret')
      if (access.settings.imap !== undefined && security === 'starttls') {
        access.settings.imap = { ...access.settings.imap, security, port: server.imapPort }
      }
      const session = await openSession(access, (path) => reported.push(path))
      await session.watch('INBOX')
      const mirrors = ['INBOX', 'Trash'].map((path) => new FolderMirror(path))
      for (const mirror of mirrors) await mirror.sync(session)
      const changed = async () => {
        await session.listFolders()
        return session.changedFolders(mirrors.map(({ path, cursor }) => ({ path, cursor })))
      }
      await changed()
      const listed = await session.listFolders()
      const polls = vi.spyOn(IdlePoll.prototype, 'list')
      onTestFinished(() => void polls.mockRestore())
      /** Lists until the server is in IDLE, and returns that list. */
      const polled = () => {
        const before = polls.mock.calls.length
        const list = async () => {
          const folders = await session.listFolders()
          return polls.mock.calls.length > before && folders
        }
        return eventually(list, undefined, 300)
      }
      for (let round = 1; round <= 3; round += 1) expect(await polled()).toBe(listed)
      await server.deliver('bob', plainMail())
      await eventually(() => reported.includes('INBOX'))
      await mirrors[0]?.sync(session)
      expect(mirrors[0]?.rows.size).toBe(1)
      await polled()
      const before = polls.mock.calls.length
      await server.deliver('bob', plainMail(), { folder: 'Trash' })
      // New messages are stored, but the flags of the watched folder are compared once more.
      expect(await changed()).toEqual(['INBOX', 'Trash'])
      expect(polls).toHaveBeenCalledTimes(before + 1)
    },
  )
})
