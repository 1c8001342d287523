import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { accountsRoom, imapUser } from '../../../test/kit/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database.ts'
import { fixedClock, systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { licence, signLicenceKey } from './index.ts'

const issuer = generateKeyPairSync('ed25519')
const clock = fixedClock(Date.parse('2026-06-01T00:00:00Z'))

function read(key: string | undefined) {
  return licence({ key, clock, issuer: issuer.publicKey })
}

describe('a licence key', () => {
  it('is not needed: the plan is community, without a cap', () => {
    const none = read(undefined)
    expect([none.plan, none.accountLimit, none.problem(), none.hasRoom(1e9)]).toEqual([
      'community',
      null,
      undefined,
      true,
    ])
  })

  it('says its plan, its cap and its end', () => {
    const key = signLicenceKey({ plan: 'team', accountLimit: 2, expiresAt: '2027-01-01T00:00:00Z' }, issuer.privateKey)
    const team = read(key)
    expect([team.plan, team.accountLimit, team.problem()]).toEqual(['team', 2, undefined])
    expect([team.hasRoom(1), team.hasRoom(2)]).toEqual([true, false])
  })

  it('that is foreign, altered or nonsense counts as none, and the problem does not repeat it', () => {
    const foreign = signLicenceKey({ plan: 'team' }, generateKeyPairSync('ed25519').privateKey)
    const mine = signLicenceKey({ plan: 'team', accountLimit: 2 }, issuer.privateKey)
    const altered = `${signLicenceKey({ plan: 'team' }, issuer.privateKey).split('.')[0]}.${mine.split('.')[1]}`
    const unplanned = signLicenceKey({ plan: '' }, issuer.privateKey)
    for (const key of [foreign, altered, unplanned, 'nonsense', 'a.b', 'a.b.c', `${mine}.x`]) {
      const ignored = read(key)
      expect([ignored.plan, ignored.accountLimit]).toEqual(['community', null])
      expect(ignored.problem()).toMatch(/^SERVICE_LICENSE_KEY is ignored: /)
      expect(ignored.problem()).not.toContain(key)
    }
    expect(licence({ key: mine, clock: systemClock }).plan).toBe('community')
  })

  it('that has ended keeps its plan and cap, and says so', () => {
    const ended = read(signLicenceKey({ plan: 'team', accountLimit: 2, expiresAt: '2026-05-01' }, issuer.privateKey))
    expect([ended.plan, ended.accountLimit, ended.problem()]).toEqual(['team', 2, 'The licence ended on 2026-05-01.'])
  })
})

describeEachDatabase('the cap of a licence', (open) => {
  it('holds when many mailboxes are linked at once, and lets existing accounts be linked again', async () => {
    const key = signLicenceKey({ plan: 'team', accountLimit: 3 }, issuer.privateKey)
    const room = accountsRoom(await open(), { licence: read(key) })
    const linked = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => room.link(imapUser(`user-${i}`))))
    const refused = linked.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused).toHaveLength(5)
    for (const error of refused) expect(error instanceof AppError && error.code).toBe('licence_limit')
    const [kept] = (await room.accounts.list({})).items
    const name = kept?.email.split('@')[0] ?? ''
    expect((await room.link(imapUser(name))).id).toBe(kept?.id)
  })

  it('counts links of one identity at the same moment once', async () => {
    const key = signLicenceKey({ plan: 'solo', accountLimit: 1 }, issuer.privateKey)
    const room = accountsRoom(await open(), { licence: read(key) })
    const linked = await Promise.all(Array.from({ length: 6 }, () => room.link()))
    expect(new Set(linked.map((account) => account.id)).size).toBe(1)
  })
})
