import { buttonBackground, type Colour, hex, looksLikeError, mix, parseColour, readableOn, textOn } from './colour.ts'
import { BLUE } from './mark.ts'

/** The `service.authScreen` settings, already validated. All of them are optional. */
export interface AuthScreen {
  /** The application's name. */
  name?: string | undefined
  /** `https:` URL of the logo, shown 32 px high. */
  logoUrl?: string | undefined
  /** Logo for the dark colour scheme. Default: `logoUrl`. */
  logoDarkUrl?: string | undefined
  /** Colour of buttons, links and focus rings: `#rgb` or `#rrggbb`. */
  color?: string | undefined
  /** The application's help page. */
  supportUrl?: string | undefined
  privacyUrl?: string | undefined
}

interface Logo {
  url: string
  /** For the Content-Security-Policy. */
  origin: string
}

/** Branding as the pages use it, with colours adjusted for contrast. */
export interface Brand {
  name: string | undefined
  logo: Logo | undefined
  logoDark: Logo | undefined
  supportUrl: string | undefined
  privacyUrl: string | undefined
  light: Palette
  dark: Palette
}

/** CSS custom properties of one colour scheme. Text has a contrast of at least 4.5 with its background. */
export interface Palette {
  accent: string
  accentHover: string
  /** Button border, visible when the button colour is close to the card. */
  accentEdge: string
  onAccent: string
  /** Links and small icons on the card. */
  accentText: string
  /** Focus rings and borders: at least 3 on the card and the page. */
  ring: string
  tint: string
}

/** Backgrounds that the accent must contrast with. The style sheet uses the same values. */
export const SURFACES = { light: { page: '#f4f5f7', card: '#ffffff' }, dark: { page: '#0d0f12', card: '#16191e' } }

/** Takes the place of a red brand colour everywhere but on buttons. */
const NEUTRAL: Colour = [60, 70, 86]
const WHITE: Colour = [255, 255, 255]
const BLACK: Colour = [0, 0, 0]

export function brand(settings: AuthScreen): Brand {
  const { name, logoUrl, logoDarkUrl, color, supportUrl, privacyUrl } = settings
  const colour = accentColour(color)
  return {
    name,
    logo: logoAt(logoUrl ?? logoDarkUrl),
    logoDark: logoUrl === undefined ? undefined : logoAt(logoDarkUrl),
    supportUrl,
    privacyUrl,
    light: palette(colour, SURFACES.light),
    dark: palette(colour, SURFACES.dark),
  }
}

/** The colour that is given, if it is one. */
export const accentColour = (text: string | undefined): Colour =>
  (text === undefined ? undefined : parseColour(text)) ?? parseColour(BLUE) ?? BLACK

function logoAt(url: string | undefined): Logo | undefined {
  return url === undefined ? undefined : { url, origin: new URL(url).origin }
}

/** The colours of one scheme, each moved only as far as its contrast requires. */
export function palette(colour: Colour, { page, card }: { page: string; card: string }): Palette {
  const cardColour = parseColour(card) ?? WHITE
  const pageColour = parseColour(page) ?? cardColour
  const accent = buttonBackground(colour)
  const onAccent = textOn(accent)
  // In red, a focus ring would look like an invalid field, and a link like an error. Buttons keep the colour.
  const isRed = looksLikeError(colour)
  const neutral = readableOn(NEUTRAL, cardColour, 8)
  const tint = mix(cardColour, isRed ? neutral : accent, 0.1)
  const ring = readableOnAll(isRed ? neutral : accent, [cardColour, pageColour], 3)
  return {
    accent: hex(accent),
    // Moves away from the text colour, so hovering never lowers the contrast.
    accentHover: hex(mix(accent, onAccent[0] === 255 ? BLACK : WHITE, 0.14)),
    accentEdge: hex(readableOn(accent, cardColour, 3)),
    onAccent: hex(onAccent),
    accentText: hex(readableOnAll(isRed ? neutral : colour, [cardColour, pageColour, tint], 4.5)),
    ring: hex(ring),
    tint: hex(tint),
  }
}

/** The backgrounds of one scheme are all light or all dark, so a later step never undoes an earlier one. */
function readableOnAll(colour: Colour, backgrounds: readonly Colour[], ratio: number): Colour {
  return backgrounds.reduce((moved, background) => readableOn(moved, background, ratio), colour)
}
