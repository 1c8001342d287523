import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { brand, type Palette, SURFACES } from './brand.ts'
import { type Colour, contrast, hueOf, looksLikeError, parseColour } from './colour.ts'
import type { PageContext } from './layout.ts'
import { emailPage } from './start-page.ts'
import { styleSheet } from './style.ts'
import { translate } from './texts/index.ts'

const colour = (text: string): Colour => parseColour(text) ?? [0, 0, 0]
const context: PageContext = { brand: brand({}), nonce: 'n', t: translate('en') }
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

  it.each(['#e11', '#d32f2f', '#dc143c', '#b42318', '#ff4500', '#ff6347', '#800000', '#f88', '#ff9a90'])(
    'never make the red brand %s look like an error, except on buttons',
    (color) => {
      const { light, dark } = brand({ color })
      for (const palette of [light, dark]) {
        for (const shown of [palette.accentText, palette.ring, palette.tint]) {
          expect([shown, looksLikeError(colour(shown))]).toEqual([shown, false])
        }
        expect(hueOf(colour(palette.accent))).toBeCloseTo(hueOf(colour(color)), -1)
      }
    },
  )

  it.each(['#ff6600', '#e91e63', '#2454c7', '#bc8f8f', '#000', '#0a7'])('leave %s as it is', (color) => {
    const { light } = brand({ color })
    expect(looksLikeError(colour(color))).toBe(false)
    expect(hueOf(colour(light.accentText))).toBeCloseTo(hueOf(colour(color)), -1)
  })

  it('mark an error by an icon and a border, too', () => {
    const errors = { fields: { email: 'Enter your email address.' } }
    const page = emailPage(context, { action: '/', session: '1', state: '2', email: '', choices: [], errors })
    expect(page).toMatch(/<p class="error" id="email-error" role="alert"><svg .*?<\/svg><span>Enter your/)
    const sheet = styleSheet(brand({ color: '#e11' }))
    expect(sheet).toMatch(/\[aria-invalid=true\][^{]*\{border-color:var\(--danger\);box-shadow/)
    const [light = '', dark = ''] = sheet.split('@media (prefers-color-scheme:dark)')
    for (const scheme of [light, dark]) {
      const danger = /--danger:(#[0-9a-f]+)/.exec(scheme)?.[1] ?? ''
      expect([danger, looksLikeError(colour(danger))]).toEqual([danger, true])
    }
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
