import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { WorkerThread } from './worker-thread.ts'

const open = (options: { timeoutMs?: number; idleMs?: number } = {}) =>
  closing(
    new WorkerThread<string, string>({
      file: pathToFileURL(join(inject('workers'), 'thread-worker.mjs')),
      timeoutMs: 1_000_000,
      ...options,
    }),
  )

const threadNumber = (result: string) => Number(/\d+$/.exec(result)?.[0])

it('handles requests one after the other in one thread, and goes on after a handler threw', async () => {
  const thread = open()
  const results = await Promise.allSettled(['a', 'throw', 'b'].map((request) => thread.call(request)))
  expect(results).toMatchObject([
    { value: expect.stringMatching(/^a in thread/) },
    { reason: { message: 'refused by the handler' } },
    { value: expect.stringMatching(/^b in thread/) },
  ])
  expect(threadNumber(await thread.call('c'))).toBe(threadNumber(await thread.call('d')))
})

it('ends a thread that hangs or exits, and serves those that wait in another one', async () => {
  const thread = open({ timeoutMs: 2000 })
  // Again when the machine starts a thread more slowly than that.
  await eventually(async () => {
    const first = threadNumber(await thread.call('a'))
    const [hung, next] = await Promise.allSettled([thread.call('hang'), thread.call('b')])
    expect(hung).toMatchObject({ reason: { message: 'it did not respond in time' } })
    expect(next).toMatchObject({ value: expect.stringMatching(/^b/) })
    const [exited, last] = await Promise.allSettled([thread.call('exit'), thread.call('c')])
    expect(exited).toMatchObject({ reason: { message: 'it ended' } })
    expect(threadNumber(String(Reflect.get(last, 'value')))).toBeGreaterThan(first + 1)
  })
})

it('ends an idle thread, and starts another one for the next request', async () => {
  const thread = open({ idleMs: 1 })
  const first = threadNumber(await thread.call('a'))
  await eventually(async () => expect(threadNumber(await thread.call('b'))).not.toBe(first))
})

it('refuses requests once it is closed, those that wait too', async () => {
  const thread = open()
  const results = Promise.allSettled([thread.call('hang'), thread.call('a')])
  await thread.close()
  await thread.close()
  const closed = { reason: { message: 'it was closed' } }
  expect(await results).toMatchObject([closed, closed])
  await expect(thread.call('b')).rejects.toThrow('it was closed')
})
