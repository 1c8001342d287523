import { describe, expect, it } from 'vitest'
import { indexedWords, plainWords, queryWords } from './tokeniser.ts'

const indexed = (text: string) => [...indexedWords(text)]
const asked = (query: string) => queryWords(query).map(({ word, isPrefix }) => word + (isPrefix ? '*' : ''))

describe('the words of a text', () => {
  it.each([
    ['Hello, World!', ['hello', 'world']],
    ['Ça va? Łódź, İstanbul, ΣΊΣΥΦΟΣ', ['ca', 'va', 'lodz', 'istanbul', 'σισυφοσ']],
    ['Straße STRASSE', ['strasse']],
    ['ﬁne ＡＢＣ ½', ['fine', 'abc', '1', '2']],
    ["L'amour, O’Brien", ['l', 'amour', 'lamour', 'o', 'brien', 'obrien']],
    ['東京都で', ['東京都', '京都で', '都で', 'で']],
    ['ｶﾞｰﾄﾞ が', ['ガード', 'ード', 'ド', 'が']],
    ['한국에서', ['한국에', '국에서', '에서', '서']],
    ['第3回', ['第', '3', '回']],
    ['ที่นี่', ['ที่', 'ี่น', '่นี', 'นี่', 'ี่', '่']],
    ['شَكَرَ ٢٠٢٦', ['شكر', '2026']],
    ['שָׁלוֹם', ['שלום']],
    ['👍🏽 🇩🇪 👩‍💻', ['👍', '🇩', '🇪', '👩', '💻']],
    ['ko\u00adope\u200dration', ['kooperation']],
    ['Ada <ada.l+x@Example.com>.', ['ada.l+x@example.com', 'ada', 'l', 'x', 'example', 'com']],
    ['--- "" && | !', []],
  ])('%j', (text, words) => {
    expect(indexed(text)).toEqual(words)
  })

  it('cuts long words, and finds no address in a long row of signs', () => {
    expect(indexed('x'.repeat(4096))).toEqual(['x'.repeat(100)])
    expect(indexed(`${'@'.repeat(2000)}${'a@'.repeat(1000)}`)).toEqual(['a@a', 'a'])
    expect(indexed('𠀀'.repeat(4)).map((word) => [...word].length)).toEqual([3, 2, 1])
  })
})

describe('the words of a query', () => {
  it.each([
    ['hello wor', ['hello', 'wor*']],
    ['"a" AND b* OR NOT(c:d) & !e', ['a', 'and', 'b', 'or', 'not', 'c', 'd', 'e*']],
    ["O'Brien", ['o', 'brien*']],
    ['会議', ['会議*']],
    ['東京都', ['東京都']],
    ['東京都庁', ['東京都', '京都庁']],
    ['会 x', ['会*', 'x*']],
    ['会', ['会*']],
    ['ada@example.com bob', ['ada@example.com', 'bob*']],
    ['from ada@exam', ['from', 'ada@exam*']],
    ['@example.com', ['example', 'com*']],
    ['ada@', ['ada*']],
    ['  ', []],
    ['%_\\', []],
  ])('%j', (query, words) => {
    expect(asked(query)).toEqual(words)
  })

  it('are words of every text that contains the query', () => {
    for (const text of ["L'été à Łódź", '東京都で会議', 'ada@example.com', 'x'.repeat(300), '第3回 👍🏽', 'ที่นี่']) {
      const words = indexed(`before ${text} after`)
      for (const { word, isPrefix } of queryWords(text)) {
        expect([word, words.some((candidate) => (isPrefix ? candidate.startsWith(word) : candidate === word))]).toEqual(
          [word, true],
        )
      }
    }
  })
})

it.each([
  ['Größe OR -in:spam', ['größe', 'or', 'in', 'spam']],
  ['from:"Ada" <ada.l+x@Example.com>', ['from', 'ada', 'ada.l+x@example.com']],
  ['O\'Brien 東京都で会議 (x* AND {y}) 👍 \\"', ['o', 'brien', '東京都で会議', 'x', 'and', 'y']],
  [' ! ', []],
])('gives providers the plain words of %j', (query, words) => {
  expect(plainWords(query)).toEqual(words)
})
