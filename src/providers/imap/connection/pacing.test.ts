import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { pacing } from './pacing.ts'

const never = () => new AbortController().signal

/** An attempt that runs until `finish` is called. */
function held() {
  let finish = () => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  return { finish, attempt: () => done }
}

describe('connection attempts at one host', () => {
  it('never exceed the limit, and urgent ones go first', async () => {
    const pace = pacing({ concurrent: 2, jitterMs: 0 })
    const started: string[] = []
    const holds = new Map<string, ReturnType<typeof held>>()
    const run = (name: string, urgent: boolean) => {
      const hold = held()
      holds.set(name, hold)
      return pace.run('mail.test', urgent, never(), () => {
        started.push(name)
        return hold.attempt()
      })
    }
    const all = [run('a', false), run('b', false), run('c', false), run('d', false), run('person', true)]
    await eventually(() => expect(started).toEqual(['a', 'b']))
    holds.get('a')?.finish()
    await eventually(() => expect(started).toEqual(['a', 'b', 'person']))
    for (const hold of holds.values()) hold.finish()
    await Promise.all(all)
    expect(started).toHaveLength(5)
  })

  it('do not wait for another host', async () => {
    const pace = pacing({ concurrent: 1, jitterMs: 60_000 })
    const hold = held()
    const first = pace.run('one.test', false, never(), hold.attempt)
    expect(await pace.run('two.test', false, never(), async () => 'there')).toBe('there')
    hold.finish()
    await first
  })

  it('free their slot when they fail or are aborted', async () => {
    const pace = pacing({ concurrent: 1, jitterMs: 0 })
    const abort = new AbortController()
    const failing = pace.run('mail.test', false, never(), () => Promise.reject(new Error('refused')))
    const waiting = pace.run('mail.test', false, abort.signal, async () => 'never')
    const next = pace.run('mail.test', false, never(), async () => 'next')
    abort.abort(new Error('given up'))
    await expect(failing).rejects.toThrow('refused')
    await expect(waiting).rejects.toThrow('given up')
    expect(await next).toBe('next')
  })

  it('are spread by the jitter', async () => {
    const pace = pacing({ concurrent: 10, jitterMs: 40, random: () => 1 })
    const startedAt: number[] = []
    const holds = [held(), held(), held()]
    const begin = performance.now()
    const all = holds.map((hold) =>
      pace.run('mail.test', false, never(), () => {
        startedAt.push(performance.now() - begin)
        return hold.attempt()
      }),
    )
    await eventually(() => expect(startedAt).toHaveLength(3))
    for (const hold of holds) hold.finish()
    await Promise.all(all)
    for (const at of startedAt.slice(1)) expect(at).toBeGreaterThanOrEqual(39)
  })
})
