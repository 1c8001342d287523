import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { longestTurnMs } from '../../../test/kit/measure/event-loop.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type ImapScript, startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { ImapLimits } from './limits.ts'
import { imapProvider } from './provider.ts'

/** CPU time: 10 ms is usual. What these tests prevent took seconds. */
const LONG_TURN_MS = 1000

async function provider(script: ImapScript, limits: Partial<ImapLimits> = {}) {
  const server = closing(await startScriptedImap(script))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
  onTestFinished(() => mail.closeConnections())
  return { server, mail, access: server.access }
}

async function synced({ mail, access }: Awaited<ReturnType<typeof provider>>, cursor: string | null = null) {
  const events = { onChange() {}, onClose() {} }
  const { signal } = new AbortController()
  const session = closing(await mail.openSession(access, events, signal))
  const steps = []
  const storedState = { listStored: async () => [], newest: async () => [], knownCount: async () => 0 }
  for await (const step of session.syncFolder({ path: 'INBOX', cursor, initialMessages: 10, signal, ...storedState })) {
    steps.push(step)
  }
  return steps
}

/** Sends the text again and again, as fast as the client reads. */
function repeat(socket: TLSSocket, text: string): void {
  const chunk = text.repeat(Math.ceil(20_000 / text.length))
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

const TEXTS: [what: string, text: string][] = [
  ['a million literals', `* X ${'{1}\r\na'.repeat(1_000_000)}\r\n`],
  ['a million numbers', `* X ${'1 '.repeat(1_000_000)}\r\n`],
  ['a million lists', `* X ${'()'.repeat(1_000_000)}\r\n`],
  ['a million flags', `* FLAGS (${'\\a '.repeat(1_000_000)})\r\n`],
  ['a million capabilities', `* CAPABILITY ${'A1 '.repeat(1_000_000)}\r\n`],
  ['a deep list', `* X ${'('.repeat(2_000_000)}\r\n`],
  ['a long atom', `* X ${'a'.repeat(3_000_000)}\r\n`],
  ['a long string', `* X "${'a'.repeat(3_000_000)}"\r\n`],
  ['a long sequence', `* VANISHED ${'1,3:5,'.repeat(500_000)}9\r\n`],
  ['a long search', `* SEARCH ${'1 '.repeat(2_000_000)}9\r\n`],
  ['a long code', `* OK [X ${'a '.repeat(1_000_000)}] ok\r\n`],
  ['a literal of 60 MB', `* X {${60 * 1024 * 1024}}\r\n${'x'.repeat(1_000_000)}`],
  ['a literal whose size has a million digits', `* X {${'0'.repeat(1_000_000)}5}\r\n12345\r\n`],
  ['a million empty lines', '\r\n'.repeat(1_000_000)],
]

describe('a server that responds to the login', () => {
  it.each(TEXTS)('with %s never holds the event loop', async (_what, text) => {
    const { mail, access } = await provider({
      onCommand(name, socket) {
        if (name !== 'LOGIN' && name !== 'AUTHENTICATE') return false
        socket.write(text)
        return true
      },
    })
    let outcome: unknown
    const turnMs = await longestTurnMs(async () => {
      outcome = await mail.verify(access, new AbortController().signal).catch((error: unknown) => error)
    })
    expect(turnMs).toBeLessThan(LONG_TURN_MS)
    expect(outcome).toMatchObject({ name: 'ProviderError', kind: 'limit_exceeded' })
  })
})

describe('a server that never ends its response', () => {
  const LINES: [command: string, line: string][] = [
    ['LOGIN', '+ more\r\n'],
    ['CAPABILITY', '* CAPABILITY IMAP4rev1\r\n'],
    ['LIST', '* LIST () "/" folder\r\n'],
    ['LIST', '* 1 EXISTS\r\n'],
    ['EXAMINE', '* 1 EXISTS\r\n* 2 EXISTS\r\n'],
    ['EXAMINE', '* FLAGS (\\Seen)\r\n'],
    ['EXAMINE', '(((((\r\n'],
    ['UID', '* 1 FETCH (UID 1 FLAGS ())\r\n'],
    ['UID', '* VANISHED (EARLIER) 1:16777216\r\n'],
    ['UID', '* SEARCH 1 2 3 4 5 6 7 8 9\r\n'],
  ]
  it.each(LINES)('to %s, with %j, is given up', async (command, line) => {
    const isSync = command === 'UID' || command === 'EXAMINE'
    const limits = { workLines: 2000, workBytes: 1024 * 1024 }
    const folder = ['9 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 10] ok']
    const script: ImapScript = {
      selected: folder,
      status: 'MESSAGES 9 UNSEEN 0 UIDNEXT 10',
      onCommand(name, socket) {
        if (name !== command) return false
        repeat(socket, line)
        return true
      },
    }
    const opened = await provider(script, limits)
    const { mail, access } = opened
    let outcome: unknown
    const turnMs = await longestTurnMs(async () => {
      const work = isSync ? synced(opened) : mail.verify(access, new AbortController().signal)
      outcome = await work.catch((error: unknown) => error)
    })
    expect(outcome).toMatchObject({ name: 'ProviderError', kind: 'limit_exceeded' })
    expect(turnMs).toBeLessThan(LONG_TURN_MS)
  })

  it('but drips a line now and then, is given up after the time for one piece of work', async () => {
    const script: ImapScript = {
      onCommand(name, socket) {
        if (name !== 'EXAMINE') return false
        const timer = setInterval(() => socket.write('* OK still here\r\n'), 20)
        socket.on('close', () => clearInterval(timer))
        return true
      },
    }
    const opened = await provider(script, { workMs: 400, silenceMs: 200 })
    await expect(synced(opened)).rejects.toMatchObject({ kind: 'limit_exceeded', timedOut: true })
  })
})

describe('a mailbox', () => {
  const folders = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`)

  it('of 10,000 folders is listed', async () => {
    const { mail, access } = await provider({ folders: folders(9999) })
    expect((await mail.verify(access, new AbortController().signal)).folders).toHaveLength(10_000)
  })

  it('of more folders is refused', async () => {
    const { mail, access } = await provider({ folders: folders(10_000) })
    await expect(mail.verify(access, new AbortController().signal)).rejects.toMatchObject({
      kind: 'limit_exceeded',
      message: expect.stringContaining('more than 10000 folders'),
    })
  })
})

describe('a message whose structure is too long to parse', () => {
  const header = 'From: a@example.com\r\nSubject: many parts\r\n\r\n'
  const literal = `BODY[HEADER] {${header.length}}\r\n${header}`
  const parts = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 2 1)'.repeat(30_000)

  it('is stored without its attachments, and does not end the connection', async () => {
    const opened = await provider({
      selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok'],
      status: 'MESSAGES 1 UNSEEN 0 UIDNEXT 2',
      onUid(command, say) {
        if (command.startsWith('SEARCH')) return say(command.includes('2:*') ? 'SEARCH' : 'SEARCH 1')
        const structure = command.includes('BODYSTRUCTURE') ? `BODYSTRUCTURE (${parts} "MIXED")` : 'FLAGS ()'
        say(`1 FETCH (UID 1 ${command.includes('HEADER') ? literal : 'FLAGS ()'} ${structure})`)
      },
    })
    const [step] = await synced(opened)
    expect(step?.added).toEqual([expect.objectContaining({ subject: 'many parts', attachments: [] })])
    expect(step?.added[0]?.error).toEqual(expect.any(String))
  })
})
