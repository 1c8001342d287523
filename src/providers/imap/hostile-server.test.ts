import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type ImapScript, startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../lib/clock.ts'
import type { ProviderError } from '../contract/index.ts'
import { type ImapLimits, imapProvider } from './index.ts'

async function opened(script: ImapScript, limits: Partial<ImapLimits> = {}) {
  const server = closing(await startScriptedImap(script))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
  onTestFinished(() => mail.closeConnections())
  const closed: (ProviderError | undefined)[] = []
  const changes: (string | undefined)[] = []
  const events = {
    onChange: (path: string | undefined) => changes.push(path),
    onClose: (error: ProviderError | undefined) => closed.push(error),
  }
  const session = closing(await mail.openSession(server.access, events, new AbortController().signal))
  const sync = async () => {
    const steps = []
    const request = { path: 'INBOX', cursor: null, initialMessages: 10, signal: new AbortController().signal }
    const known = { known: async () => [], knownCount: async () => 0 }
    for await (const step of session.syncFolder({ ...request, ...known })) steps.push(step)
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

const ALLOWANCE = { lines: 5000, bytes: 1024 * 1024, linesPerSecond: 10, bytesPerSecond: 1000 }

describe('a server that floods the idle connection', () => {
  it.each([
    ['lines', '1 RECENT'],
    ['lines that nobody can read', '((((('],
    ['flags', '1 FETCH (FLAGS (\\Seen))'],
    ['long lines', `OK ${'x'.repeat(100_000)}`],
  ])('with %s is given up, with the reason and a pause', async (_what, line) => {
    const { session, closed, server } = await opened({ onIdle: flood(line) }, { flood: ALLOWANCE })
    await session.watch('INBOX')
    await eventually(() => closed.length > 0)
    expect(closed).toEqual([
      expect.objectContaining({
        kind: 'unavailable',
        message: expect.stringContaining('far more than was requested'),
        retryAfterMs: expect.any(Number),
      }),
    ])
    expect(server.commands).toContain('IDLE')
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
