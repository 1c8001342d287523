import { brand } from '../hosted/brand.ts'
import { membersOf, textIn } from './api.ts'

/** `ui.theme` members and the CSS variables of the widget that they set. Pages can set the same variables on the element. */
const VARIABLES: Readonly<Record<string, string>> = {
  background: '--posthorn-background',
  text: '--posthorn-text',
  muted: '--posthorn-muted',
  border: '--posthorn-border',
  radius: '--posthorn-radius',
  font: '--posthorn-font',
  shadow: '--posthorn-shadow',
}
const ACCENT = '--posthorn-accent'

/**
 * Sets the variables of `ui.theme` in this style sheet, with weaker rules than those of the page. The accent colour is adjusted
 * to both colour schemes, so that text and focus rings stay readable; `dark` holds values for the dark scheme.
 */
export function applyTheme(sheet: CSSStyleSheet, host: HTMLElement, value: unknown): void {
  const theme = membersOf(value)
  const ownAccent = getComputedStyle(host).getPropertyValue(ACCENT).trim()
  const color = ownAccent !== '' ? ownAccent : textIn(theme, 'accent')
  const { light, dark } = brand({ color })
  sheet.replaceSync(':host{}')
  const rule = sheet.cssRules[0]
  if (!(rule instanceof CSSStyleRule)) return
  const names = {
    accent: 'accent',
    hover: 'accentHover',
    'edge-accent': 'accentEdge',
    ring: 'ring',
    tint: 'tint',
  } as const
  for (const [name, key] of Object.entries(names)) {
    rule.style.setProperty(`--${name}`, `light-dark(${light[key]}, ${dark[key]})`)
  }
  rule.style.setProperty('--on-accent', `light-dark(${light.onAccent}, ${dark.onAccent})`)
  rule.style.setProperty('--accent-text', `light-dark(${light.accentText}, ${dark.accentText})`)
  const inDark = membersOf(theme.dark)
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const light = textIn(theme, name)
    if (light === undefined) continue
    rule.style.setProperty(variable, `light-dark(${light}, ${textIn(inDark, name) ?? light})`)
  }
}
