import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { App } from '../../platform/http/index.ts'
import { bookPage, embedPage } from '../../ui/booking/index.ts'
import { type AuthScreen, brand as createBrand } from '../../ui/hosted/index.ts'
import type { Experience, Members } from '../experiences/experience.ts'
import { assetRoutes, assets as createAssets } from './assets.ts'
import { type BookingPages, bookingPages } from './pages.ts'

interface BookingPageDeps {
  experiences: {
    /** Throws not_found for an unknown or inactive one. */
    getActive(slug: string): Promise<Experience>
  }
  authScreen: AuthScreen
}

const LIMITS = { name: 'booking-pages', address: { limit: 120, windowMs: 60_000 } }

const params = Type.Object({ slug: Type.String({ minLength: 1, maxLength: 64 }) })
/** The parameters that a link can set. Anything else in the query of a page is ignored. */
const query = Type.Object({
  locale: Type.Optional(Type.String({ maxLength: 35 })),
  theme: Type.Optional(Type.String({ maxLength: 10 })),
  timezone: Type.Optional(Type.String({ maxLength: 100 })),
  durationMinutes: Type.Optional(Type.String({ maxLength: 5 })),
  /** The embedding page's origin. The embed script adds it. */
  origin: Type.Optional(Type.String({ maxLength: 255 })),
})

/** The booking page, the same for frames, and their scripts. */
export function bookingPageRoutes(app: App, deps: BookingPageDeps): BookingPages {
  const assets = createAssets()
  const pages = bookingPages({ brand: createBrand(deps.authScreen), assets })
  const config = { access: 'public', rateLimit: LIMITS } as const
  const schema = { hide: true, params, querystring: query }
  assetRoutes(app, assets)

  app.get('/book/:slug', { ...pages.route, config, schema }, async (request, reply) => {
    const experience = await deps.experiences.getActive(request.params.slug)
    return pages.render(
      request,
      reply,
      (context) => bookPage(context, { ...readTexts(experience), attributes: buildAttributes(request.query) }),
      { brand: brandFor(deps.authScreen, experience) },
    )
  })

  app.get('/embed/:slug', { ...pages.route, config, schema }, async (request, reply) => {
    const experience = await deps.experiences.getActive(request.params.slug)
    const { allowedOrigins } = experience.definition
    const pageOrigin = parseOrigin(request.query.origin)
    const isAllowed = pageOrigin !== undefined && [pageOrigin, '*'].some((allowed) => allowedOrigins.includes(allowed))
    const page = {
      ...readTexts(experience),
      attributes: buildAttributes(request.query),
      pageOrigin: isAllowed ? pageOrigin : undefined,
    }
    return pages.render(request, reply, (context) => embedPage(context, page), { ancestors: allowedOrigins })
  })
  return pages
}

/** The attributes of the widget. */
function buildAttributes({ locale, theme, timezone, durationMinutes }: Static<typeof query>): Record<string, string> {
  return {
    ...(locale !== undefined && { locale }),
    ...(theme !== undefined && { theme }),
    ...(timezone !== undefined && { timezone }),
    ...(durationMinutes !== undefined && { 'duration-minutes': durationMinutes }),
  }
}

/** `ui.copy` can replace title and description of the page. */
function readTexts({ slug, name, description, definition }: Experience) {
  const copy = asRecord(definition.ui?.copy)
  return { slug, name: textIn(copy, 'title') ?? name, description: textIn(copy, 'description') ?? description }
}

/** Pages of an experience have its colour. */
function brandFor(authScreen: AuthScreen, { definition }: Experience) {
  const accent = textIn(asRecord(definition.ui?.theme), 'accent')
  return createBrand({ ...authScreen, ...(accent !== undefined && { color: accent }) })
}

function asRecord(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function textIn(members: Members, name: string): string | undefined {
  const value = members[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parseOrigin(text: string | undefined): string | undefined {
  return text !== undefined && URL.canParse(text) && new URL(text).origin === text ? text : undefined
}
