import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random.ts'
import { brand, type Palette, SURFACES } from './brand.ts'
import { type Colour, contrast, parseColour } from './colour.ts'
import { styleSheet } from './style.ts'

const colour = (text: string): Colour => parseColour(text) ?? [0, 0, 0]
const between = (left: string, right: string) => contrast(colour(left), colour(right))

describe('page colours', () => {
  it('parse hex digits and nothing else', () => {
    expect(parseColour('#1a6fdb')).toEqual([26, 111, 219])
    expect(parseColour('#fA0')).toEqual([255, 170, 0])
    for (const text of ['red', '1a6fdb', '#12', '#1234567', '#fff;}</style>', 'rgb(0,0,0)'])
      expect(parseColour(text)).toBeUndefined()
  })

  it('follow the WCAG contrast formula', () => {
    expect(between('#000', '#fff')).toBeCloseTo(21)
    expect(between('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
  })

  it('stay readable with any brand colour', () => {
    const anyColour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
    fc.assert(
      fc.property(anyColour, (color) => {
        const { light, dark } = brand({ color })
        for (const [palette, surface] of [
          [light, SURFACES.light],
          [dark, SURFACES.dark],
        ] as [Palette, typeof SURFACES.light][]) {
          expect(between(palette.onAccent, palette.accent)).toBeGreaterThanOrEqual(4.5)
          expect(between(palette.onAccent, palette.accentHover)).toBeGreaterThanOrEqual(4.5)
          expect(between(palette.accentText, surface.card)).toBeGreaterThanOrEqual(4.5)
          expect(between(palette.accentText, surface.page)).toBeGreaterThanOrEqual(4.5)
          expect(between(palette.accentText, palette.tint)).toBeGreaterThanOrEqual(4.5)
          expect(between(palette.ring, surface.page)).toBeGreaterThanOrEqual(3)
          expect(between(palette.ring, surface.card)).toBeGreaterThanOrEqual(3)
          expect(between(palette.accentEdge, surface.card)).toBeGreaterThanOrEqual(3)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('give text, errors and borders enough contrast in both schemes', () => {
    const [light = '', dark = ''] = styleSheet(brand({})).split('@media (prefers-color-scheme:dark)')
    for (const sheet of [light, dark]) {
      const value = (name: string) => new RegExp(`--${name}:(#[0-9a-f]+)`).exec(sheet)?.[1] ?? ''
      for (const text of ['ink', 'soft', 'danger', 'good']) {
        expect(between(value(text), value('card'))).toBeGreaterThanOrEqual(4.5)
      }
      expect(between(value('soft'), value('page'))).toBeGreaterThanOrEqual(4.5)
      expect(between(value('soft'), value('field'))).toBeGreaterThanOrEqual(4.5)
      expect(between(value('danger'), value('danger-tint'))).toBeGreaterThanOrEqual(4.5)
      expect(between(value('ink'), value('danger-tint'))).toBeGreaterThanOrEqual(4.5)
      expect(between(value('ink'), value('tint'))).toBeGreaterThanOrEqual(4.5)
      expect(between(value('edge'), value('card'))).toBeGreaterThanOrEqual(3)
    }
  })
})
