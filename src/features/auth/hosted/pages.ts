import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { asAppError } from '../../../infra/http/index.ts'
import type { AppError, ErrorCode } from '../../../lib/errors.ts'
import { type Brand, type ErrorPage, errorPage, type PageContext } from '../../../ui/hosted/index.ts'
import { wantsHtml } from './accept.ts'

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
  errorHandler: (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) => Promise<string>
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
      const action = href === undefined ? undefined : { href, label: 'Continue' }
      reply.headers(error.headers)
      return sendPage(reply, (context) => errorPage(context, pageOf(error, request.id, action)), error.status)
    },
  }
}

/** An error as people read it. */
export function pageOf(error: AppError, requestId: string, action: ErrorPage['action']): ErrorPage {
  return { ...(TEXTS[error.code] ?? FALLBACK), code: error.code, requestId, action }
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
  consent_denied: {
    icon: 'lock',
    title: 'Access was not granted',
    text: 'Nothing was connected. If that was not what you wanted, try again and allow the access.',
  },
  consent_incomplete: {
    icon: 'alert',
    title: 'A permission is missing',
    text: 'To connect your mailbox, its mails must be readable. Try again and leave every box ticked.',
  },
  consent_unknown: {
    icon: 'link',
    title: 'This sign-in is not valid',
    text: 'It did not begin here. Go back to the application that sent you and start again.',
  },
  consent_used: {
    icon: 'clock',
    title: 'This sign-in is over',
    text: 'It was used already, or it took too long. Open the link of the application that sent you here again.',
  },
  consent_failed: {
    icon: 'alert',
    alarming: true,
    title: 'Your provider had a problem',
    text: 'Signing in worked on your side, but your mail provider did not complete it. Try again in a moment.',
  },
  consent_refused: {
    icon: 'alert',
    alarming: true,
    title: 'This application is not set up correctly',
    text: 'Your mail provider does not accept it. You did nothing wrong: tell the people who run the application.',
  },
  mailbox_refused: {
    icon: 'mail',
    title: 'The mailbox could not be opened',
    text: 'Signing in worked, but your provider opens no mailbox for this account. If you have another account, try again with that one.',
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
