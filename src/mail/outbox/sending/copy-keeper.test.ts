import { describe, expect, it } from 'vitest'
import { copyStep, type Keeper, learnKeeper } from './copy-keeper.ts'

const WAITS = { unknownMs: 10_000, serverMs: 120_000 }
const SENT_AT = 1_000_000
const SERVER: Keeper = { savedBy: 'server', probe: null }
const SERVICE: Keeper = { savedBy: 'service', probe: null }
const PROBED: Keeper = { savedBy: 'service', probe: { rfcMessageId: '<1@x>', sentToken: '1', savedAt: SENT_AT } }

describe('the copy of a message', () => {
  it.each([
    ['unknown', undefined, 0, { checkAt: SENT_AT + 500 }],
    ['unknown', undefined, 2000, { checkAt: SENT_AT + 4000 }],
    ['unknown', undefined, 9000, { checkAt: SENT_AT + 10_000 }],
    ['unknown', undefined, 10_000, 'save'],
    ['the server', SERVER, 10_000, { checkAt: SENT_AT + 20_000 }],
    ['the server', SERVER, 60_000, { checkAt: SENT_AT + 75_000 }],
    ['the server', SERVER, 120_000, 'save'],
    ['the service', SERVICE, 0, 'save'],
  ])('where %s saves it: %j after %i ms', (_who, keeper, afterMs, step) => {
    const message = { count: 0, acceptedAt: SENT_AT }
    expect(copyStep(keeper, message, WAITS, SENT_AT + afterMs)).toEqual(step)
    expect(copyStep(keeper, { ...message, count: 1 }, WAITS, SENT_AT + afterMs)).toBe('exists')
  })
})

describe('who saves copies', () => {
  const learn = (keeper: Keeper | undefined, found: { count: number; mayBeOwn: boolean }, probes: number, ms: number) =>
    learnKeeper(keeper, [{ ...found, acceptedAt: SENT_AT }], probes, WAITS, SENT_AT + ms)

  it.each([
    ['a copy before the service may have saved one', undefined, { count: 1, mayBeOwn: true }, 0, 9000, SERVER],
    ['a copy that no run can have saved', SERVICE, { count: 1, mayBeOwn: false }, 0, 0, SERVER],
    ['a second copy of the probe', PROBED, { count: 0, mayBeOwn: false }, 2, 1000, SERVER],
    ['one copy of the probe after a minute', PROBED, { count: 0, mayBeOwn: false }, 1, 60_000, SERVICE],
    ['one copy of the probe at once', PROBED, { count: 0, mayBeOwn: false }, 1, 1000, PROBED],
    ['a copy that may be of an interrupted run', SERVICE, { count: 1, mayBeOwn: true }, 0, 0, SERVICE],
    ['a copy after a long interruption', undefined, { count: 1, mayBeOwn: true }, 0, 60_000, undefined],
    ['no copy', undefined, { count: 0, mayBeOwn: false }, 0, 0, undefined],
  ])('is shown by %s', (_what, keeper, found, probes, ms, expected) => {
    expect(learn(keeper, found, probes, ms)).toEqual(expected)
  })
})
