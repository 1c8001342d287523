import { expect, it } from 'vitest'
import { concurrencyLimit } from './limit.ts'

it('runs one piece of work after the other, in the order of the calls, also after a failure', async () => {
  const oneAtATime = concurrencyLimit(1)
  const log: string[] = []
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await Promise.resolve()
    log.push(`${name} ends`)
    if (name === 'b') throw new Error('failed')
    return name
  }
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => oneAtATime(work(name))))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(log).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
  expect(await oneAtATime(work('d'))).toBe('d')
})

it('runs as much at once as it allows', async () => {
  const twoAtATime = concurrencyLimit(2)
  let running = 0
  let most = 0
  const work = async () => {
    running += 1
    most = Math.max(most, running)
    await Promise.resolve()
    running -= 1
  }
  await Promise.all([1, 2, 3, 4, 5].map(() => twoAtATime(work)))
  expect(most).toBe(2)
})
