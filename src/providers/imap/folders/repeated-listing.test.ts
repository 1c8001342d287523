import { describe, expect, it } from 'vitest'
import { RESPONSE_LIMITS, ResponseGate } from '../connection/response-gate.ts'
import { RepeatedListing } from './repeated-listing.ts'

const INBOX = '* LIST (\\HasNoChildren) "/" INBOX\r\n* STATUS INBOX (MESSAGES 3 UIDNEXT 9)\r\n'
const SHORT = '* LIST (\\Subscribed) NIL INBOX\r\n* STATUS INBOX (MESSAGES 0)\r\n'
const done = (tag: number) => `A${tag} OK List completed (0.00${tag} secs).\r\n`

/** A connection that passes what a server sends, as the socket does. */
function connection() {
  const gate = new ResponseGate(RESPONSE_LIMITS)
  const listings = new RepeatedListing()
  const receive = (text: string) => listings.pass(gate.pass(Buffer.from(text, 'latin1'))).toString('latin1')
  let reads = 0
  /** The result of a LIST that the server answers with these chunks, and what imapflow was given to parse. */
  const list = async (...chunks: string[]) => {
    let parsed = ''
    const result = await listings.read(gate, async () => {
      reads += 1
      for (const chunk of chunks) parsed += receive(chunk)
      return reads
    })
    return { result, parsed }
  }
  return { gate, listings, receive, list }
}

describe('a listing', () => {
  it('with the same bytes as the last one is not parsed again', async () => {
    const { list } = connection()
    expect(await list(INBOX + done(1))).toEqual({ result: 1, parsed: INBOX + done(1) })
    expect(await list(INBOX + done(2))).toEqual({ result: 1, parsed: SHORT + done(2) })
    expect(await list(INBOX + done(3))).toEqual({ result: 1, parsed: SHORT + done(3) })
    const changed = INBOX.replace('9', '8')
    expect(await list(changed + done(4))).toEqual({ result: 4, parsed: changed + done(4) })
    expect(await list(changed + done(5))).toEqual({ result: 4, parsed: SHORT + done(5) })
    expect(await list(INBOX + done(6))).toEqual({ result: 6, parsed: INBOX + done(6) })
  })

  it('is the same however the network cuts it', async () => {
    const text = INBOX + done(1)
    for (let at = 1; at < text.length; at += 1) {
      const { list } = connection()
      expect(await list(text.slice(0, at), text.slice(at))).toEqual({ result: 1, parsed: text })
      expect(await list(text.slice(0, at), text.slice(at))).toEqual({ result: 1, parsed: SHORT + done(1) })
      expect(await list(...text)).toEqual({ result: 1, parsed: SHORT + done(1) })
    }
  })

  it('of more than 16 kB is parsed every time', async () => {
    const { list } = connection()
    const long = `* LIST () "/" ${'a'.repeat(100)}\r\n`.repeat(150)
    for (const tag of [1, 2]) {
      expect(await list(long, done(tag))).toEqual({ result: tag, parsed: long + done(tag) })
    }
  })

  it.each([
    ['a report within it', INBOX.replace('* STATUS', '* 4 EXISTS\r\n* STATUS')],
    ['a name as a literal', `* LIST () "/" {27}\r\n* LIST () "/" x\r\nA1 OK no\r\n\r\n${INBOX}`],
    ['no folder', ''],
  ])('with %s is parsed every time', async (_, text) => {
    const { list } = connection()
    for (const tag of [1, 2, 3]) {
      expect(await list(text + done(tag))).toEqual({ result: tag, parsed: text + done(tag) })
    }
  })

  it('is repeated after lines of something else, such as the end of an IDLE', async () => {
    const before = '* 4 EXISTS\r\n7 OK Idle completed.\r\n'
    const text = before + INBOX + done(1)
    for (let at = 1; at < text.length; at += 1) {
      const { list } = connection()
      expect(await list(text.slice(0, at), text.slice(at))).toEqual({ result: 1, parsed: text })
      const repeated = { result: 1, parsed: before + SHORT + done(1) }
      expect(await list(text.slice(0, at), text.slice(at))).toEqual(repeated)
      expect(await list(...text)).toEqual(repeated)
    }
  })

  it('that failed is parsed every time', async () => {
    const { list } = connection()
    const failed = `${INBOX}A1 NO not now\r\n`
    expect(await list(failed)).toEqual({ result: 1, parsed: failed })
    expect(await list(failed)).toEqual({ result: 2, parsed: failed })
  })

  it('is parsed after one that had more than one LIST', async () => {
    const { list } = connection()
    const second = `* LIST () "/" Other\r\n${done(9)}`
    expect(await list(INBOX + done(1), second)).toEqual({ result: 1, parsed: INBOX + done(1) + second })
    expect(await list(INBOX + done(1), second)).toEqual({ result: 2, parsed: INBOX + done(1) + second })
  })

  it('is repeated although more follows it at once', async () => {
    const { list } = connection()
    await list(INBOX + done(1))
    const report = '* 4 EXISTS\r\n'
    expect(await list(INBOX + done(2) + report, report)).toEqual({
      result: 1,
      parsed: SHORT + done(2) + report + report,
    })
  })
})

describe('everything else', () => {
  it('passes as it came', async () => {
    const { list, receive } = connection()
    await list(INBOX + done(1))
    expect(receive(INBOX + done(2))).toBe(INBOX + done(2))
    expect(receive('* 4 EXI')).toBe('* 4 EXI')
  })

  it('passes as it came while a response is incomplete', async () => {
    const { list, receive } = connection()
    await list(INBOX + done(1))
    receive('* 1 FETCH (BODY[] {90}\r\n')
    expect(await list(INBOX + done(2))).toEqual({ result: 2, parsed: INBOX + done(2) })
  })

  it('passes after a read that ended before its listing', async () => {
    const { gate, listings, receive, list } = connection()
    await list(INBOX + done(1))
    const failure = new Error('aborted')
    const abandoned = listings.read(gate, async () => {
      expect(receive(INBOX.slice(0, 50))).toBe('')
      throw failure
    })
    await expect(abandoned).rejects.toBe(failure)
    expect(receive(INBOX.slice(50) + done(2))).toBe(INBOX + done(2))
  })

  it('belongs to the reads that asked for it when one was abandoned', async () => {
    const { gate, listings, receive, list } = connection()
    await list(INBOX + done(1))
    let respond = () => {}
    const answered = new Promise<void>((resolve) => {
      respond = resolve
    })
    const abandoned = listings.read(gate, () => answered.then(() => 'abandoned'))
    const read = listings.read(gate, () => answered.then(() => 'parsed'))
    receive(INBOX + done(2))
    receive(INBOX.replace('3', '4') + done(3))
    respond()
    expect(await Promise.all([abandoned, read])).toEqual([1, 'parsed'])
  })
})
