import { describe, expect, it } from 'vitest'
import { generateKeyRing, parseKeyRing, sealer } from '../../../platform/crypto/seal.ts'
import { csrfCookies } from './csrf.ts'

const ring = parseKeyRing(generateKeyRing())
const at = (publicUrl: string, keys = ring) => csrfCookies({ sealer: sealer(keys), publicUrl })
const csrf = at('http://localhost:8080')
const pair = (cookie: string | undefined) => cookie?.split(';')[0] ?? ''
const cookie = (code: string, state: string) => pair(csrf.set(code, state, 60_000, undefined)[0])

describe('CSRF cookies', () => {
  it('recognise a state that the service minted', () => {
    const state = csrf.mint('code')
    expect(csrf.isMinted('code', state)).toBe(true)
    expect(csrf.isMinted('other', state)).toBe(false)
    for (const chosen of ['', 'abc', 'a.b', `${state}x`]) expect(csrf.isMinted('code', chosen)).toBe(false)
    expect(csrf.mint('code')).not.toBe(state)
  })

  it('are valid only for the same code, state and key', () => {
    const sent = cookie('code', 'state')
    expect(csrf.isValid('code', 'state', `a=b; ${sent}; c=d`)).toBe(true)
    expect(csrf.isValid('code', 'other', sent)).toBe(false)
    expect(csrf.isValid('other', 'state', sent)).toBe(false)
    expect(csrf.isValid('code', 'state', `${sent}x`)).toBe(false)
    expect(csrf.isValid('code', 'state', undefined)).toBe(false)
    expect(at('http://localhost:8080', parseKeyRing(generateKeyRing())).isValid('code', 'state', sent)).toBe(false)
  })

  it('separate the code from the state', () => {
    expect(cookie('ab', 'c')).not.toBe(cookie('a', 'bc'))
  })

  it('have one name per tab, which ends in eight characters of the hash', () => {
    const names = ['one', 'two'].map((state) => cookie('code', state).split('=')[0])
    for (const name of names) expect(name).toMatch(/_[0-9a-f]{8}$/)
    expect(names[0]).not.toBe(names[1])
    expect(csrf.isValid('code', 'one', `${cookie('code', 'one')}; ${cookie('code', 'two')}`)).toBe(true)
  })

  it('are HttpOnly, SameSite, Secure on https, and limited to the path of PUBLIC_URL', () => {
    const [plain = ''] = at('http://localhost:8080').set('c', 's', 60_000, undefined)
    expect(plain).toMatch(/; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/)
    const [secure = ''] = at('https://x.example/mail/posthorn').set('c', 's', 1, undefined)
    expect(secure).toMatch(/; Max-Age=1; Path=\/mail\/posthorn; HttpOnly; SameSite=Lax; Secure$/)
  })

  it('expire the oldest when a browser holds too many', () => {
    const sent = Array.from({ length: 15 }, (_, index) => cookie('code', `s${index}`)).join('; ')
    const set = csrf.set('code', 'new', 60_000, `session=keep; ${sent}`)
    expect(set).toHaveLength(4)
    for (const expired of set.slice(1)) expect(expired).toMatch(/^posthorn_auth_[0-9a-f]{8}=; Max-Age=0; Path=\//)
  })
})
