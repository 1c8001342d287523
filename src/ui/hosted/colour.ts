/** An opaque sRGB colour, 0–255 per channel. */
export type Colour = readonly [red: number, green: number, blue: number]

/** Reads `#rgb` or `#rrggbb`; undefined for anything else, so nothing but hex digits ever reaches a style sheet. */
export function parseColour(text: string): Colour | undefined {
  const match = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())
  const digits = match?.[1]
  if (digits === undefined) return undefined
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits
  return [channel(long, 0), channel(long, 2), channel(long, 4)]
}

export function hex(colour: Colour): string {
  return `#${colour.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`
}

/** WCAG 2 contrast ratio, 1 to 21. */
export function contrast(left: Colour, right: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(left), luminance(right)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Black or white, whichever is read more easily on this colour; one of the two always reaches 4.5. */
export function textOn(background: Colour): Colour {
  return contrast(WHITE, background) >= 4.5 ? WHITE : BLACK
}

/** The colour as the ground of white text where that is close, deepened as far as it needs; else as it is, for black text. */
export function groundOf(colour: Colour): Colour {
  return contrast(WHITE, colour) >= 2.7 ? readableOn(colour, WHITE, 4.5) : colour
}

/** The colour, moved towards black or white only as far as it needs to reach `ratio` on this background. */
export function readableOn(colour: Colour, background: Colour, ratio: number): Colour {
  const target = luminance(background) > 0.18 ? BLACK : WHITE
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = mix(colour, target, share)
    if (contrast(mixed, background) >= ratio) return mixed
  }
  return target
}

/** `share` of the way from one colour to another, rounded to what a style sheet can say. */
export function mix(from: Colour, to: Colour, share: number): Colour {
  const blend = (start: number, end: number) => Math.round(start + (end - start) * share)
  return [blend(from[0], to[0]), blend(from[1], to[1]), blend(from[2], to[2])]
}

const WHITE: Colour = [255, 255, 255]
const BLACK: Colour = [0, 0, 0]

function channel(digits: string, start: number): number {
  return Number.parseInt(digits.slice(start, start + 2), 16)
}

function luminance([red, green, blue]: Colour): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function linear(value: number): number {
  const share = value / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}
