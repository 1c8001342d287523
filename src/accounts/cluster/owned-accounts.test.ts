import { expect, it } from 'vitest'
import { turnsDuring } from '../../../test/kit/measure/event-loop.ts'
import { memoryLog } from '../../../test/kit/service/memory-log.ts'
import type { OwnershipChange } from '../index.ts'
import { OwnedAccounts } from './owned-accounts.ts'
import type { OwnedAccount } from './ownership-store.ts'

const account = (id: string, changes: Partial<OwnedAccount> = {}): OwnedAccount => ({
  id,
  epoch: 1,
  paused: 0,
  watch: 1,
  accessVersion: 1,
  mailHost: 'mail.example',
  ...changes,
})

async function* pages(accounts: readonly OwnedAccount[]) {
  for (let start = 0; start < accounts.length; start += 500) yield accounts.slice(start, start + 500)
}

function owning() {
  const { log, entries } = memoryLog()
  const changes: OwnershipChange[] = []
  const owned = new OwnedAccounts(log)
  owned.onChange((change) => changes.push(change))
  return { owned, entries, taken: () => changes.splice(0) }
}

const none = { lost: [], gained: [], changed: [] }

it('reports what a full read gained, lost and changed, and nothing when nothing did', async () => {
  const { owned, taken } = owning()
  await owned.replace(pages([account('a'), account('b'), account('c')]))
  expect(taken()).toEqual([{ ...none, gained: ['a', 'b', 'c'] }])
  await owned.replace(pages([account('a'), account('b'), account('c')]))
  expect(taken()).toEqual([])
  await owned.replace(pages([account('a', { paused: 1 }), account('b', { epoch: 2 }), account('d')]))
  expect(taken()).toEqual([
    { lost: ['b'], gained: ['b', 'd'], changed: ['a'] },
    { ...none, lost: ['c'] },
  ])
  expect([...owned.epochs]).toEqual([
    ['a', 1],
    ['b', 2],
    ['d', 1],
  ])
  expect(owned.get('a')?.paused).toBe(1)
})

it('owns nothing as soon as it drops its accounts, and reports those lost that it takes again', async () => {
  const { owned, taken } = owning()
  await owned.replace(pages([account('a'), account('b')]))
  taken()
  owned.drop()
  expect([owned.epochs.size, owned.get('a'), taken()]).toEqual([0, undefined, []])
  owned.add(account('a'))
  expect(taken()).toEqual([{ ...none, lost: ['a'], gained: ['a'] }])
  await owned.reportDropped()
  expect(taken()).toEqual([{ ...none, lost: ['b'] }])
  expect([...owned.epochs.keys()]).toEqual(['a'])
})

it('reports accounts again with the next full read when a listener failed', async () => {
  const { owned, entries, taken } = owning()
  let failures = 1
  const seen: OwnershipChange[] = []
  owned.onChange((change) => {
    if (failures-- > 0) throw new Error('the listener failed')
    seen.push(change)
  })
  owned.add(account('a'))
  expect([seen, entries.map(({ level }) => level)]).toEqual([[], ['error', 'info']])
  await owned.replace(pages([account('a')]))
  await owned.replace(pages([account('a')]))
  expect(seen).toEqual([{ ...none, gained: ['a'] }])
  expect(taken()).toHaveLength(2)
})

it('takes and loses 20,000 accounts over many turns of the event loop, with one log entry each', async () => {
  const { owned, entries, taken } = owning()
  const accounts = Array.from({ length: 20_000 }, (_, index) => account(`acc_${index}`))
  // Listeners take their time.
  owned.onChange(({ gained, lost }) => {
    const endMs = performance.now() + (gained.length + lost.length) / 100
    while (performance.now() < endMs);
  })
  const start = await turnsDuring(() => owned.replace(pages(accounts)))
  expect(Math.max(...taken().map(({ gained }) => gained.length))).toBe(500)
  owned.drop()
  const end = await turnsDuring(() => owned.reportDropped())
  expect(Math.max(...taken().map(({ lost }) => lost.length))).toBe(500)
  expect([start.turns, end.turns].map((turns) => turns >= 15)).toEqual([true, true])
  expect(entries.map(({ metadata }) => metadata)).toEqual([
    { gained: 20_000, lost: 0, owned: 20_000 },
    { gained: 0, lost: 20_000, owned: 0 },
  ])
})
