import { describe, expect, it } from 'vitest'
import { failureUrl, redirectTarget, successUrl } from './urls.ts'

const account = { id: 'acc_1', provider: 'imap', email: 'ada+x@example.com' } as const
const urlFor = (redirectUri: string, state?: string) => successUrl(redirectUri, 'code', account, state)

describe('the redirect target', () => {
  it('is that of the session, else of the service, else an error', () => {
    expect(redirectTarget('https://a.example/x', 'https://b.example/')).toBe('https://a.example/x')
    expect(redirectTarget(undefined, 'https://b.example/')).toBe('https://b.example/')
    expect(() => redirectTarget(undefined, undefined)).toThrow(expect.objectContaining({ code: 'redirect_missing' }))
  })

  it('accepts custom app schemes', () => {
    for (const uri of [
      'myapp://auth',
      'com.example.app:/done?x=1',
      'http://localhost:3000/cb',
      'exp://1.2.3.4:80/--/x',
    ]) {
      expect(redirectTarget(uri, undefined)).toBe(new URL(uri).href)
    }
  })

  it('rejects every spelling of a scheme that runs code or reads local data', () => {
    for (const uri of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' javascript:alert(1)',
      'java\nscript:alert(1)',
      'java\tscript:alert(1)',
      '\u0001javascript:alert(1)',
      'data:text/html,x',
      'DATA:text/html,x',
      'file:///etc/passwd',
      'vbscript:x',
      'blob:https://a.example/1',
      '//evil.example',
      '/relative',
      'https://',
      '',
      `https://a.example/${'x'.repeat(2048)}`,
    ]) {
      expect(() => redirectTarget(uri, undefined), uri).toThrow(expect.objectContaining({ code: 'validation_failed' }))
    }
  })
})

describe('the URL after a failure', () => {
  it('contains the reason, the session and the state of the application', () => {
    expect(failureUrl('myapp://done?own=1', 'code', 'consent_failed', 'mine')).toBe(
      'myapp://done?own=1&status=error&error=consent_failed&session=code&state=mine',
    )
    expect(failureUrl('https://a.example/?error=old', 'code', 'consent_denied', undefined)).toBe(
      'https://a.example/?status=cancelled&error=consent_denied&session=code',
    )
  })
})

describe('the URL after success', () => {
  it('contains the result', () => {
    expect(urlFor('https://a.example/cb')).toBe(
      'https://a.example/cb?status=success&accountId=acc_1&provider=imap&email=ada%2Bx%40example.com&session=code',
    )
    expect(new URL(urlFor('https://a.example/cb', 'a&b=c')).searchParams.get('state')).toBe('a&b=c')
  })

  it('keeps the query and the fragment of the target unchanged', () => {
    const url = urlFor('https://a.example/cb?flag&a=1&a=2&b=%20x+y#part')
    expect(url).toMatch(/^https:\/\/a\.example\/cb\?flag&a=1&a=2&b=%20x\+y&status=success&.*#part$/)
  })

  it('replaces parameters of the target that have our names', () => {
    const query = new URL(urlFor('https://a.example/cb?status=x&%73tatus=y&accountId=z&keep=1')).searchParams
    expect([query.getAll('status'), query.getAll('accountId'), query.get('keep')]).toEqual([
      ['success'],
      ['acc_1'],
      '1',
    ])
  })

  it('supports custom app schemes', () => {
    expect(urlFor('myapp://auth/done?x=1')).toMatch(/^myapp:\/\/auth\/done\?x=1&status=success&/)
    expect(urlFor('com.example.app:/done')).toMatch(/^com\.example\.app:\/done\?status=success&/)
  })
})
