import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { ProviderError, type TenantProvider, type TenantProviderName } from '../../providers/contract/index.ts'
import { sealSecrets } from './secrets.ts'
import { connectionStore } from './store.ts'
import { connectionTokenStore, purgeTokens } from './token-store.ts'
import { type ConnectionTokensDeps, connectionTokens } from './tokens.ts'

const ID = 'con_1'
const ASKED = { connectionId: ID, provider: 'microsoft', purpose: { mailbox: 'ada@acme.example' } } as const
const HOUR_MS = 3_600_000

describeEachDatabase('the tokens of a connection', (open) => {
  const sealing = sealer(parseKeyRing(generateKeyRing()))

  /** A connection, and the token endpoint of its provider. */
  async function stored(provider: TenantProviderName = 'microsoft') {
    const db = await open()
    const endpoint = {
      requests: [] as string[],
      respond: async (_name: string): Promise<void> => {},
      lifeMs: HOUR_MS,
    }
    const tenant = <Provider extends TenantProviderName>(hasTokenPerMailbox: boolean): TenantProvider<Provider> => ({
      hasTokenPerMailbox,
      mailboxSettings: () => ({}),
      identifiedBy: (settings) => settings,
      verify: () => Promise.reject(new Error('not part of this test')),
      listUsers: () => Promise.reject(new Error('not part of this test')),
      findUser: () => Promise.reject(new Error('not part of this test')),
      async requestToken({ secrets }, purpose) {
        const name =
          'clientSecret' in secrets ? secrets.clientSecret : purpose === 'directory' ? purpose : purpose.mailbox
        endpoint.requests.push(name ?? '')
        await endpoint.respond(name ?? '')
        return { accessToken: `token-${endpoint.requests.length}`, expiresAt: Date.now() + endpoint.lifeMs }
      },
    })
    const tenants: ConnectionTokensDeps['tenants'] = { gmail: tenant(true), microsoft: tenant(false) }
    await db.transaction((tx) =>
      connectionStore(tx, db.dialect).insert({
        id: ID,
        provider,
        kind: 'tenant',
        name: 'Acme',
        settings: JSON.stringify({ tenantId: 't', clientId: 'c', thumbprint: null }),
        secrets: sealSecrets(sealing, ID, provider === 'gmail' ? { privateKey: 'k' } : { clientSecret: 'first' }),
        status: 'connected',
        statusReason: null,
        createdAt: 1,
        updatedAt: 1,
      }),
    )
    const retried: string[] = []
    /** One process among several on the same database. */
    const replica = (timing: ConnectionTokensDeps['timing'] = {}) =>
      connectionTokens({
        db,
        clock: systemClock,
        sealer: sealing,
        log: silentLog,
        tenants,
        retryAccounts: async (id) => void retried.push(id),
        timing,
      })
    return { db, endpoint, replica, retried }
  }

  const replaceSecret = (db: Db, secret: string) =>
    db.transaction(async (tx) => {
      await connectionTokenStore(tx, db.dialect).forget(ID)
      const secrets = sealSecrets(sealing, ID, { clientSecret: secret })
      await connectionStore(tx, db.dialect).change(ID, { secrets, status: 'connected', statusReason: null }, 2)
    })

  const connection = (db: Db) => connectionStore(db.read, db.dialect).get(ID)

  it('requests one for all accounts of all replicas, and another when it is refused', async () => {
    const { db, endpoint, replica } = await stored()
    const replicas = [replica(), replica(), replica()]
    const ask = (refused?: string) =>
      Promise.all(replicas.flatMap((each) => Array.from({ length: 100 }, () => each.accessToken(ASKED, refused))))
    expect(new Set(await ask())).toEqual(new Set(['token-1']))
    expect(new Set(await ask('token-1'))).toEqual(new Set(['token-2']))
    expect(new Set(await ask('token-1'))).toEqual(new Set(['token-2']))
    expect(endpoint.requests).toHaveLength(2)
    const [row] = await db.read.selectFrom('connectionTokens').selectAll().execute()
    expect(row).toMatchObject({ id: ID, lease: null, leaseUntil: null, token: expect.not.stringContaining('token-2') })
    await expect(replicas[0]?.accessToken({ ...ASKED, connectionId: 'con_deleted' })).rejects.toMatchObject({
      kind: 'auth_expired',
    })
  })

  it('waits for another process, and takes over from one that died', async () => {
    const { db, endpoint, replica } = await stored()
    const tokens = replica({ waitMs: 50, pollMs: 5 })
    const lease = (ms: number) =>
      db.transaction((tx) =>
        connectionTokenStore(tx, db.dialect).takeLease({ id: ID, connectionId: ID }, 'the dead', ms),
      )
    await lease(60_000)
    await expect(tokens.accessToken(ASKED)).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    expect(endpoint.requests).toEqual([])
    await db.transaction((tx) => connectionTokenStore(tx, db.dialect).endLease(ID, 'the dead'))
    await lease(0)
    await eventually(async () => expect(await tokens.accessToken(ASKED)).toBe('token-1'))
  })

  it('uses a token until it expires while the provider fails, and asks once per pause', async () => {
    const { endpoint, replica } = await stored()
    const tokens = replica()
    endpoint.lifeMs = 130_000
    const old = await tokens.accessToken(ASKED)
    endpoint.respond = () => Promise.reject(new ProviderError('unavailable', 'down', { retryAfterMs: 30_000 }))
    await expect(tokens.accessToken(ASKED, old)).rejects.toMatchObject({ kind: 'unavailable', message: 'down' })
    await expect(tokens.accessToken(ASKED, old)).rejects.toMatchObject({ kind: 'unavailable', message: 'down' })
    expect(await tokens.accessToken(ASKED)).toBe(old)
    expect(endpoint.requests).toHaveLength(2)
    endpoint.respond = async () => {}
    tokens.endPause(ASKED)
    expect(await tokens.accessToken(ASKED, old)).toBe('token-3')
  })

  it('reports refused credentials once, and retries the accounts when they work again', async () => {
    const { db, endpoint, replica, retried } = await stored()
    const tokens = replica()
    endpoint.respond = () => Promise.reject(new ProviderError('auth_expired', 'the secret has expired'))
    for (let count = 0; count < 3; count += 1) {
      await expect(tokens.accessToken(ASKED)).rejects.toMatchObject({ kind: 'auth_expired' })
    }
    expect(endpoint.requests).toEqual(['first'])
    expect(await connection(db)).toMatchObject({ status: 'auth_error', statusReason: 'the secret has expired' })
    endpoint.respond = async () => {}
    expect(await replica().accessToken(ASKED)).toBe('token-2')
    expect([retried, await connection(db)]).toMatchObject([[ID], { status: 'connected', statusReason: null }])
  })

  it('uses a new secret at once, also when the old one is refused meanwhile', async () => {
    const { db, endpoint, replica } = await stored()
    endpoint.respond = async () => {
      endpoint.respond = async () => {}
      await replaceSecret(db, 'second')
      throw new ProviderError('auth_expired', 'the old secret was deleted')
    }
    expect(await replica().accessToken(ASKED)).toBe('token-2')
    endpoint.respond = async () => {
      endpoint.respond = async () => {}
      await replaceSecret(db, 'third')
    }
    expect(await replica().accessToken(ASKED, 'token-2')).toBe('token-4')
    expect(endpoint.requests).toEqual(['first', 'second', 'second', 'third'])
    expect(await connection(db)).toMatchObject({ status: 'connected', version: 3 })
  })

  it('requests one for each mailbox at Google, and pauses all when the service account is refused', async () => {
    const { db, endpoint, replica } = await stored('gmail')
    const tokens = replica()
    const at = (mailbox: string) => ({ connectionId: ID, provider: 'gmail', purpose: { mailbox } }) as const
    const [ada, bob] = [at('ada@acme.example'), at('bob@acme.example')]
    expect(await tokens.accessToken(ada)).toBe('token-1')
    expect(await tokens.accessToken(bob)).toBe('token-2')
    expect(await replica().accessToken(at('ADA@acme.example'))).toBe('token-1')
    expect(await tokens.accessToken({ ...ada, purpose: 'directory' })).toBe('token-3')
    endpoint.respond = () => Promise.reject(new ProviderError('auth_expired', 'no user', { credential: 'email' }))
    await expect(tokens.accessToken(ada, 'token-1')).rejects.toMatchObject({ message: 'no user' })
    endpoint.respond = () => Promise.reject(new ProviderError('auth_expired', 'not delegated'))
    expect(await connection(db)).toMatchObject({ status: 'connected' })
    await expect(tokens.accessToken(bob, 'token-2')).rejects.toMatchObject({ message: 'not delegated' })
    expect(await connection(db)).toMatchObject({ status: 'auth_error', statusReason: 'not delegated' })
    await expect(tokens.accessToken(at('eve@acme.example'))).rejects.toMatchObject({ message: 'not delegated' })
    expect(endpoint.requests).toEqual([
      'ada@acme.example',
      'bob@acme.example',
      'directory',
      'ada@acme.example',
      'bob@acme.example',
    ])
  })

  it('blames a refusal that names no credential on the mailbox that is being tried, one of the key on the connection', async () => {
    const { db, endpoint, replica } = await stored('gmail')
    const trial = (mailbox: string) =>
      replica().accessToken({ connectionId: ID, provider: 'gmail', purpose: { mailbox }, isTrial: true })
    endpoint.respond = () => Promise.reject(new ProviderError('auth_expired', 'not delegated'))
    await expect(trial('ada@other.example')).rejects.toMatchObject({ message: 'not delegated' })
    expect(await connection(db)).toMatchObject({ status: 'connected' })
    endpoint.respond = () =>
      Promise.reject(new ProviderError('auth_expired', 'no such key', { credential: 'serviceAccountKey' }))
    await expect(trial('bob@acme.example')).rejects.toMatchObject({ message: 'no such key' })
    expect(await connection(db)).toMatchObject({ status: 'auth_error', statusReason: 'no such key' })
  })

  it('deletes tokens that have expired', async () => {
    const { db, endpoint, replica } = await stored()
    endpoint.lifeMs = HOUR_MS
    await replica().accessToken(ASKED)
    const purge = (beforeMs: number) => db.transaction((tx) => purgeTokens(tx, beforeMs, 10))
    expect([await purge(Date.now()), await purge(Date.now() + 2 * HOUR_MS)]).toEqual([0, 1])
  })
})
