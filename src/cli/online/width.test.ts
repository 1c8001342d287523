import { describe, expect, it } from 'vitest'
import { displayWidth, fitted } from './width.ts'

describe('the width of a text on a terminal', () => {
  it.each([
    ['plain', 5],
    ['Grüße', 5],
    ['Gru\u0308ße', 5],
    ['請求書', 6],
    ['한국어', 6],
    ['ｆｕｌｌ', 8],
    ['👍', 2],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['1', 1],
    ['', 0],
  ])('of %j is %i', (text, width) => {
    expect(displayWidth(text)).toBe(width)
  })

  it('is what a cell is cut and filled up to', () => {
    expect(fitted('plain', 7)).toBe('plain  ')
    expect(fitted('plain text', 6)).toBe('plain\u2026')
    expect(fitted('請求書', 5)).toBe('請求\u2026')
    expect(fitted('請求書', 4)).toBe('請\u2026 ')
    expect(fitted('👩‍👩‍👧👍', 3)).toBe('👩‍👩‍👧\u2026')
  })
})
