import { accentColour, palette, SURFACES } from '../hosted/brand.ts'
import { asRecord, textIn } from './api.ts'

/** Members of `ui.theme`. Each sets the CSS variable `--posthorn-<name>`, which pages can also set on the element. */
const COLOURS = ['background', 'text', 'muted', 'border']
const OTHERS = ['radius', 'font', 'shadow']

/**
 * Sets the variables of `ui.theme` in this style sheet, with weaker rules than those of the page. The accent colour is adjusted
 * to both colour schemes, so that text and focus rings stay readable; `dark` holds colours for the dark scheme.
 */
export function applyTheme(sheet: CSSStyleSheet, host: HTMLElement, value: unknown): void {
  const theme = asRecord(value)
  const inDark = asRecord(theme.dark)
  const accent = accentColour(
    getComputedStyle(host).getPropertyValue('--posthorn-accent').trim() || textIn(theme, 'accent'),
  )
  const [light, dark] = [palette(accent, SURFACES.light), palette(accent, SURFACES.dark)]
  sheet.replaceSync(':host{}')
  const { style } = sheet.cssRules[0] as CSSStyleRule
  for (const key of Object.keys(light) as (keyof typeof light)[]) {
    style.setProperty(`--${key}`, `light-dark(${light[key]}, ${dark[key]})`)
  }
  for (const name of [...COLOURS, ...OTHERS]) {
    const value = textIn(theme, name)
    const other = COLOURS.includes(name) ? textIn(inDark, name) : undefined
    if (value !== undefined) {
      style.setProperty(`--posthorn-${name}`, other === undefined ? value : `light-dark(${value}, ${other})`)
    }
  }
}
