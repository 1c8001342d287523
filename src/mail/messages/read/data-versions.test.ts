import { expect, it } from 'vitest'
import { imapLink, imapUser, testAccounts } from '../../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { dataVersionReader } from './data-versions.ts'

describeEachDatabase('versions of the data of accounts', (open) => {
  it('are those of the call or later, however many calls share a query', async () => {
    const db = await open()
    const { accounts } = testAccounts(db)
    const read = dataVersionReader(db)
    const chance = random()
    const ids: string[] = []
    for (const name of ['ada', 'bob', 'eve']) {
      ids.push((await db.transaction((tx) => accounts.link(tx, imapLink(imapUser(name))))).id)
    }
    const written = new Map(await Promise.all(ids.map(async (id) => [id, (await read(id)) ?? Number.NaN] as const)))
    const write = async (id: string) => {
      await db.transaction((tx) => accounts.hold(tx, id))
      written.set(id, (written.get(id) ?? 0) + 1)
    }
    const check = async (id: string) => {
      const least = written.get(id) ?? Number.NaN
      expect(await read(id)).toBeGreaterThanOrEqual(least)
    }
    const any = () => ids[Math.floor(chance() * ids.length)] ?? ''
    const reads = async () => {
      for (let index = 0; index < 40; index += 1) await check(any())
    }
    const writes = async () => {
      for (let index = 0; index < 60; index += 1) {
        const id = any()
        await write(id)
        await check(id)
      }
    }
    await Promise.all([...Array.from({ length: 8 }, reads), writes()])
    for (const id of ids) expect(await read(id)).toBe(written.get(id))
    expect(await Promise.all(['acc_none', ids[0] ?? '', 'acc_none'].map(read))).toEqual([
      undefined,
      expect.any(Number),
      undefined,
    ])
  })

  it('fail for the calls of a query that fails, and for no others', async () => {
    const db = await open()
    const read = dataVersionReader(db)
    await db.close()
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => read('acc_none')))
    expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill('rejected'))
    await expect(read('acc_none')).rejects.toThrow()
  })
})
