import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../platform/errors/app-error.ts'
import { asAppError, wantsHtml } from '../../platform/http/index.ts'
import {
  type BookingContext,
  type BookingErrorPage,
  bookingErrorPage,
  bookingHeaders,
  bookingTexts,
} from '../../ui/booking/index.ts'
import type { Brand } from '../../ui/hosted/index.ts'
import type { Assets } from './assets.ts'

interface RenderOptions {
  status?: number
  /** Origins of pages that may frame the page. */
  ancestors?: readonly string[]
  /** The accent colour of the experience. */
  brand?: Brand
}

export interface BookingPages {
  /** Returns the page as the body of this response, in the visitor's language, and sets its headers. */
  render(
    request: FastifyRequest,
    reply: FastifyReply,
    content: (context: BookingContext) => string,
    options?: RenderOptions,
  ): Promise<string>
  /** Options of the routes: errors are pages for browsers, and JSON for programs. */
  route: { errorHandler: OnError }
}

type OnError = (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Renders the booking pages with the headers that keep other sites from scripting them. */
export function bookingPages({ brand, assets }: { brand: Brand; assets: Assets }): BookingPages {
  const render: BookingPages['render'] = async (request, reply, content, options = {}) => {
    const nonce = randomBytes(16).toString('base64')
    const { locale } = Object(request.query)
    const t = bookingTexts(typeof locale === 'string' ? locale : undefined, request.headers['accept-language'])
    reply
      .code(options.status ?? 200)
      .type('text/html; charset=utf-8')
      .headers(
        bookingHeaders(brand, { nonce, ...(options.ancestors !== undefined && { ancestors: options.ancestors }) }),
      )
      .header('vary', 'accept, accept-language')
      .serializer((body: string) => body)
    return content({
      brand: options.brand ?? brand,
      nonce,
      t,
      root: relativeRoot(request.url),
      scripts: await assets.scripts(),
    })
  }

  return {
    render,
    route: {
      async errorHandler(thrown, request, reply) {
        const error = asAppError(thrown)
        if (!wantsHtml(request.headers.accept)) throw error
        reply.headers(error.headers)
        return render(
          request,
          reply,
          (context) =>
            bookingErrorPage(context, { texts: chooseTexts(error, request), code: error.code, requestId: request.id }),
          { status: error.status },
        )
      },
    },
  }
}

function chooseTexts({ code, status }: AppError, request: FastifyRequest): BookingErrorPage['texts'] {
  if (status >= 500) return 'failed'
  if (code === 'rate_limited') return 'busy'
  if (code === 'mail_limited') return 'limited'
  if (code === 'conflict') return 'unchangeable'
  return request.url.includes('/bookings/') ? 'link' : 'gone'
}

/** Relative, because the path at which a proxy serves the service may be unknown here. */
function relativeRoot(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return Array.from({ length: path.split('/').length - 2 }, () => '..').join('/') || '.'
}
