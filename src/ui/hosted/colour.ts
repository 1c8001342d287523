/** An opaque sRGB colour, 0–255 per channel. */
export type Colour = readonly [red: number, green: number, blue: number]

/** Parses `#rgb` or `#rrggbb`. Returns undefined for anything else, so only hex digits ever reach the style sheet. */
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

/** White where it reaches a contrast of 4.5 on this colour, else black. One of the two always does. */
export function textOn(background: Colour): Colour {
  return contrast(WHITE, background) >= 4.5 ? WHITE : BLACK
}

/** A button background. A colour that nearly carries white text is darkened until it does; others stay, for black text. */
export function buttonBackground(colour: Colour): Colour {
  return contrast(WHITE, colour) >= 2.7 ? readableOn(colour, WHITE, 4.5) : colour
}

/** Moves the colour towards black or white, only as far as needed to reach `ratio` on this background. */
export function readableOn(colour: Colour, background: Colour, ratio: number): Colour {
  const target = luminance(background) > 0.18 ? BLACK : WHITE
  for (let fraction = 0; fraction < 1; fraction += 0.02) {
    const mixed = mix(colour, target, fraction)
    if (contrast(mixed, background) >= ratio) return mixed
  }
  return target
}

/** Interpolates: `fraction` 0 is `from` and 1 is `to`. */
export function mix(from: Colour, to: Colour, fraction: number): Colour {
  const blend = (start: number, end: number) => Math.round(start + (end - start) * fraction)
  return [blend(from[0], to[0]), blend(from[1], to[1]), blend(from[2], to[2])]
}

/** Hue of the error colours of both schemes, in degrees. */
const ERROR_HUE = 5
const ERROR_HUE_RANGE = 18
/** Below this difference of the channels a colour looks grey or brown rather than red. */
const MIN_CHROMA = 56

/** True for a red that users would take for the colour of an error. */
export function looksLikeError(colour: Colour): boolean {
  const chroma = Math.max(...colour) - Math.min(...colour)
  if (chroma < MIN_CHROMA) return false
  const distance = Math.abs(hueOf(colour) - ERROR_HUE)
  return Math.min(distance, 360 - distance) <= ERROR_HUE_RANGE
}

/** In degrees; 0 for a grey. */
export function hueOf([red, green, blue]: Colour): number {
  const highest = Math.max(red, green, blue)
  const chroma = highest - Math.min(red, green, blue)
  if (chroma === 0) return 0
  if (highest === red) return (60 * ((green - blue) / chroma) + 360) % 360
  return highest === green ? 60 * ((blue - red) / chroma) + 120 : 60 * ((red - green) / chroma) + 240
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
  const scaled = value / 255
  return scaled <= 0.04045 ? scaled / 12.92 : ((scaled + 0.055) / 1.055) ** 2.4
}
