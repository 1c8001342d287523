import { describe, expect, it } from 'vitest'
import { headerFields } from '../index.ts'

const readSubject = (value: string) => headerFields([{ name: 'Subject', value }]).subject

describe('a subject', () => {
  it('has up to 5,000 characters, a pair of surrogates counting as one', () => {
    expect(readSubject('x'.repeat(5000))).toBe('x'.repeat(5000))
    expect(readSubject('x'.repeat(5001))).toBe('x'.repeat(5000))
    expect(readSubject('😀'.repeat(5001))).toBe('😀'.repeat(5000))
  })

  it.each([
    ['B', (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`],
    ['Q', (text: string) => `=?utf-8?Q?${[...Buffer.from(text)].map((byte) => `=${byte.toString(16)}`).join('')}?=`],
  ])('keeps 5,000 characters of encoded words (%s)', (_encoding, encode) => {
    const words = Array.from({ length: 1000 }, () => encode('😀😀😀😀😀'))
    expect(readSubject(words.join(' '))).toBe('😀'.repeat(5000))
  })
})
