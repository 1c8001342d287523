import { describe, expect, it } from 'vitest'
import { charsetParameter } from './parameters.ts'

describe('the charset of a Content-Type', () => {
  it.each([
    ['text/plain; charset=utf-8', 'utf-8'],
    ['text/plain; charset="Windows-1251"; format=flowed', 'Windows-1251'],
    ['text/plain; charset = koi8-r', 'koi8-r'],
    ['text/plain; (a comment; charset=no) charset=big5', 'big5'],
    ['text/plain; name="a;charset=no"; charset=gbk', 'gbk'],
    ["text/plain; charset*=us-ascii'en'euc-kr", 'euc-kr'],
    ['text/plain; charset*0=iso-2022; charset*1=-jp', 'iso-2022-jp'],
    ['text/plain', undefined],
    ['text/plain; charset', undefined],
    ['', undefined],
  ])('of %j is %s', (field, charset) => {
    expect(charsetParameter(field)).toBe(charset)
  })
})
