import { describe, expect, it } from 'vitest'
import { ScramClient, strongestScram } from './scram.ts'

/** RFC 5802, section 5. */
const SHA_1 = {
  login: { mechanism: 'SCRAM-SHA-1', username: 'user', password: 'pencil', nonce: 'fyko+d2lbbFgONRv9qkxdawL' },
  first: 'n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL',
  serverFirst: 'r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096',
  final: 'c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=',
  serverFinal: 'v=rmF9pqV8S7suAoZWja4dJRkFsKQ=',
} as const

/** RFC 7677, section 3. */
const SHA_256 = {
  login: { mechanism: 'SCRAM-SHA-256', username: 'user', password: 'pencil', nonce: 'rOprNGfwEbeRWgbNEkqO' },
  first: 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
  serverFirst: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  final: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  serverFinal: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
} as const

describe('SCRAM', () => {
  it.each([SHA_1, SHA_256])('computes the exchange of the RFC for $login.mechanism', async (vector) => {
    const client = new ScramClient(vector.login)
    expect(client.first()).toBe(vector.first)
    expect(await client.final(vector.serverFirst)).toBe(vector.final)
    client.verify(vector.serverFinal)
    client.ensureVerified()
  })

  it.each([
    ['another nonce', SHA_256.serverFirst.replace('rOpr', 'xOpr')],
    ['only the nonce of the client', 'r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096'],
    ['few iterations', SHA_256.serverFirst.replace('4096', '1000')],
    ['iterations without end', SHA_256.serverFirst.replace('4096', '900000000')],
    ['an extension that must be understood', `m=x,${SHA_256.serverFirst}`],
    ['nothing', ''],
  ])('refuses a challenge with %s', async (_what, challenge) => {
    await expect(new ScramClient(SHA_256.login).final(challenge)).rejects.toMatchObject({ name: 'ScramError' })
  })

  it.each(['v=AAAA', `v=${'A'.repeat(44)}`, 'e=invalid-proof', ''])(
    'refuses a server that ends with "%s"',
    async (last) => {
      const client = new ScramClient(SHA_256.login)
      await client.final(SHA_256.serverFirst)
      expect(() => client.verify(last)).toThrow('did not prove')
      expect(() => client.ensureVerified()).toThrow('did not prove')
    },
  )

  it('escapes the username and prepares both as RFC 4013 says', () => {
    const { mechanism, nonce } = SHA_256.login
    const first = (username: string) => new ScramClient({ mechanism, username, password: '', nonce }).first()
    expect(first('a=b,c')).toBe(`n,,n=a=3Db=2Cc,r=${nonce}`)
    expect(first('I\u00adX')).toBe(`n,,n=IX,r=${nonce}`)
    expect(first('\u00aa')).toBe(`n,,n=a,r=${nonce}`)
    expect(first('\u2168')).toBe(`n,,n=IX,r=${nonce}`)
    expect(first('a\u00a0b')).toBe(`n,,n=a b,r=${nonce}`)
  })

  it('chooses the strongest mechanism', () => {
    expect(strongestScram(new Set(['PLAIN', 'SCRAM-SHA-1', 'SCRAM-SHA-256']))).toBe('SCRAM-SHA-256')
    expect(strongestScram(new Set(['PLAIN', 'SCRAM-SHA-256-PLUS']))).toBeUndefined()
  })
})
