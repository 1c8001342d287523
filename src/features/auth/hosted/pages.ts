import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { asAppError } from '../../../infra/http/index.ts'
import type { AppError } from '../../../lib/errors.ts'
import { type Brand, type ErrorPage, errorPage, type PageContext } from '../../../ui/hosted/index.ts'
import { ERROR_TEXTS, FALLBACK_TEXT } from './error-texts.ts'

export interface HostedPagesDeps {
  brand: Brand
  publicUrl: string
  /** URL where the user of a completed session can continue, if this browser completed it. */
  completedUrl(request: FastifyRequest): Promise<string | undefined>
}

export interface HostedPages {
  /** Returns the page as the body of this response, and sets its headers. */
  render(reply: FastifyReply, page: (context: PageContext) => string, status?: number): string
  /** As `render`, for the page of an error. `status` defaults to the error's own. */
  renderError(request: FastifyRequest, reply: FastifyReply, error: AppError, options?: ErrorPageOptions): string
  /** Options of every hosted route: responses that nobody caches, and errors as a page or as JSON. */
  route: {
    onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
    errorHandler: (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => Promise<string>
  }
}

export interface ErrorPageOptions {
  action?: ErrorPage['action']
  status?: number
}

/** Renders the hosted pages with the headers that keep other sites from framing, scripting or observing them. */
export function hostedPages({ brand, publicUrl, completedUrl }: HostedPagesDeps): HostedPages {
  const { origin } = new URL(publicUrl)

  const render: HostedPages['render'] = (reply, page, status = 200) => {
    const nonce = randomBytes(16).toString('base64')
    const policy = [
      `default-src 'none'`,
      `style-src 'nonce-${nonce}'`,
      `script-src 'nonce-${nonce}'`,
      `img-src data:${brand.logo === undefined ? '' : ` ${brand.logo.origin}`}`,
      `form-action ${origin}`,
      `base-uri 'none'`,
      `frame-ancestors 'none'`,
    ]
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy.join('; '))
      .header('x-frame-options', 'DENY')
      .serializer((body: string) => body)
    return page({ brand, nonce })
  }

  const renderError: HostedPages['renderError'] = (request, reply, error, { action, status = error.status } = {}) => {
    reply.headers(error.headers)
    const text = ERROR_TEXTS[error.code] ?? FALLBACK_TEXT
    return render(
      reply,
      (context) => errorPage(context, { ...text, code: error.code, requestId: request.id, action }),
      status,
    )
  }

  return {
    render,
    renderError,
    route: {
      async onRequest(_request, reply) {
        reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
      },
      async errorHandler(thrown, request, reply) {
        // The server's own handler sends JSON.
        if (!wantsHtml(request.headers.accept)) throw thrown
        const error = asAppError(thrown)
        if (error.status >= 500) request.failure = error.cause ?? error
        const href = error.code === 'session_used' ? await completedUrl(request) : undefined
        return renderError(request, reply, error, {
          action: href === undefined ? undefined : { href, label: 'Continue' },
        })
      },
    },
  }
}

interface MediaRange {
  type: string
  quality: number
}

/** True when the `Accept` header prefers HTML to JSON. At equal quality the more specific range wins; a tie means HTML. */
export function wantsHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').flatMap(parseRange)
  if (ranges.length === 0) return true
  const page = bestMatch('text/html', ranges)
  const json = bestMatch('application/json', ranges)
  if (page.quality === 0) return false
  return page.quality === json.quality ? page.precision >= json.precision : page.quality > json.quality
}

function parseRange(text: string): MediaRange[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  if (type === '') return []
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [{ type, quality: quality === undefined ? 1 : Number(quality) || 0 }]
}

/** The most specific range that matches a type decides its quality (RFC 9110, section 12.5.1). */
function bestMatch(type: string, ranges: readonly MediaRange[]): { quality: number; precision: number } {
  const patterns = ['*/*', `${type.split('/')[0]}/*`, type]
  for (let precision = patterns.length - 1; precision >= 0; precision -= 1) {
    const range = ranges.find((candidate) => candidate.type === patterns[precision])
    if (range !== undefined) return { quality: range.quality, precision }
  }
  return { quality: 0, precision: -1 }
}
