import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { imapProvider } from './provider.ts'

/** A server that searches in these charsets only, and finds UID 1 by `found`, given in latin1. */
async function searchIn(charsets: string, found: string) {
  const searched: string[] = []
  let tagOfLiteral = ''
  const respond = (socket: TLSSocket, tag: string) => {
    searched.push('found')
    socket.write(`* SEARCH 1\r\n${tag} OK done\r\n`)
  }
  const server = closing(
    await startScriptedImap({
      selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok'],
      onCommand(name, socket, tag, line) {
        if (line.startsWith(found) && tagOfLiteral !== '') {
          respond(socket, tagOfLiteral)
          return true
        }
        if (name !== 'UID' || !line.includes('SEARCH')) return false
        const [, charset] = /CHARSET "?([^ "]+)/.exec(line) ?? []
        searched.push(charset ?? 'none')
        tagOfLiteral = tag
        if (charset === undefined) respond(socket, tag)
        else if (charsets.includes(charset)) socket.write('+ go on\r\n')
        else socket.write(`${tag} NO [BADCHARSET${charsets}] Unknown charset\r\n`)
        return true
      },
      onUid: (_, say) => say('1 FETCH (UID 1 FLAGS () RFC822.SIZE 9 BODY[HEADER]<0> {13}\r\nSubject: x\r\n\r\n)'),
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  const search = (...text: string[]) =>
    mail.liveReads(server.access).listMessages('INBOX', { limit: 5, search: { text } })
  return { search, searched }
}

describe('a server that does not search in UTF-8', () => {
  it('is asked in a charset that it names', async () => {
    const { search, searched } = await searchIn(' (US-ASCII ISO-8859-1)', 'Gr\xfc\xdfe')
    expect(await search('Grüße')).toMatchObject({ total: 1 })
    expect(searched).toEqual(['UTF-8', 'ISO-8859-1', 'found'])
  })

  it.each([
    [' (US-ASCII ISO-8859-1)', 'only in US-ASCII, ISO-8859-1'],
    ['', 'does not search in UTF-8. '],
    [' (no-such-charset)', 'only in no-such-charset'],
  ])('is reported when no charset of%s has the words', async (charsets, text) => {
    const { search } = await searchIn(charsets, 'x')
    const error = { kind: 'rejected', unsupported: true, message: expect.stringContaining(text) }
    await expect(search('电子')).rejects.toMatchObject(error)
  })

  it('is asked for words in ASCII as before', async () => {
    const { search, searched } = await searchIn(' (US-ASCII)', 'x')
    expect(await search('words')).toMatchObject({ total: 1 })
    expect(searched).toEqual(['none', 'found'])
  })
})
