import { describe, expect, it } from 'vitest'
import { IdlePoll } from './idle-poll.ts'

const LIST = 'LIST "" "*" RETURN (STATUS (MESSAGES))'
const LISTED = '* LIST () "/" INBOX\r\n* STATUS INBOX (MESSAGES 3)\r\n'

/** A connection whose IDLE has the tag `5`, and which the server has acknowledged. */
function idling() {
  const sent: string[] = []
  const idle = new IdlePoll((text) => void sent.push(text))
  const send = (text: string) => idle.sending(Buffer.from(text))
  const receive = (text: string) => idle.pass(Buffer.from(text, 'latin1')).toString('latin1')
  /** A poll that the server answers with these chunks: the list, and what imapflow was given to parse. */
  const poll = async (...chunks: string[]) => {
    let list: string | undefined = 'no answer'
    void idle.list(LIST).then((response) => {
      list = response?.toString('latin1')
    })
    let passed = ''
    for (const chunk of chunks) passed += receive(chunk)
    await Promise.resolve()
    return { list, passed }
  }
  send('5 IDLE\r\n')
  receive('+ idling\r\n')
  return { idle, sent, send, receive, poll }
}

/** Answers the n-th poll as a server does; the IDLE has this tag until then. */
const respond = (tag: string, n: number, { listed = LISTED, completed = 'OK done' } = {}) =>
  `${tag} OK Idle completed.\r\nN${n} OK\r\n${listed}L${n} ${completed}\r\n+ idling\r\n`

describe('a poll', () => {
  it('is one write, and the server idles again after it', async () => {
    const { idle, sent, poll } = idling()
    expect(idle.isPossible).toBe(true)
    expect(await poll(respond('5', 1))).toEqual({ list: LISTED, passed: '' })
    expect(sent).toEqual([`DONE\r\nN1 NOOP\r\nL1 ${LIST}\r\nI1 IDLE\r\n`])
    expect(idle.isPossible).toBe(true)
    expect(await poll(respond('I1', 2))).toEqual({ list: LISTED, passed: '' })
  })

  it('is the same however the network cuts the answer', async () => {
    const text = respond('5', 1).replace('+ idling', '* 4 EXISTS\r\n+ idling')
    for (let at = 1; at < text.length; at += 1) {
      const { poll } = idling()
      expect(await poll(text.slice(0, at), text.slice(at))).toEqual({ list: LISTED, passed: '* 4 EXISTS\r\n' })
    }
    expect(await idling().poll(...text)).toEqual({ list: LISTED, passed: '* 4 EXISTS\r\n' })
  })

  it('lets imapflow see what the server reports meanwhile, in its order', async () => {
    const text = `* 4 EXISTS\r\n5 OK\r\nN1 OK\r\n${LISTED}L1 OK\r\n* 5 EXISTS\r\n+ idling\r\n* 6 EXISTS\r\n`
    const passed = [4, 5, 6].map((count) => `* ${count} EXISTS\r\n`).join('')
    expect(await idling().poll(text)).toEqual({ list: LISTED, passed })
  })

  it.each([
    ['NOOP last', `${LISTED}L1 OK\r\nN1 OK\r\n+ idling\r\n`],
    ['NOOP within the list', LISTED.replace('* STATUS', 'N1 OK\r\n* STATUS').concat('L1 OK\r\n+ idling\r\n')],
    ['IDLE first', `+ idling\r\n${LISTED}N1 OK\r\nL1 OK\r\n`],
  ])('may be answered in another order: %s', async (_, text) => {
    const { idle, poll } = idling()
    expect(await poll(`5 OK Idle completed.\r\n${text}`)).toEqual({ list: LISTED, passed: '' })
    expect(idle.isPossible).toBe(true)
  })

  it.each([
    ['anything but folders and states', { listed: `${LISTED}* 4 EXISTS\r\n` }, '* 4 EXISTS\r\n'],
    ['a name as a literal', { listed: '* LIST () "/" {1}\r\na\r\n' }, '* LIST () "/" {1}\r\na\r\n'],
    ['more than 16 kB', { listed: LISTED.repeat(400) }, ''],
    ['NO', { completed: 'NO not now' }, ''],
  ])('has no list when the server answers with %s', async (_, options, passed) => {
    const { idle, poll } = idling()
    expect(await poll(respond('5', 1, options))).toEqual({ list: undefined, passed })
    expect(idle.isPossible).toBe(true)
  })

  it('is not repeated after BAD', async () => {
    const { idle, poll } = idling()
    expect(await poll(respond('5', 1, { completed: 'BAD what?' }))).toEqual({ list: undefined, passed: '' })
    expect(idle.isPossible).toBe(false)
  })

  it('that the server ignores does not resolve', async () => {
    const { idle, poll } = idling()
    expect(await poll()).toEqual({ list: 'no answer', passed: '' })
    expect(idle.isBehind).toBe(false)
    const { idle: ended, poll: pollEnded } = idling()
    expect(await pollEnded('5 OK Idle completed.\r\n')).toEqual({ list: 'no answer', passed: '' })
    expect(ended.isBehind).toBe(true)
  })
})

describe('the IDLE of imapflow', () => {
  it.each(['OK Idle completed.', 'NO later', 'BAD what?'])('ends under its own tag after polls: %s', async (end) => {
    const { idle, send, receive, poll } = idling()
    await poll(respond('5', 1))
    await poll(respond('I1', 2))
    expect(receive('* 4 EXISTS\r\n')).toBe('* 4 EXISTS\r\n')
    send('DONE\r\n')
    expect(idle.isPossible).toBe(false)
    expect(receive(`* 5 EXISTS\r\nI2 ${end}\r\n6 OK\r\nI2 OK\r\n* 6 EX`)).toBe(
      `* 5 EXISTS\r\n5 ${end}\r\n6 OK\r\nI2 OK\r\n* 6 EX`,
    )
    expect(receive('ISTS\r\n')).toBe('ISTS\r\n')
  })

  it('ends when the server ends it, or refuses to begin it again', async () => {
    const ended = idling()
    await ended.poll(respond('5', 1))
    expect(ended.receive('I1 OK 29 minutes\r\n')).toBe('5 OK 29 minutes\r\n')
    expect(ended.idle.isPossible).toBe(false)
    const refused = idling()
    const text = respond('5', 1).replace('+ idling', 'I1 NO later')
    expect(await refused.poll(text)).toEqual({ list: undefined, passed: '5 NO later\r\n' })
    expect(refused.idle.isPossible).toBe(false)
  })

  it('can be polled only after the server has acknowledged it', () => {
    const idle = new IdlePoll(() => {})
    expect(idle.isPossible).toBe(false)
    idle.sending(Buffer.from('A IDLE\r\n'))
    expect(idle.isPossible).toBe(false)
    expect(idle.pass(Buffer.from('* 1 EXISTS\r\n+'))).toEqual(Buffer.from('* 1 EXISTS\r\n'))
    expect(idle.pass(Buffer.from(' idling\r\n'))).toEqual(Buffer.from('+ idling\r\n'))
    expect(idle.isPossible).toBe(true)
    idle.sending(Buffer.from('DONE\r\n'))
    expect(idle.isPossible).toBe(false)
  })

  it('that the server refuses cannot be polled', () => {
    const idle = new IdlePoll(() => {})
    idle.sending(Buffer.from('A IDLE\r\n'))
    expect(idle.pass(Buffer.from('A NO later\r\n+ \r\n')).toString()).toBe('A NO later\r\n+ \r\n')
    expect(idle.isPossible).toBe(false)
  })

  it('holds no more than 16 kB of a line', async () => {
    const { receive, poll } = idling()
    await poll(respond('5', 1))
    const long = `* 1 FETCH ${'x'.repeat(20_000)}`
    expect(receive(long)).toBe(long)
    expect(receive('I1 OK not the beginning of a line\r\nI1 OK\r\n')).toBe(
      'I1 OK not the beginning of a line\r\n5 OK\r\n',
    )
  })
})
