import { describe, expect, it } from 'vitest'
import { redirectTarget, successUrl } from './redirect.ts'

const result = { accountId: 'acc_1', provider: 'imap', email: 'ada+x@example.com', session: 'code', state: undefined }

describe('the redirect target', () => {
  it('is the session’s own, else the service’s, else a mistake of the caller', () => {
    expect(redirectTarget('https://a.example/x', 'https://b.example/')).toBe('https://a.example/x')
    expect(redirectTarget(undefined, 'https://b.example/')).toBe('https://b.example/')
    expect(() => redirectTarget(undefined, undefined)).toThrow(expect.objectContaining({ code: 'redirect_missing' }))
  })

  it('may have any scheme, such as an application’s own', () => {
    for (const uri of [
      'myapp://auth',
      'com.example.app:/done?x=1',
      'http://localhost:3000/cb',
      'exp://1.2.3.4:80/--/x',
    ]) {
      expect(redirectTarget(uri, undefined)).toBe(new URL(uri).href)
    }
  })

  it('is refused when it would run or read something, however it is written', () => {
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

describe('the address after success', () => {
  it('carries the outcome', () => {
    expect(successUrl('https://a.example/cb', result)).toBe(
      'https://a.example/cb?status=success&accountId=acc_1&provider=imap&email=ada%2Bx%40example.com&session=code',
    )
    expect(new URL(successUrl('https://a.example/cb', { ...result, state: 'a&b=c' })).searchParams.get('state')).toBe(
      'a&b=c',
    )
  })

  it('keeps the target’s own query to the letter, and its fragment', () => {
    const url = successUrl('https://a.example/cb?flag&a=1&a=2&b=%20x+y#part', result)
    expect(url).toMatch(/^https:\/\/a\.example\/cb\?flag&a=1&a=2&b=%20x\+y&status=success&.*#part$/)
  })

  it('never lets the target’s query speak for ours', () => {
    const query = new URL(successUrl('https://a.example/cb?status=x&%73tatus=y&accountId=z&keep=1', result))
      .searchParams
    expect([query.getAll('status'), query.getAll('accountId'), query.get('keep')]).toEqual([
      ['success'],
      ['acc_1'],
      '1',
    ])
  })

  it('works with schemes of applications', () => {
    expect(successUrl('myapp://auth/done?x=1', result)).toMatch(/^myapp:\/\/auth\/done\?x=1&status=success&/)
    expect(successUrl('com.example.app:/done', result)).toMatch(/^com\.example\.app:\/done\?status=success&/)
  })
})
