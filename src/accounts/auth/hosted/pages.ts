import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../platform/errors/app-error.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { type App, asAppError, namesHtml, wantsHtml } from '../../../platform/http/index.ts'
import {
  type Brand,
  chooseLanguage,
  type ErrorPage,
  errorPage,
  HARDENED,
  type PageContext,
  pageHeaders,
  type Translate,
  translate,
} from '../../../ui/hosted/index.ts'
import type { SessionPage } from './access.ts'
import { ERROR_LOOKS, FALLBACK_LOOK } from './error-looks.ts'

interface HostedPagesDeps {
  brand: Brand
  publicUrl: string
  /** URL where the user of a completed session can continue, if this browser completed it. */
  completedUrl(request: FastifyRequest): Promise<string | undefined>
  /** The session page that a failed request belongs to, if known. */
  findPage(request: FastifyRequest, error: ErrorCode): Promise<SessionPage | undefined>
  /** Where a user returns to the application without a mailbox. */
  returnUrl(page: SessionPage, error: ErrorCode): string
}

export interface HostedPages {
  /** Returns the page as the body of this response, in the session's language, and sets its headers. */
  render(reply: FastifyReply, page: SessionPage, content: (context: PageContext) => string): string
  /** As `render`, for the page of an error. `status` defaults to the error's own. */
  renderError(request: FastifyRequest, reply: FastifyReply, error: AppError, options?: ErrorPageOptions): string
  /** Options of every hosted route with pages: hardened responses, and errors as a page or as JSON. */
  route: { onRequest: OnRequest; errorHandler: OnError }
  /** The same for hosted routes that return JSON only. */
  jsonRoute: { onRequest: OnRequest; errorHandler: OnError }
  /** Makes the errors for unknown paths and methods below the prefix pages, for clients that ask for HTML by name. */
  addErrorPages(app: App, prefix: string): void
}

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
type OnError = (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => Promise<string>

export interface ErrorPageOptions {
  /** Where the user can try again. */
  retryHref?: string | undefined
  /** Where a user whose mailbox is already connected continues. */
  continueHref?: string | undefined
  /** The session page that the error belongs to: gives the language and the way back. */
  page?: SessionPage | undefined
  status?: number
}

/** Renders the hosted pages with the headers that keep other sites from framing, scripting or observing them. */
export function hostedPages({ brand, publicUrl, completedUrl, findPage, returnUrl }: HostedPagesDeps): HostedPages {
  const { origin } = new URL(publicUrl)

  /** Without a configured name, the host that gets the mailbox: users must see who asks. Apps' own schemes have none. */
  function chooseBrand(page: SessionPage | undefined): Brand {
    if (brand.name !== undefined || page === undefined) return brand
    return { ...brand, name: new URL(page.session.redirectUri).host || undefined }
  }

  function chooseTranslation(request: FastifyRequest, page: SessionPage | undefined): Translate {
    return translate(chooseLanguage(page?.session.locale, request.headers['accept-language']))
  }

  function send(
    reply: FastifyReply,
    page: SessionPage | undefined,
    content: (context: PageContext) => string,
    { status = 200, cancelHref }: { status?: number; cancelHref?: string } = {},
  ): string {
    const nonce = randomBytes(16).toString('base64')
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .headers(pageHeaders(brand, { nonce, formAction: origin }))
      .serializer((body: string) => body)
    return content({ brand: chooseBrand(page), nonce, t: chooseTranslation(reply.request, page), cancelHref })
  }

  const render: HostedPages['render'] = (reply, page, content) =>
    send(reply, page, content, { cancelHref: returnUrl(page, 'consent_denied') })

  const returnLink = ({ t, brand: { name } }: PageContext, href: string) => ({
    href,
    label: name === undefined ? t('page.return') : t('page.returnTo', { app: name }),
  })

  const renderError: HostedPages['renderError'] = (request, reply, error, options = {}) => {
    const { status = error.status, retryHref, continueHref, page } = options
    reply.headers(error.headers)
    const { texts, ...look } = ERROR_LOOKS[error.code] ?? FALLBACK_LOOK
    const content = (context: PageContext) => {
      const { t } = context
      return errorPage(context, {
        ...look,
        title: t(`${texts}.title`),
        text: t(`${texts}.text`, { email: page?.session.invitedEmail ?? '' }),
        code: error.code,
        requestId: request.id,
        action: chooseAction(t, retryHref, continueHref),
        // The continue link already leads to the application.
        returnTo: page && continueHref === undefined ? returnLink(context, returnUrl(page, error.code)) : undefined,
      })
    }
    return send(reply, page, content, { status })
  }

  const harden: OnRequest = async (_request, reply) => void reply.headers(HARDENED)

  const sendPage: OnError = async (thrown, request, reply) => {
    const error = asAppError(thrown)
    if (error.status >= 500) request.failure = error.cause ?? error
    const continueHref = error.code === 'session_used' ? await completedUrl(request) : undefined
    return renderError(request, reply, error, { continueHref, page: await findPage(request, error.code) })
  }

  /** The server's own handler sends JSON. An error before `onRequest`, as a rate limit, left the headers unset. */
  const sendJson: OnError = async (thrown, _request, reply) => {
    reply.headers(HARDENED)
    throw thrown
  }

  return {
    render,
    renderError,
    route: {
      onRequest: harden,
      errorHandler: (thrown, request, reply) =>
        (wantsHtml(request.headers.accept) ? sendPage : sendJson)(thrown, request, reply),
    },
    jsonRoute: { onRequest: harden, errorHandler: sendJson },
    addErrorPages(app, prefix) {
      void app.register(
        async (scope) => {
          scope.setNotFoundHandler(() => {
            throw new AppError('route_not_found')
          })
          scope.setErrorHandler((thrown: Error, request, reply) => {
            const isPage = namesHtml(request.headers.accept)
            return (isPage ? sendPage : sendJson)(thrown, request, reply)
          })
        },
        { prefix },
      )
    },
  }
}

function chooseAction(
  t: Translate,
  retryHref: string | undefined,
  continueHref: string | undefined,
): ErrorPage['action'] {
  if (continueHref !== undefined) return { href: continueHref, label: t('start.continue') }
  return retryHref === undefined ? undefined : { href: retryHref, label: t('page.retry') }
}
