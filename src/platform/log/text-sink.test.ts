import { describe, expect, it } from 'vitest'
import { idGenerator } from '../ids.ts'
import { fixedClock } from '../time/clock.ts'
import { type Log, logger, redactor, textSink } from './index.ts'

/** Returns the sink's output for the records of `work`. */
function written(work: (log: Log) => void, color = false): string {
  let text = ''
  const clock = fixedClock(Date.UTC(2026, 0, 31, 8, 5, 9))
  const sink = textSink({
    write: (part) => {
      text += part
    },
    color,
  })
  work(
    logger({ clock, ids: idGenerator(clock), instance: 'ins_1', level: 'info', redactor: redactor(), sinks: [sink] }),
  )
  return text
}

describe('the text log', () => {
  it('writes time, level, message and account on one line', () => {
    expect(written((log) => log.info('Synced.', { accountId: 'acc_1', metadata: { a: 1 } }))).toBe(
      '08:05:09 info   Synced. [acc_1]\n',
    )
    expect(written((log) => log.warn('Slow.'), true)).toBe('\x1b[2m08:05:09\x1b[22m \x1b[33mwarn \x1b[39m  Slow.\n')
  })

  it('adds the reasons that the message lacks, and a stack only for programming errors', () => {
    const error = new Error('no route', { cause: new Error('ENETUNREACH') })
    expect(written((log) => log.error('Cannot reach it.', { error }))).toBe(
      '08:05:09 error  Cannot reach it. (no route; ENETUNREACH)\n',
    )
    expect(written((log) => log.error('Cannot reach it: no route', { error: new Error('no route') }))).toBe(
      '08:05:09 error  Cannot reach it: no route\n',
    )
    expect(written((log) => log.error('Failed.', { error: new TypeError('x is undefined') }))).toMatch(
      /^08:05:09 error {2}Failed\.\n {16}TypeError: x is undefined\n {16} {4}at /,
    )
  })

  it('cannot be made to control the terminal or to show a forged record', () => {
    expect(written((log) => log.warn('Server said: \x1b]0;x\x07\r\n08:05:09 fatal  All is lost.'))).toBe(
      `08:05:09 warn   Server said: \uFFFD]0;x\uFFFD\uFFFD\n${' '.repeat(16)}08:05:09 fatal  All is lost.\n`,
    )
  })
})
