import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { App } from '../../../platform/http/index.ts'
import {
  type AuthScreen,
  consentPage,
  brand as createBrand,
  emailPage,
  errorPage,
  LANGUAGES,
  NO_ERRORS,
  type PageContext,
  pageHeaders,
  translate,
} from '../../../ui/hosted/index.ts'
import { appearanceSchema, type PAGES, previewQuery, valuesQuery } from './api.ts'

export interface AppearanceDeps {
  authScreen: AuthScreen
  /** The settings of the hosted pages in this text form, read exactly as at the start of the service. */
  parseAuthScreen(values: AuthScreen): { screen: AuthScreen; errors: Record<string, string> }
  /** The environment variables by the names of `AuthScreen`. */
  variables: Record<string, string>
}

/** The hosted pages with settings that are not stored: operators try them, and copy them into their configuration. */
export function appearanceRoutes(app: App, { authScreen, parseAuthScreen, variables }: AppearanceDeps): void {
  const config = { access: 'key:admin' } as const
  const current = Object.fromEntries(
    Object.entries(authScreen).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )

  app.get(
    '/admin/hosted-pages',
    { config, schema: { hide: true, querystring: valuesQuery, response: { 200: appearanceSchema } } },
    async ({ query }) => ({
      current,
      variables,
      languages: Object.keys(LANGUAGES),
      errors: parseAuthScreen(query).errors,
    }),
  )

  app.get(
    '/admin/hosted-pages/preview',
    { config, schema: { hide: true, querystring: previewQuery } },
    async ({ query: { page = 'start', language = 'en', scheme, ...values } }, reply) => {
      const brand = createBrand(parseAuthScreen(values).screen)
      const nonce = randomBytes(16).toString('base64')
      const shownLanguage = Object.hasOwn(LANGUAGES, language) ? language : 'en'
      const shown = content({ brand, nonce, t: translate(shownLanguage), cancelHref: '#' }, page)
      // A frame must not take the focus from the form beside it.
      const text = shown.replaceAll(' autofocus', '')
      framed(reply, pageHeaders(brand, { nonce }))
      return scheme === undefined ? text : inScheme(text, scheme)
    },
  )
}

/** Examples of what users see. */
function content(context: PageContext, page: (typeof PAGES)[number]): string {
  const { t } = context
  const start = { action: '#', session: '', state: '', email: '' }
  if (page === 'consent') {
    return consentPage(context, { ...start, email: 'ada@example.com', provider: 'Google', grants: ['read', 'send'] })
  }
  if (page === 'result') {
    const texts = { title: t('session_expired.title'), text: t('session_expired.text') }
    return errorPage(context, { ...texts, icon: 'clock', code: 'session_expired', requestId: 'req_example' })
  }
  const choices = [
    ...['Google', 'Microsoft'].map((name) => ({
      provider: name,
      label: t('start.choose', { provider: name }),
      mark: name,
    })),
    { provider: 'imap', label: t('start.otherProvider') },
  ]
  return emailPage(context, { ...start, choices, errors: NO_ERRORS })
}

/** Only for frames of the portal. The scripts of the page run, but without its origin, and its forms lead nowhere. */
function framed(reply: FastifyReply, headers: ReturnType<typeof pageHeaders>): void {
  const { 'x-frame-options': _none, 'content-security-policy': policy, ...others } = headers
  reply
    .type('text/html; charset=utf-8')
    .headers({
      ...others,
      'content-security-policy': `${policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")}; sandbox allow-scripts`,
    })
    .serializer((text: string) => text)
}

/** The style of one colour scheme, whatever the browser prefers. */
function inScheme(text: string, scheme: 'light' | 'dark'): string {
  return text.replaceAll(/\(prefers-color-scheme: ?dark\)/g, scheme === 'dark' ? 'all' : 'not all')
}
