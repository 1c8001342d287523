import { expect, it } from 'vitest'
import { stateOr } from '../../../src/platform/db/index.ts'
import { describeEachDatabase } from './database.ts'

describeEachDatabase('test databases', (open, engine) => {
  it('opens a migrated database of this engine', async () => {
    const db = await open()
    expect(db.engine).toBe(engine)
    expect(await db.transaction((tx) => stateOr(tx, 'colour', () => 'red'))).toBe('red')
  })

  it('keeps two databases separate', async () => {
    const db = await open()
    const other = await open()
    await db.transaction((tx) => stateOr(tx, 'colour', () => 'red'))
    expect(await other.transaction((tx) => stateOr(tx, 'colour', () => 'blue'))).toBe('blue')
  })

  it('opens a second handle on the same database', async () => {
    const place = await open.place()
    const db = await open(place)
    const other = await open(place)
    await db.transaction((tx) => stateOr(tx, 'colour', () => 'red'))
    expect(await stateOr(other.read, 'colour', () => 'blue')).toBe('red')
  })
})
