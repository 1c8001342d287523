import names from 'color-name'

const HEX = /^#(?:([0-9a-f]{3})[0-9a-f]?|([0-9a-f]{6})(?:[0-9a-f]{2})?)$/
const NAMES: ReadonlyMap<string, readonly number[]> = new Map(Object.entries(names))

/**
 * `#rrggbb` for the text of a colour, for providers with colours: hexadecimal with 3, 4, 6 or 8 digits, whose opacity is dropped, or
 * a name of CSS. Undefined for any other text.
 */
export function hexColor(text: string): string | undefined {
  const color = text.trim().toLowerCase()
  const [, short, long] = HEX.exec(color) ?? []
  if (short !== undefined) return `#${short.replace(/./g, '$&$&')}`
  if (long !== undefined) return `#${long}`
  return NAMES.get(color)?.reduce((hex, channel) => hex + channel.toString(16).padStart(2, '0'), '#')
}
