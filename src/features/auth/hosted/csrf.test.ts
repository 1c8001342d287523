import { describe, expect, it } from 'vitest'
import { generateKeyRing, parseKeyRing, sealer } from '../../../lib/seal.ts'
import { pageState } from './csrf.ts'

const ring = parseKeyRing(generateKeyRing())
const at = (publicUrl: string, keys = ring) => pageState({ sealer: sealer(keys), publicUrl })
const states = at('http://localhost:8080')
const pair = (cookie: string | undefined) => cookie?.split(';')[0] ?? ''
const cookie = (code: string, state: string) => pair(states.cookies(code, state, 60_000, undefined)[0])

describe('the state of a page', () => {
  it('is told apart from one that the application chose', () => {
    const state = states.mint('code')
    expect(states.isMinted('code', state)).toBe(true)
    expect(states.isMinted('other', state)).toBe(false)
    for (const chosen of ['', 'abc', 'a.b', `${state}x`]) expect(states.isMinted('code', chosen)).toBe(false)
    expect(states.mint('code')).not.toBe(state)
  })

  it('is proved by the cookie of the same code and state only', () => {
    const sent = cookie('code', 'state')
    expect(states.isOpenedBy('code', 'state', `a=b; ${sent}; c=d`)).toBe(true)
    expect(states.isOpenedBy('code', 'other', sent)).toBe(false)
    expect(states.isOpenedBy('other', 'state', sent)).toBe(false)
    expect(states.isOpenedBy('code', 'state', `${sent}x`)).toBe(false)
    expect(states.isOpenedBy('code', 'state', undefined)).toBe(false)
    expect(at('http://localhost:8080', parseKeyRing(generateKeyRing())).isOpenedBy('code', 'state', sent)).toBe(false)
  })

  it('cannot be moved between code and state', () => {
    expect(cookie('ab', 'c')).not.toBe(cookie('a', 'bc'))
  })

  it('has a cookie of its own per tab, named after both, that ends in eight characters of their hash', () => {
    const names = ['one', 'two'].map((state) => cookie('code', state).split('=')[0])
    for (const name of names) expect(name).toMatch(/_[0-9a-f]{8}$/)
    expect(names[0]).not.toBe(names[1])
    expect(states.isOpenedBy('code', 'one', `${cookie('code', 'one')}; ${cookie('code', 'two')}`)).toBe(true)
  })

  it('keeps its cookie from scripts, other sites and plain connections, under the path of the public address', () => {
    const [plain = ''] = at('http://localhost:8080').cookies('c', 's', 60_000, undefined)
    expect(plain).toMatch(/; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/)
    const [secure = ''] = at('https://x.example/mail/posthorn').cookies('c', 's', 1, undefined)
    expect(secure).toMatch(/; Max-Age=1; Path=\/mail\/posthorn; HttpOnly; SameSite=Lax; Secure$/)
  })

  it('ends the oldest cookies when a browser holds very many', () => {
    const sent = Array.from({ length: 15 }, (_, index) => cookie('code', `s${index}`)).join('; ')
    const set = states.cookies('code', 'new', 60_000, `session=keep; ${sent}`)
    expect(set).toHaveLength(4)
    for (const ended of set.slice(1)) expect(ended).toMatch(/^posthorn_auth_[0-9a-f]{8}=; Max-Age=0; Path=\//)
  })
})
