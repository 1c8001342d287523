import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type App, namesHtml, type ServerOptions } from '../../platform/http/index.ts'
import {
  type AuthScreen,
  chooseLanguage,
  brand as createBrand,
  errorPage,
  type LandingPage,
  landingPage,
  type PageContext,
  pageHeaders,
  translate,
} from '../../ui/hosted/index.ts'

export interface Site {
  /** Returns the landing page as the body of this response, and sets its headers. */
  landingPage(request: FastifyRequest, reply: FastifyReply): string
  hasPortal: boolean
  /** The page of an unknown path, for people. Undefined for other errors, and for clients that do not ask for HTML by name. */
  errorPage: NonNullable<ServerOptions['errorPage']>
}

const LIMITS = { name: 'site', address: { limit: 120, windowMs: 60_000 } }

interface SiteOptions {
  authScreen: AuthScreen
  /** Undefined while the portal is off. */
  portal: LandingPage['portal']
}

/** The pages carry the brand of the hosted pages, and speak the visitor's language. */
export function site({ authScreen, portal }: SiteOptions): Site {
  const brand = createBrand(authScreen)

  function render(request: FastifyRequest, reply: FastifyReply, content: (context: PageContext) => string): string {
    const nonce = randomBytes(16).toString('base64')
    reply.type('text/html; charset=utf-8').headers(pageHeaders(brand, { nonce }))
    return content({ brand, nonce, t: translate(chooseLanguage(undefined, request.headers['accept-language'])) })
  }

  return {
    landingPage: (request, reply) =>
      render(request, reply, (context) => landingPage(context, { outcome: findOutcome(request.url), portal })),
    hasPortal: portal !== undefined,
    errorPage(request, reply, { code, status }) {
      if (code !== 'route_not_found' || !namesHtml(request.headers.accept)) return undefined
      reply.code(status)
      return render(request, reply, (context) => {
        const { t } = context
        return errorPage(context, {
          icon: 'link',
          title: t('route_not_found.title'),
          text: t('site.notFound'),
          code,
          requestId: request.id,
          action: { href: homeHref(request.url), label: t('site.home') },
        })
      })
    },
  }
}

/** `/` is a page for people, and for programs a JSON object with the same links. */
export function siteRoutes(app: App, pages: Site, publicUrl: string): void {
  const config = { access: 'public', rateLimit: LIMITS } as const
  const links = {
    name: 'Posthorn',
    ...(pages.hasPortal && { portalUrl: `${publicUrl}/admin` }),
    docsUrl: `${publicUrl}/docs`,
    openapiUrl: `${publicUrl}/openapi.json`,
    healthUrl: `${publicUrl}/health`,
  }
  app.get('/', { config, schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', 'accept, accept-language')
    return namesHtml(request.headers.accept) ? pages.landingPage(request, reply) : links
  })
}

/** The result that the hosted pages add to a redirect URI: `posthorn connect` sends browsers here. */
function findOutcome(url: string): LandingPage['outcome'] {
  const status = new URLSearchParams(url.split('?', 2)[1]).get('status')
  if (status === null) return undefined
  return status === 'success' ? 'connected' : 'notConnected'
}

/** Relative, because the path at which a proxy serves the service may be unknown here. */
function homeHref(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return '../'.repeat(path.split('/').length - 2) || './'
}
