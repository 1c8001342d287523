import type { TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const never = new AbortController().signal
const COPY = Buffer.from('Subject: x\r\n\r\nHello\r\n')

/** As Courier, the server refuses APPEND to the folder that is open by EXAMINE. */
async function strictServer() {
  let examined = ''
  /** Bytes of a literal that are still to come. */
  let left = 0
  let appending = ''
  const receive = (socket: TLSSocket, line: string) => {
    left -= line.length + 2
    if (left <= 0) socket.write(`${appending} OK [APPENDUID 7 1] done\r\n`)
    return true
  }
  const server = await startScriptedImap({
    folders: ['Sent'],
    capabilities: 'UIDPLUS SPECIAL-USE',
    onCommand(name, socket, tag, line) {
      if (left > 0) return receive(socket, line)
      const folder = /^\S+ \S+ "?([^" ]+)/.exec(line)?.[1] ?? ''
      if (name === 'EXAMINE') {
        examined = folder
        socket.write(`* 0 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 1] ok\r\n${tag} OK [READ-ONLY] ok\r\n`)
        return true
      }
      if (name === 'SELECT' || name === 'CLOSE') examined = ''
      if (name !== 'APPEND') return name === ''
      if (folder === examined) {
        socket.write(`${tag} NO Current box is selected READ-ONLY.\r\n`)
        return true
      }
      appending = tag
      left = Number(/\{(\d+)\}$/.exec(line)?.[1])
      socket.write('+ go on\r\n')
      return true
    },
  })
  onTestFinished(() => server.close())
  return server
}

it('leaves Sent before it adds a copy, after it was read', async () => {
  const server = await strictServer()
  const provider = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => provider.mail.closeConnections())
  const copies = provider.sentCopies(server.access)
  const message = { rfcMessageId: '<1@x>', sentToken: '1', sentAt: Date.now(), bytes: () => [COPY] }
  expect(await copies.count([message], never)).toEqual([0])
  for (const mayExist of [false, true]) await copies.save({ ...message, mayExist }, never)
  await provider.mail.liveReads(server.access).listMessages('Sent', { limit: 10 })
  await copies.save({ ...message, mayExist: false }, never)
  expect(server.commands.filter((name) => name === 'APPEND')).toHaveLength(3)
})
