import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { fixedClock, systemClock } from '../../platform/time/clock.ts'
import { licence, signLicenceKey } from './index.ts'

const issuer = generateKeyPairSync('ed25519')
const clock = fixedClock(Date.parse('2026-06-01T00:00:00Z'))

const ACME = {
  id: 'con_acme',
  provider: 'microsoft',
  kind: 'tenant',
  name: 'Acme',
  settings: '{}',
  secrets: '',
  status: 'connected',
  statusReason: null,
  createdAt: 1,
  updatedAt: 1,
} as const

function read(key: string | undefined) {
  return licence({ key, clock, issuer: issuer.publicKey })
}

describe('a licence key', () => {
  it('is optional: without one, the plan is community with no limit', () => {
    const none = read(undefined)
    expect([none.plan, none.accountLimit, none.problem(), none.allowsAnother(1e9)]).toEqual([
      'community',
      null,
      undefined,
      true,
    ])
  })

  it('sets the plan, the limit and the expiry', () => {
    const key = signLicenceKey({ plan: 'team', accountLimit: 2, expiresAt: '2027-01-01T00:00:00Z' }, issuer.privateKey)
    const team = read(key)
    expect([team.plan, team.accountLimit, team.problem()]).toEqual(['team', 2, undefined])
    expect([team.allowsAnother(1), team.allowsAnother(2)]).toEqual([true, false])
  })

  it('is ignored when foreign, altered or malformed, and the problem does not contain it', () => {
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

  it('keeps its plan and limit after it expires, and reports a problem', () => {
    const expired = read(signLicenceKey({ plan: 'team', accountLimit: 2, expiresAt: '2026-05-01' }, issuer.privateKey))
    expect([expired.plan, expired.accountLimit, expired.problem()]).toEqual([
      'team',
      2,
      'The licence expired on 2026-05-01. Renew it and set the new SERVICE_LICENSE_KEY.',
    ])
  })
})

describeEachDatabase('the account limit of a licence', (open) => {
  it('holds for parallel links, and lets existing accounts be linked again', async () => {
    const key = signLicenceKey({ plan: 'team', accountLimit: 3 }, issuer.privateKey)
    const service = testAccounts(await open(), { licence: read(key) })
    const linked = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => service.link(imapUser(`user-${i}`))))
    const refused = linked.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused).toHaveLength(5)
    for (const error of refused) expect(error instanceof AppError && error.code).toBe('licence_limit')
    const [existing] = (await service.accounts.list({})).items
    const name = existing?.email.split('@')[0] ?? ''
    expect((await service.link(imapUser(name))).id).toBe(existing?.id)
  })

  it('counts parallel links of one identity once', async () => {
    const key = signLicenceKey({ plan: 'solo', accountLimit: 1 }, issuer.privateKey)
    const service = testAccounts(await open(), { licence: read(key) })
    const linked = await Promise.all(Array.from({ length: 6 }, () => service.link()))
    expect(new Set(linked.map((account) => account.id)).size).toBe(1)
  })

  it('counts mailboxes of a connection, and lets those that are linked be found by their user later', async () => {
    const key = signLicenceKey({ plan: 'team', accountLimit: 2 }, issuer.privateKey)
    const db = await open()
    await db.transaction((tx) => tx.insertInto('connections').values(ACME).execute())
    const service = testAccounts(db, { licence: read(key) })
    const link = (providerUser: string, formerUser?: string) =>
      service.link({
        provider: 'microsoft',
        connectionId: ACME.id,
        providerUser,
        settings: {},
        secrets: {},
        ...(formerUser !== undefined && { formerUser }),
      })
    const linked = await Promise.allSettled(['one', 'two', 'three', 'four'].map((user) => link(user)))
    const refused = linked.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused.map((error) => error instanceof AppError && error.code)).toEqual(['licence_limit', 'licence_limit'])
    const [existing] = linked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const former = ['one', 'two', 'three', 'four'][linked.findIndex(({ status }) => status === 'fulfilled')]
    expect((await link('user id', former)).id).toBe(existing?.id)
    expect((await service.accounts.list({})).items).toHaveLength(2)
  })
})
