import { expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { mergedChanges } from './merged-changes.ts'

it('reports the first change at once, and a flood of changes of a folder in one call for each pause', async () => {
  const reported: (string | undefined)[] = []
  const change = mergedChanges(async (path) => void reported.push(path))
  change('INBOX')
  expect(reported).toEqual(['INBOX'])
  for (let count = 0; count < 10_000; count += 1) change(count % 2 === 0 ? 'INBOX' : 'Sent')
  await eventually(() => expect(reported.slice(1).sort()).toEqual(['INBOX', 'Sent']))
  await eventually(() => {
    change(undefined)
    expect(reported).toContain(undefined)
  })
})

it('reports later changes although the other thread was gone', async () => {
  const reported: (string | undefined)[] = []
  const change = mergedChanges(async (path) => {
    reported.push(path)
    throw new Error('gone')
  })
  change('INBOX')
  change('Sent')
  await eventually(() => expect(reported).toEqual(['INBOX', 'Sent']))
})
