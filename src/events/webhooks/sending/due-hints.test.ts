import { expect, it } from 'vitest'
import { memoryBus } from '../../../platform/bus/index.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { dueHints } from './due-hints.ts'

it('hints reach the workers of those endpoints and no others, however many they are', async () => {
  const bus = memoryBus({ log: silentLog })
  const hints = dueHints(bus)
  const ids = Array.from({ length: 120 }, (_, index) => `whe_${index}`)
  const due: string[] = []
  for (const id of [...ids, 'whe_other']) hints.listen(id, () => due.push(id))
  hints.announce(ids)
  await new Promise(setImmediate)
  expect(due.toSorted()).toEqual(ids.toSorted())
  hints.close()
  await bus.close()
})
