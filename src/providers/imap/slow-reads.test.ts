import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type ImapScript, startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { ImapLimits } from './limits.ts'
import { imapProvider } from './provider.ts'

const FOLDER = { selected: ['9 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 10] ok'] }
const MESSAGE = { folderPath: 'INBOX', uidValidity: '7', uid: 1 }

async function reads(script: ImapScript, limits: Partial<ImapLimits> = {}) {
  const server = closing(await startScriptedImap({ ...FOLDER, ...script }))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
  onTestFinished(() => mail.closeConnections())
  return mail.liveReads(server.access)
}

/** Sends a little every few milliseconds and never completes the command. */
const dripping = (command: string, text: string): ImapScript => ({
  onCommand(name, socket) {
    if (name !== command) return false
    const timer = setInterval(() => socket.write(text), 10)
    socket.on('close', () => clearInterval(timer))
    return true
  },
})

describe('a live read from a server that drips', () => {
  const limits = { readMs: 700, silenceMs: 300 }
  const timedOut = { name: 'ProviderError', kind: 'unavailable', timedOut: true }

  it.each([
    ['lines', '* OK still here\r\n'],
    ['one endless line', 'x'],
    ['an endless literal', '* 1 FETCH (BODY[] {100000}\r\n'],
  ])('%s ends at its deadline', async (_what, text) => {
    const live = await reads(dripping('UID', text), limits)
    await expect(live.getBody(MESSAGE)).rejects.toMatchObject(timedOut)
    await expect(live.listMessages('INBOX', { limit: 5 })).rejects.toMatchObject(timedOut)
    await expect(live.openAttachment(MESSAGE, '2')).rejects.toMatchObject(timedOut)
  })

  it('a list of folders ends at its deadline', async () => {
    const live = await reads(dripping('LIST', '* OK still here\r\n'), limits)
    await expect(live.listFolders()).rejects.toMatchObject({ timedOut: true })
  })

  it('a stream ends when its next chunk does not arrive in time', async () => {
    let fetches = 0
    const live = await reads(
      {
        onCommand(name, socket, tag) {
          if (name !== 'UID') return false
          fetches += 1
          const header = '* 1 FETCH (UID 1 RFC822.SIZE 2000000 BODY[HEADER]<0> "F")\r\n'
          const end = '* 1 FETCH (UID 1 BODY[]<1999999> "x")\r\n'
          const chunk = `* 1 FETCH (UID 1 BODY[]<0> {524288}\r\n${'x'.repeat(524_288)})\r\n`
          const response = [header, end, chunk][fetches - 1]
          if (response !== undefined) socket.write(`${response}${tag} OK done\r\n`)
          return true
        },
      },
      { ...limits, readMs: 2000 },
    )
    const raw = await live.openRaw(MESSAGE)
    expect(raw.sizeBytes).toBe(2_000_000)
    const stream = await raw.read()
    let bytes = 0
    const readAll = async () => {
      for await (const chunk of stream) bytes += chunk.length
    }
    await expect(readAll()).rejects.toMatchObject({ timedOut: true })
    expect(bytes).toBe(524_288)
  })
})

describe('the size of a message', () => {
  it.each([
    ['too large', 'NIL'],
    ['too small', '"xx"'],
  ])('is unknown when the one that the server names is %s', async (_what, end) => {
    let fetches = 0
    const live = await reads({
      onCommand(name, socket, tag) {
        if (name !== 'UID') return false
        fetches += 1
        const data = fetches === 1 ? 'RFC822.SIZE 2000 BODY[HEADER]<0> "F"' : `BODY[]<1999> ${end}`
        socket.write(`* 1 FETCH (UID 1 ${data})\r\n${tag} OK done\r\n`)
        return true
      },
    })
    expect((await live.openRaw(MESSAGE)).sizeBytes).toBeNull()
  })
})

describe('a request connection', () => {
  it('closes when the server floods it between two requests', async () => {
    let closed = 0
    const live = await reads({
      onCommand(name, socket) {
        if (name !== 'LIST') return false
        socket.on('close', () => {
          closed += 1
        })
        setTimeout(() => socket.write('* OK more\r\n'.repeat(20_000)), 200)
        return false
      },
    })
    await live.listFolders()
    await eventually(() => closed > 0)
  })
})
