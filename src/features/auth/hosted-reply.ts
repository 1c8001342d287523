import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { asAppError } from '../../infra/http/index.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { type Brand, type ErrorPage, errorPage, type PageContext } from '../../ui/hosted/index.ts'
import { wantsHtml } from './accepts.ts'

/** Draws a page with everything that goes around it. */
export type SendPage = (reply: FastifyReply, draw: (context: PageContext) => string, status?: number) => string

/**
 * Pages that nothing may embed, script, keep or learn the address of. `form-action` names the public address, because
 * the forms do; the brand's logo is the only thing loaded from elsewhere.
 */
export function pageSender(brand: Brand, publicUrl: string): SendPage {
  const { origin } = new URL(publicUrl)
  return (reply, draw, status = 200) => {
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
      .serializer((page: string) => page)
    return draw({ brand, nonce })
  }
}

export interface HostedRoute {
  onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  errorHandler: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => Promise<string>
}

/**
 * What every route of the hosted flow shares: answers nobody keeps, and failures as people or programs need them.
 * `leadsTo` answers where a used session led, to the browser that used it: whoever pressed a button twice, or never saw
 * the answer, goes on from there.
 */
export function hostedRoute(
  sendPage: SendPage,
  leadsTo: (request: FastifyRequest) => Promise<string | undefined>,
): HostedRoute {
  return {
    async onRequest(_request, reply) {
      reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    },
    async errorHandler(thrown, request, reply) {
      // The server's own handler answers programs.
      if (!wantsHtml(request.headers.accept)) throw thrown
      const error = asAppError(thrown)
      if (error.status >= 500) request.failure = error.cause ?? error
      const href = error.code === 'session_used' ? await leadsTo(request) : undefined
      const page: ErrorPage = {
        ...(TEXTS[error.code] ?? FALLBACK),
        code: error.code,
        requestId: request.id,
        action: href === undefined ? undefined : { href, label: 'Continue' },
      }
      reply.headers(error.headers)
      return sendPage(reply, (context) => errorPage(context, page), error.status)
    },
  }
}

type ErrorText = Pick<ErrorPage, 'icon' | 'title' | 'text' | 'alarming'>

const TEXTS: { readonly [Code in ErrorCode]?: ErrorText } = {
  session_used: {
    icon: 'check',
    title: 'This link has been used',
    text: 'A mailbox was connected with it. To connect another one, ask for a new link in the application that sent you here.',
  },
  session_expired: {
    icon: 'clock',
    title: 'This link has expired',
    text: 'For your safety links work only for a while. Go back to the application that sent you here and start again.',
  },
  not_found: {
    icon: 'link',
    title: 'This link is not valid',
    text: 'Perhaps a part of it is missing. Open it again from where you got it, or ask for a new one.',
  },
  route_not_found: {
    icon: 'link',
    title: 'There is nothing here',
    text: 'The address of this page is not one of ours.',
  },
  csrf_failed: {
    icon: 'lock',
    title: 'Please open the link again',
    text: 'This page was opened in another browser, or too long ago, so we could not be sure that it was you. Nothing was sent on.',
  },
  rate_limited: {
    icon: 'clock',
    title: 'Too many attempts',
    text: 'Wait a few minutes and try again. If it still does not work, ask for a new link.',
  },
  licence_limit: {
    icon: 'alert',
    alarming: true,
    title: 'No more mailboxes can be connected',
    text: 'The application that sent you here has reached its number of mailboxes. Tell the people who run it.',
  },
  database_unavailable: {
    icon: 'clock',
    title: 'Please try again in a moment',
    text: 'We could not look that up just now. Your link is still good: open it again in a minute.',
  },
  validation_failed: {
    icon: 'link',
    title: 'This link is not complete',
    text: 'A part of it is missing. Open it again from where you got it.',
  },
}

const FALLBACK: ErrorText = {
  icon: 'alert',
  alarming: true,
  title: 'That did not work',
  text: 'Something went wrong on our side. Try again in a moment.',
}
