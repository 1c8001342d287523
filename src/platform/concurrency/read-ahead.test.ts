import { expect, it } from 'vitest'
import { readAhead } from './read-ahead.ts'

async function* source(log: string[], fails = false) {
  try {
    for (const item of ['a', 'b', 'c']) {
      log.push(`read ${item}`)
      yield item
    }
    if (fails) throw new Error('lost')
  } finally {
    log.push('closed')
  }
}

it('reads the next item while the caller works, all in order', async () => {
  const log: string[] = []
  for await (const item of readAhead(source(log))) {
    await new Promise((resolve) => setImmediate(resolve))
    log.push(`stored ${item}`)
  }
  expect(log).toEqual(['read a', 'read b', 'stored a', 'read c', 'stored b', 'closed', 'stored c'])
})

it('requests as many items ahead as asked for', async () => {
  const log: string[] = []
  for await (const item of readAhead(source(log), 2)) {
    await new Promise((resolve) => setImmediate(resolve))
    log.push(`stored ${item}`)
  }
  expect(log).toEqual(['read a', 'read b', 'read c', 'stored a', 'closed', 'stored b', 'stored c'])
})

it('throws what the source throws after the items before it', async () => {
  const items: string[] = []
  const all = async () => {
    for await (const item of readAhead(source([], true))) items.push(item)
  }
  await expect(all()).rejects.toThrow('lost')
  expect(items).toEqual(['a', 'b', 'c'])
})

it('ends the source when the caller leaves', async () => {
  const log: string[] = []
  for await (const item of readAhead(source(log))) if (item === 'a') break
  expect(log).toEqual(['read a', 'read b', 'closed'])
})
