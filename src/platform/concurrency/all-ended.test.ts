import { expect, it } from 'vitest'
import { allEnded } from './all-ended.ts'

it('returns the results in the order of the works', async () => {
  expect(await allEnded([Promise.resolve(1), Promise.resolve(2)])).toEqual([1, 2])
})

it('throws the first error after all have ended', async () => {
  let hasEnded = false
  const slow = new Promise<void>((resolve) => setTimeout(resolve, 20)).then(() => {
    hasEnded = true
  })
  await expect(allEnded([slow, Promise.reject(new Error('failed'))])).rejects.toThrow('failed')
  expect(hasEnded).toBe(true)
})
