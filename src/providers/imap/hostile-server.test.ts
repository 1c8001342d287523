import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { longestTurnShare, spentCpuMs } from '../../../test/kit/measure/event-loop.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type ImapScript, startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { nextTurn } from '../../platform/concurrency/event-loop.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { ProviderError } from '../contract/index.ts'
import type { ImapLimits } from './limits.ts'
import { imapProvider } from './provider.ts'

async function opened(script: ImapScript, limits: Partial<ImapLimits> = {}) {
  const server = closing(await startScriptedImap(script))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { ...PATIENCE, ...limits } })
  onTestFinished(() => mail.closeConnections())
  const closed: (ProviderError | undefined)[] = []
  const changes: (string | undefined)[] = []
  const events = {
    onChange: (path: string | undefined) => changes.push(path),
    onClose: (error: ProviderError | undefined) => closed.push(error),
  }
  const session = closing(await mail.openSession(server.access, events, new AbortController().signal))
  const sync = async (initialMessages = 10) => {
    const steps = []
    const request = { path: 'INBOX', cursor: null, initialMessages, signal: new AbortController().signal }
    const storedState = { listStored: async () => [], newest: async () => [], knownCount: async () => 0 }
    for await (const step of session.syncFolder({ ...request, ...storedState })) steps.push(step)
    return steps
  }
  return { server, session, closed, changes, sync, live: mail.liveReads(server.access) }
}

/** Sends the line forever, as fast as the client reads. */
const flood = (line: string) => (_say: unknown, socket: TLSSocket) => {
  const chunk = `* ${line}\r\n`.repeat(500)
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

/** Longer than any test: only what the server sends ends a connection. */
const PATIENCE = {
  verifyMs: 1_000_000,
  silenceMs: 1_000_000,
  checkIntervalMs: 1_000_000,
  checkTimeoutMs: 1_000_000,
}
const ALLOWANCE = { lines: 5000, bytes: 1024 * 1024, linesPerSecond: 10, bytesPerSecond: 1000 }

describe('a server that floods the idle connection', () => {
  it.each([
    ['lines', '1 RECENT', 'far more than was requested'],
    ['empty lines', '\r\n'.repeat(100), 'far more than was requested'],
    ['lines that nobody can read', '(((((', 'far more than was requested'],
    ['flags', '1 FETCH (FLAGS (\\Seen))', 'far more than was requested'],
    ['ranges of removed messages', 'VANISHED 1:16777216', 'far more than was requested'],
    ['long lines', `OK ${'x'.repeat(100_000)}`, 'a response that is too long'],
  ])('with %s is given up, with the reason', async (_what, line, reason) => {
    const { session, closed, server } = await opened({ onIdle: flood(line) }, { flood: ALLOWANCE })
    await session.watch('INBOX')
    await eventually(() => closed.length > 0)
    expect(closed).toEqual([
      expect.objectContaining({
        kind: 'limit_exceeded',
        message: expect.stringContaining(reason),
      }),
    ])
    expect(server.commands).toContain('IDLE')
  })

  it('with ranges of removed messages costs nothing more once it is given up', async () => {
    const { session, closed } = await opened({ onIdle: flood('VANISHED 1:16777216') }, { flood: ALLOWANCE })
    await session.watch('INBOX')
    await eventually(() => closed.length > 0)
    const spentMs = await spentCpuMs(async () => {
      for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    })
    // 1 is usual; 170 when the rest of the range is read.
    expect(spentMs).toBeLessThan(100)
  })

  it('is accepted up to the limit', async () => {
    const { session, closed, changes } = await opened(
      {
        selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok'],
        onIdle: (say) => say(...Array(4000).fill('1 FETCH (FLAGS (\\Seen))')),
      },
      { flood: ALLOWANCE },
    )
    await session.watch('INBOX')
    await eventually(() => changes.length >= 4000)
    expect(closed).toEqual([])
  })
})

describe('many servers that flood their idle connections at the same time', () => {
  it('leave the event loop to others', async () => {
    const server = closing(await startScriptedImap({ onIdle: flood('1 EXISTS') }))
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { ...PATIENCE, flood: ALLOWANCE } })
    onTestFinished(() => mail.closeConnections())
    let closed = 0
    const events = {
      onChange() {},
      onClose() {
        closed += 1
      },
    }
    const signal = new AbortController().signal
    const sessions = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const access = { ...server.access, accountId: `acc_${index}` }
        return closing(await mail.openSession(access, events, signal))
      }),
    )
    const share = await longestTurnShare(async () => {
      await Promise.all(sessions.map((session) => session.watch('INBOX').catch(() => {})))
      await eventually(() => closed === 40)
    })
    // 0.08 is usual; 0.7 when everything that arrived is parsed in one turn.
    expect(share).toBeLessThan(0.3)
  })
})

describe('a folder’s UIDVALIDITY', () => {
  const selected = (...lines: string[]) => ({ selected: ['0 EXISTS', 'OK [UIDNEXT 1] ok', ...lines] })

  it.each([
    ['that is missing', selected()],
    ['of 0', selected('OK [UIDVALIDITY 0] ok')],
    ['that is a word', selected('OK [UIDVALIDITY abc] ok')],
    ['that is negative', selected('OK [UIDVALIDITY -7] ok')],
    ['of more digits than a number has', selected(`OK [UIDVALIDITY ${'9'.repeat(40)}] ok`)],
  ])('%s stops the reading, and is never stored', async (_what, script) => {
    const { sync, live } = await opened(script)
    const refusal = { name: 'ProviderError', kind: 'rejected', message: expect.stringContaining('UIDVALIDITY') }
    await expect(sync()).rejects.toMatchObject(refusal)
    await expect(live.listMessages('INBOX', { limit: 5 })).rejects.toMatchObject(refusal)
  })

  it.each(['1', '4294967295', '4294967296', '9223372036854775807'])('of %s is kept unchanged', async (value) => {
    const { sync } = await opened(selected(`OK [UIDVALIDITY ${value}] ok`))
    const steps = await sync()
    expect(JSON.parse(steps.at(-1)?.cursor ?? '{}')).toMatchObject({ uidValidity: value })
  })
})

describe('a server that counts messages and lists none', () => {
  it('is not asked without end, and named as the cause', async () => {
    let searches = 0
    const { sync } = await opened({
      selected: ['500 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 501] ok'],
      status: 'MESSAGES 500 UNSEEN 0 UIDNEXT 501',
      onUid(_command, say) {
        searches += 1
        say('SEARCH')
      },
    })
    const refusal = { name: 'ProviderError', kind: 'unavailable', message: expect.stringContaining('lists none') }
    await expect(sync(500)).rejects.toMatchObject(refusal)
    expect(searches).toBeLessThan(10)
  })
})

describe('a server that sends many messages at once', () => {
  const COUNT = 3000
  const TEXT = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 2 1)'

  function message(uid: number): string {
    const header = `From: a@example.com\r\nSubject: ${uid}\r\nMessage-ID: <${uid}@example.com>\r\n\r\n`
    const parts = `RFC822.SIZE 9 INTERNALDATE "01-Jan-2026 00:00:00 +0000" FLAGS () BODYSTRUCTURE ${TEXT}`
    return `${uid} FETCH (UID ${uid} ${parts} BODY[HEADER] {${header.length}}\r\n${header})`
  }

  it('leaves the event loop to others between the messages', async () => {
    const { sync } = await opened({
      selected: [`${COUNT} EXISTS`, 'OK [UIDVALIDITY 7] ok', `OK [UIDNEXT ${COUNT + 1}] ok`],
      status: `MESSAGES ${COUNT} UNSEEN 0 UIDNEXT ${COUNT + 1}`,
      onUid(command, say) {
        const uids = Array.from({ length: COUNT }, (_, index) => index + 1)
        if (command.startsWith('SEARCH')) say(`SEARCH ${uids.join(' ')}`)
        else say(...uids.map(message))
      },
    })
    let added = 0
    const share = await longestTurnShare(async () => {
      for (const step of await sync(COUNT)) added += step.added.length
    })
    expect(added).toBe(COUNT)
    // 0.01 is usual; 0.15 when all messages that arrived are read in one turn.
    expect(share).toBeLessThan(0.07)
  })
})
